package extproc

import (
	"context"
	"sync/atomic"

	"oneticket/dedup"
)

// A counter is the way to a desk: the engine may keep it for longer than what
// the desk holds may be kept.
type counter struct{ desk atomic.Pointer[desk] }

// close lets go of the desk: from now on nothing is answered.
func (c *counter) close() { c.desk.Store(nil) }

// LookUp asks for the tickets with the token.
func (c *counter) LookUp(ctx context.Context, token string) dedup.LookUpResult {
	if d := c.desk.Load(); d != nil {
		return d.LookUp(ctx, token)
	}
	return dedup.LookUpResult{}
}

// Read asks whether the ticket is open.
func (c *counter) Read(ctx context.Context, ticket dedup.Ticket) dedup.ReadResult {
	if d := c.desk.Load(); d != nil {
		return d.Read(ctx, ticket)
	}
	return dedup.ReadResult{}
}

// Update sends the fingerprint to the ticket.
func (c *counter) Update(ctx context.Context, ticket dedup.Ticket, token string, next dedup.Fingerprint, reason dedup.Reason) dedup.UpdateOutcome {
	if d := c.desk.Load(); d != nil {
		return d.Update(ctx, ticket, token, next, reason)
	}
	return dedup.UpdateOutcome{Kind: dedup.UpdateNotSent}
}

// Create sends the request once more.
func (c *counter) Create(ctx context.Context, token string) dedup.Outcome {
	if d := c.desk.Load(); d != nil {
		return d.Create(ctx, token)
	}
	return dedup.Outcome{Kind: dedup.OutcomeNeverSent}
}
