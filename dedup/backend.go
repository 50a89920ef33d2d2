package dedup

import "context"

// A Backend is asked on behalf of one request, with the credentials of that
// request. It bounds each call in time by far less than a lease, never calls
// back into the engine, and answers also when ctx ends: "not answered" and
// "unknown" are answers.
type Backend interface {
	// LookUp asks for the tickets that carry exactly the token.
	LookUp(ctx context.Context, token string) LookUpResult
	// Read asks whether the ticket is open.
	Read(ctx context.Context, ticket Ticket) ReadResult
	// Update sends the fingerprint to the ticket, which was made with the token;
	// reason tells a reopening from a change. A refused update is followed by a
	// read where one is possible.
	Update(ctx context.Context, ticket Ticket, token string, next Fingerprint, reason Reason) UpdateOutcome
	// Create sends the request itself once more, with the token, and says how it ended.
	Create(ctx context.Context, token string) Outcome
}

// nobody is the Backend of a claim that has none.
type nobody struct{}

func (nobody) LookUp(context.Context, string) LookUpResult { return LookUpResult{} }
func (nobody) Read(context.Context, Ticket) ReadResult     { return ReadResult{} }
func (nobody) Update(context.Context, Ticket, string, Fingerprint, Reason) UpdateOutcome {
	return UpdateOutcome{Kind: UpdateNotSent}
}
func (nobody) Create(context.Context, string) Outcome { return Outcome{Kind: OutcomeNeverSent} }

func (c *Claim) backend() Backend {
	if c.Backend == nil {
		return nobody{}
	}
	return c.Backend
}
