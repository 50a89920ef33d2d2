package dedup

import (
	"context"
	"errors"
)

// A Journal is a Store that keeps, durably and beside the record, an outcome
// which the record cannot take now, and writes it as a late answer when it can.
type Journal interface {
	KeepOutcome(ctx context.Context, late Late) error
}

// A Late is the outcome of a create whose record was out of reach, or had gone
// from the store in which it was claimed.
type Late struct {
	Ref     Ref
	Scope   TicketScope
	Send    Send
	Outcome Outcome
	Read    *ReadResult // what the ticket was, where it had to be read first
	Policy  Policy
	Next    *Record // what the outcome makes of the record as its holder knows it; nil: nothing

	// Provisional: it was claimed in an embedded store, whose record may have
	// been reconciled since; its ticket is what counts then.
	Provisional bool
}

// errElsewhere: the record that was claimed is in another store than the one
// that decides now.
var errElsewhere = errors.New("the record is in another store now")

// keep hands the outcome to a store that can keep it. It reports false where
// there is none, or it could not.
func (h *Hold) keep(ctx context.Context, st Settlement, o Outcome) bool {
	journal, ok := h.engine.store.(Journal)
	if !ok || h.claim.Policy.Observe {
		return false
	}
	ctx, cancel := settling(ctx)
	defer cancel()
	return journal.KeepOutcome(ctx, Late{
		Ref: h.claim.Fault.Ref, Scope: TicketScope(h.claim.Fault.Backend), Send: h.send, Outcome: o,
		Read: h.asked, Policy: *h.claim.Policy, Next: st.Next, Provisional: h.apart,
	}) == nil
}

// notWritten is a decision that the store did not take, or may have taken
// without a reply.
type notWritten struct {
	cause       error
	next        Record
	provisional bool
}

func (n *notWritten) Error() string { return n.cause.Error() }
func (n *notWritten) Unwrap() error { return n.cause }

// decidedAnew bounds how often one request is decided anew because a store went
// away between its claim and its write.
const decidedAnew = 3

// unwritten reports whether the request is to be decided anew: a moment ago the
// store was there, and by now another may decide. What it may have written of a
// claim to create is kept as never sent, and so no longer this claim's.
func (e *Engine) unwritten(ctx context.Context, c *Claim, err error) bool {
	var lost *notWritten
	if !errors.As(err, &lost) || ctx.Err() != nil {
		return false
	}
	next := lost.next
	journal, ok := e.store.(Journal)
	if !ok || next.State != Claimed || next.Looking || next.Holder != c.Holder {
		return true
	}
	kept := journal.KeepOutcome(ctx, Late{
		Ref: c.Fault.Ref, Scope: TicketScope(c.Fault.Backend), Outcome: Outcome{Kind: OutcomeNeverSent}, Policy: *c.Policy, Provisional: lost.provisional,
		Send: Send{Holder: c.Holder, Episode: next.Episode, Token: next.Token, Fingerprint: c.Fault.Fingerprint, Reason: next.createReason()},
	})
	if kept == nil {
		c.Holder = newHolder()
	}
	return true
}
