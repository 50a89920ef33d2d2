package dedup

import (
	"context"
	"time"
)

// Resend says how often, and how, a create is sent again by ourselves.
type Resend struct {
	Tries      int           // 0: not at all
	First      time.Duration // before the first try; doubled up to Most
	Most       time.Duration
	RetryAfter time.Duration // what the last answer has asked for
}

// sendNow sends the create again, and says as seek does what came of it.
func (h *Hold) sendNow(ctx context.Context) (Record, seeking) {
	done, over := h.tryAgain(ctx)
	if over {
		return Record{}, seekOver
	}
	if !done {
		return Record{}, seekAgain
	}
	found, err := h.found(ctx)
	if err != nil || found.Record.State != Open || found.Record.Token != h.send.Token {
		return Record{}, seekOver
	}
	return found.Record, seekFound
}

// again is the claim of the hold for another attempt.
func (h *Hold) again() Claim {
	c := h.claim
	c.Holder = newHolder()
	c.Waited, c.Met, c.Verified = false, 0, false
	c.OnWait = nil
	c.Wait = 0
	return c
}

// sendAgain sends the create again and again, as often as Resend says.
func (h *Hold) sendAgain(ctx context.Context, r Resend) bool {
	pause := max(r.First, r.RetryAfter)
	for range r.Tries {
		if !sleepUntil(ctx, time.Now().Add(pause)) {
			return false
		}
		pause = min(max(2*pause, r.First), max(r.Most, r.First))
		if done, over := h.tryAgain(ctx); done || over {
			return done
		}
	}
	return false
}

// tryAgain sends it once more, unless that has become needless or may double it.
func (h *Hold) tryAgain(ctx context.Context) (done, over bool) {
	found, err := h.found(ctx)
	switch {
	case err != nil:
		return false, false
	case found.Record.State == Open && found.Record.Episode == h.send.Episode:
		return true, false
	case h.overtaken(found):
		return false, true
	case found.Record.State == Doubtful && !h.claim.foldsAgain(): // a try of ours may have made it
		if _, state := h.seek(ctx); state != seekAbsent {
			return state == seekFound, state == seekOver
		}
	}
	return h.resend(ctx)
}

// overtaken: a request of a client, a clear or a resolve of the key came first.
func (h *Hold) overtaken(found Found) bool {
	rec := found.Record
	switch rec.State {
	case Claimed: // one that only looks may be told to come again, and never do
		return !rec.Looking && found.Now.Before(rec.LeaseUntil)
	case Doubtful:
		return rec.Episode != h.send.Episode
	case Open, Closed:
		return rec.Episode >= h.send.Episode || !rec.Owed
	default:
		return !rec.Owed
	}
}

// unowed reports whether a create that is sent again has claimed an episode of
// its own although nothing was owed: a clear came between the look at the record
// and the claim.
func (r *Record) unowed() bool { return r.Sends == 1 && !r.Prior.Owed }

// resend is one more create, through the same claim as a request.
func (h *Hold) resend(ctx context.Context) (done, over bool) {
	v, err := h.engine.Decide(ctx, h.again())
	switch {
	case err != nil || v.Kind == Busy:
		return false, false
	case v.Kind == Suppress:
		return true, false
	case v.Kind != Create:
		return false, true
	}
	cleared := v.Record.unowed()
	if cleared || !v.Hold.Ready() {
		_ = v.Hold.Release(ctx) // a lease that is over ends it too
		return false, cleared
	}
	v.Hold.MarkSent()
	o := h.claim.backend().Create(context.WithoutCancel(ctx), v.Hold.Token())
	writing, cancel := settling(ctx)
	defer cancel()
	st, err := v.Hold.Settle(writing, o)
	return err == nil && o.Kind == OutcomeCreated && st.Success, false
}
