package dedup

import (
	"context"
	"time"
)

// index tells the store which record holds the ticket; a close that came
// before is written now, and the closed record returned.
func (e *Engine) index(c *Claim, ticket string) *Record {
	ctx, cancel := settling(context.Background())
	defer cancel()
	ref, p := c.Fault.Ref, c.Policy
	closed, err := e.store.Ticket(ctx, TicketScope(c.Fault.Backend), ticket, ref, p.KeepTicket())
	if err != nil || !closed {
		return nil
	}
	rec, _, err := e.closeTicket(ctx, ref, ticket, p)
	if err != nil {
		return nil
	}
	return &rec
}

// longestLife is for how long an open ticket without a max_age can be closed by
// its id; the longest max_age that a rule may have.
const longestLife = 365 * 24 * time.Hour

// KeepTicket is how long a ticket is found by its id: as long as its record.
func (p *Policy) KeepTicket() time.Duration {
	if p.MaxAge <= 0 {
		return p.keep() + longestLife
	}
	return p.keep() + p.MaxAge
}

// came indexes the ticket that a record has come to hold by a look-up.
func (e *Engine) came(c *Claim, before, after Record) {
	if id := after.Ticket.ID; id != "" && id != before.Ticket.ID {
		claim := *c
		e.aside(func() { _ = e.index(&claim, id) })
	}
}
