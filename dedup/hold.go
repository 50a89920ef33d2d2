package dedup

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// A Hold is a won claim: the right to send one create, and the duty to settle
// it, exactly once. What is not settled becomes doubtful when its lease ends.
type Hold struct {
	engine *Engine
	claim  Claim
	send   Send
	won    bool      // by the store's own Claim, which keeps no trail
	rec    Record    // as it was claimed
	now    time.Time // the store's clock then
	before time.Time // our own clock, before the claim was sent
	sent   atomic.Bool
	bare   atomic.Bool // the create goes without the token, where a look-up would find it
	done   atomic.Bool
	apart  bool                   // claimed in an embedded store while the shared one was out of reach
	asked  *ReadResult            // what the ticket was that the backend remembers, once it was read
	renew  atomic.Pointer[func()] // ends the renewal of the lease
}

func (e *Engine) hold(c *Claim, found Found, before time.Time, reason Reason) *Hold {
	return &Hold{
		engine: e, claim: *c, won: found.Won, rec: found.Record, now: found.Now, before: before, apart: found.Provisional,
		send: Send{
			Holder: c.Holder, Episode: found.Record.Episode, Token: found.Record.Token,
			Fingerprint: c.Fault.Fingerprint, Reason: reason,
		},
	}
}

// Token is what the backend gets as the key.
func (h *Hold) Token() string { return h.rec.Token }

// Key is the key of the fault.
func (h *Hold) Key() Key { return h.claim.Fault.Ref.Key }

// Ready is the fence: it reports whether the lease, counted on our own clock
// from before the claim was sent, still covers the exchange. It must be asked
// immediately before the create is let go; if it says no, the hold is released
// and the request is decided again.
func (h *Hold) Ready() bool {
	return time.Since(h.before)+h.claim.Exchange < h.claim.Policy.Lease
}

// MarkSent notes, off the path, that the answer which lets the create go was
// handed to the proxy; from then on the lease is renewed until Settle. A mark
// that is lost only makes a later decision more careful.
func (h *Hold) MarkSent() {
	h.sent.Store(true)
	if h.claim.Policy.Observe {
		return
	}
	stop := h.keepAlive()
	h.renew.Store(&stop)
	if h.done.Load() { // settled meanwhile
		stop()
	}
	e := h.engine
	e.aside(func() {
		if h.done.Load() || h.bare.Load() {
			return
		}
		ctx, cancel := settling(context.Background())
		defer cancel()
		_ = e.store.MarkSent(ctx, h.claim.Fault.Ref, h.send.Holder)
	})
}

// Bare notes that the create goes without the token in the place where a look-up
// would find it. It then counts as one that nobody saw leave: that it is not
// found proves nothing, to whichever replica.
func (h *Hold) Bare() { h.bare.Store(true) }

// marked reports whether the create has left with its token, for all we know.
func (h *Hold) marked() bool { return h.sent.Load() && !h.bare.Load() }

// besideTimeout bounds what is written beside a request or after it.
const besideTimeout = 5 * time.Second

// settling is for what must be written although the client may have gone.
func settling(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), besideTimeout)
}

// Release takes the claim back: the create was not let go.
func (h *Hold) Release(ctx context.Context) error {
	_, err := h.Settle(ctx, Outcome{Kind: OutcomeNeverSent})
	return err
}

// Settle writes the outcome of the create. The first call counts; a later one
// does nothing. On an error the outcome is not written yet: it is tried again
// beside, and the record becomes doubtful when its lease is over before that.
func (h *Hold) Settle(ctx context.Context, o Outcome) (Settlement, error) {
	if !h.done.CompareAndSwap(false, true) {
		return Settlement{Success: o.Kind == OutcomeCreated}, nil
	}
	if stop := h.renew.Load(); stop != nil {
		(*stop)()
	}
	st, err := h.settle(ctx, o)
	if err != nil && h.keep(ctx, st, o) {
		return h.settled(st, o), nil
	}
	if err != nil {
		h.wake(o)
		h.engine.aside(func() { h.settleLater(o) })
		return Settlement{Success: st.Success, DeadLetter: !st.Success && o.Kind != OutcomeRefused}, err
	}
	return h.settled(st, o), nil
}

// settled goes on when the outcome is written.
func (h *Hold) settled(st Settlement, o Outcome) Settlement {
	h.wake(o)
	h.engine.told(h.claim.Fault.Ref, st)
	return h.indexed(st, o)
}

// wake tells those who wait for the create.
func (h *Hold) wake(o Outcome) {
	ref := h.claim.Fault.Ref
	if o.Kind == OutcomeRefused || o.Kind == OutcomeNeverSent {
		h.engine.room.refused(ref, h.claim.caller(), o.Refusal)
	} else {
		h.engine.room.wakeAll(ref)
	}
}

// indexed tells the store which record holds the ticket now. The answer to a
// retry may name a ticket whose close was kept: that is waited for, because it
// is no success.
func (h *Hold) indexed(st Settlement, o Outcome) Settlement {
	switch {
	case st.Next == nil || st.Next.State != Open || o.Ticket.ID == "" || h.claim.Policy.Observe:
	case !h.send.retried():
		h.engine.aside(func() { _ = h.engine.index(&h.claim, o.Ticket.ID) })
	default:
		if closed := h.engine.index(&h.claim, o.Ticket.ID); closed != nil {
			st.Success = h.judge(*closed, o, nil, h.now).Success
		}
	}
	return st
}

// settle needs one round trip, on the record as it was claimed; only when
// somebody has written since is it read and judged again.
func (h *Hold) settle(ctx context.Context, o Outcome) (Settlement, error) {
	rec, now := h.rec, h.now.Add(time.Since(h.before))
	rec.Sent = h.marked()
	var st Settlement
	for range maxRounds {
		st = h.judge(rec, o, h.asked, now)
		switch {
		case st.Read && h.asked == nil:
			h.asked = h.read(ctx, o.Ticket)
			continue
		case st.Next == nil:
			return st, nil
		}
		_, err := h.engine.swap(ctx, h.claim.Fault.Ref, rec.Version, *st.Next)
		if err == nil {
			return st, nil
		}
		if !errors.Is(err, ErrConflict) {
			return st, err
		}
		found, err := h.engine.store.Get(ctx, h.claim.Fault.Ref)
		switch {
		case err != nil:
			return st, err
		case found.Provisional != h.apart, h.apart && st.Success && (found.Record.State == None || found.Record.State == ""):
			return st, errElsewhere // a local record is gone once it is reconciled
		}
		rec, now = found.Record, found.Now
		if h.send.owns(rec) {
			rec.Sent = (rec.Sent || h.sent.Load()) && !h.bare.Load()
		}
	}
	return st, ErrConflict
}

// read reads the ticket that a backend remembers, before it is believed.
func (h *Hold) read(ctx context.Context, t Ticket) *ReadResult {
	if h.claim.Policy.Observe { // asks nobody
		return &ReadResult{Answered: true, Open: true}
	}
	result := h.claim.backend().Read(ctx, t)
	return &result
}

// judge says what the outcome makes of rec; read is what the ticket was, when
// it was read for that.
func (h *Hold) judge(rec Record, o Outcome, read *ReadResult, now time.Time) Settlement {
	if h.claim.Policy.Observe && !rec.Observed {
		return Settlement{Success: o.Kind == OutcomeCreated}
	}
	st := Settle(rec, h.send, o, h.claim.Policy, now)
	if st.Read && read != nil {
		st = AfterRememberedRead(rec, h.send, o, *read, h.claim.Policy, now)
	}
	if st.Next != nil && st.Next.State == Open && st.Next.Ticket.ID == o.Ticket.ID {
		witnessed := h.claim.witnessed(*st.Next)
		st.Next = &witnessed
	}
	if st.Next != nil && h.won {
		st.Next.Trail = trail(st.Next.Trail, Trace{At: h.now, Kind: Create, Reason: h.send.Reason, Config: h.claim.Config, By: h.claim.By})
	}
	if st.Next != nil && h.claim.Policy.Observe {
		observed := asObserved(*st.Next, rec)
		st.Next = &observed
	}
	return st
}

func (e *Engine) told(ref Ref, st Settlement) {
	if len(st.Duplicates) > 0 || st.DeadLetter {
		e.report(Report{Ref: ref, Duplicates: st.Duplicates, DeadLetter: st.DeadLetter})
	}
}
