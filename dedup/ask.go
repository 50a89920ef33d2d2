package dedup

import (
	"context"
	"errors"
	"time"
)

// ask writes what a decision says, does what it asks for, and writes what came
// of that. It reports false when all has to be decided again.
//
// A call that has begun is brought to its end, and what it said is written,
// although the client may have gone: it is worth as much to the next one, who
// would else wait for the end of a lease. found.Now and before go on with the
// calls, so that a lease that is written here is counted from no later a moment
// than the store counts it from.
func (e *Engine) ask(ctx context.Context, c *Claim, found *Found, d *Decision, before *time.Time) (decided bool, err error) {
	if written, err := e.write(ctx, c, found, *d); !written {
		return false, err
	}
	if d.Kind != LookUp && d.Kind != Read {
		return d.Kind != Again, nil
	}
	if d.Kind == LookUp {
		defer e.room.wakeAll(c.Fault.Ref)
	}
	*d = c.asked(context.WithoutCancel(ctx), found, d.Kind, before)
	writing, cancel := settling(ctx)
	defer cancel()
	if written, err := e.write(writing, c, found, *d); !written {
		return false, err
	}
	return d.Kind != Again, nil
}

// write writes the decision's record, where it has one, and tells what is to be
// reported. It reports false on a conflict, which makes the decision void.
func (e *Engine) write(ctx context.Context, c *Claim, found *Found, d Decision) (bool, error) {
	if d.Next != nil {
		written, err := e.swap(ctx, c.Fault.Ref, found.Record.Version, *d.Next)
		switch {
		case errors.Is(err, ErrConflict):
			return false, nil
		case err != nil:
			return false, &notWritten{cause: err, next: *d.Next, provisional: found.Provisional}
		}
		e.came(c, found.Record, written)
		found.Record = written
	}
	e.tell(c.Fault.Ref, d)
	return true, nil
}

// asked makes the call that the decision asks for, and decides on its answer.
func (c *Claim) asked(ctx context.Context, found *Found, kind Kind, before *time.Time) Decision {
	began := time.Now()
	if kind == LookUp {
		result := c.backend().LookUp(ctx, found.Record.Token)
		found.goOn(began, before)
		return AfterLookUp(found.Record, *c, result, found.Now)
	}
	result := c.backend().Read(ctx, found.Record.Ticket)
	if result.Gone && c.stranger(found.Record) {
		result = ReadResult{}
	}
	found.goOn(began, before)
	return AfterRead(found.Record, *c, result, found.Now)
}

// goOn moves the store's clock, and our own moment that belongs to it, by the
// time since began.
func (f *Found) goOn(began time.Time, before *time.Time) {
	took := time.Since(began)
	f.Now, *before = f.Now.Add(took), before.Add(took)
}

// update sends the update that the claim has just taken, and settles it.
func (e *Engine) update(ctx context.Context, c *Claim, found Found, d Decision, before time.Time) (v Verdict, done bool, err error) {
	ref := c.Fault.Ref
	change := Change{Holder: c.Holder, Episode: found.Record.Episode, Ticket: found.Record.Ticket, Fingerprint: c.Fault.Fingerprint, At: found.Now}
	was := found.Record.Fingerprint
	began := time.Now()
	o := c.backend().Update(context.WithoutCancel(ctx), change.Ticket, found.Record.Token, change.Fingerprint, d.Reason)
	if o.Kind == UpdateGone && c.stranger(found.Record) {
		o.Kind, o.Mine = UpdateRefused, true
	}
	found.goOn(began, &before)
	st, err := e.settleUpdate(ctx, c, &found, change, o)
	e.room.wakeAll(ref)
	switch {
	case err != nil && !st.Success:
		return v, false, &notWritten{cause: err, provisional: found.Provisional}
	case err != nil && c.cleared() && !o.Stays: // the ticket is closed, whatever the record says
		_ = e.CloseTicket(ctx, TicketScope(c.Fault.Backend), change.Ticket.ID, c.Policy)
	}
	v = Verdict{Kind: Update, Reason: d.Reason, Record: found.Record, Waited: c.Waited, Was: was, UpdateFailed: !st.Success}
	switch {
	case st.Again:
		return v, false, nil
	case st.Success:
		return v, true, nil
	case st.Failed && c.Policy.OnUpdateFailed != "error":
		return e.escalate(ctx, c, found, before)
	case o.Answer != nil:
		v.Refusal = o.Answer
		return v, true, nil
	case st.Failed: // and there is no answer that says so: whoever asked is told without one
		return v, true, nil
	default:
		v.Kind, v.Reason, v.RetryAfter = Busy, IsBusy, time.Second
		return v, true, nil
	}
}

func (e *Engine) settleUpdate(ctx context.Context, c *Claim, found *Found, change Change, o UpdateOutcome) (Settlement, error) {
	ctx, cancel := settling(ctx)
	defer cancel()
	ref := c.Fault.Ref
	for range maxRounds {
		st := SettleUpdate(found.Record, change, o, c.Policy, found.Now)
		if st.Next == nil {
			return st, nil
		}
		if o.Kind == UpdateApplied {
			*st.Next = c.Bearer.joins(*st.Next, found.Now)
		}
		written, err := e.swap(ctx, ref, found.Record.Version, *st.Next)
		if err == nil {
			found.Record = written
			return st, nil
		}
		if !errors.Is(err, ErrConflict) {
			return st, err
		}
		now, err := e.store.Get(ctx, ref)
		switch {
		case err != nil:
			return st, err
		case now.Provisional != found.Provisional:
			return st, errElsewhere
		}
		*found = now
	}
	return Settlement{}, ErrConflict
}

// escalate goes on after a refused update: a worse severity becomes the create
// of the next episode, all else is answered from the record.
func (e *Engine) escalate(ctx context.Context, c *Claim, found Found, before time.Time) (v Verdict, done bool, err error) {
	d := Decision{Kind: Suppress, Reason: Refire}
	if c.Policy.OnUpdateFailed == "forward" {
		d = Escalate(found.Record, *c, found.Now)
	}
	decided, err := e.ask(ctx, c, &found, &d, &before)
	if err != nil || !decided {
		return v, false, err
	}
	v, err = e.conclude(ctx, c, found, d, before)
	v.UpdateFailed = true
	return v, true, err
}

// stranger reports whether the record does not know who asks. Some ticket
// systems say "not there" to those who may not see a ticket, so from a stranger
// that is no news of the ticket. A claim without a bearer is nobody's in
// particular, and is believed.
func (c *Claim) stranger(rec Record) bool {
	return c.Bearer != (Bearer{}) && !rec.Knows(c.Bearer)
}
