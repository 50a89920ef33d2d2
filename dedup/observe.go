package dedup

import (
	"context"
	"errors"
	"time"
)

// observe decides as the rule would, and keeps what it needs to go on
// deciding in records that no enforcing rule ever replays from. It touches no
// record of an enforcing rule but one that is free, waits for nothing, and never
// errs on the side of a write: a conflict is somebody else's decision, and is
// left at that.
func (e *Engine) observe(ctx context.Context, c Claim) (Verdict, error) {
	before := time.Now()
	found, err := e.store.Get(ctx, c.Fault.Ref)
	if err != nil {
		return Verdict{}, err
	}
	d := Decide(found.Record, c, found.Now)
	for range 2 { // what a lapsed update claim has become is decided at once
		if d.Kind == Again && d.Next != nil {
			found.Record = *d.Next
			d = Decide(found.Record, c, found.Now)
		}
	}
	d = c.observed(d, found.Now)
	v := c.verdict(found, d)
	v.Was = found.Record.Fingerprint
	switch d.Kind { // what it would wait for or ask ends, almost always, in this
	case Wait:
		v.Kind, v.Reason = Suppress, Race
	case Read:
		v.Kind, v.Reason = Suppress, Refire
	case LookUp:
		v.Kind, v.Reason = Create, Retried
	}
	if d.Next == nil || d.Kind == LookUp || !observable(found) {
		return v, nil
	}
	written, err := e.swap(ctx, c.Fault.Ref, found.Record.Version, asObserved(*d.Next, found.Record))
	switch {
	case errors.Is(err, ErrConflict):
		return v, nil
	case err != nil:
		return v, err
	}
	found.Record = written
	v.Record = written
	if d.Kind == Create {
		v.Hold = e.hold(&c, found, before, d.Reason)
	}
	return v, nil
}

// observed takes an update for applied: nobody sends it, so nobody settles it.
func (c *Claim) observed(d Decision, now time.Time) Decision {
	if d.Kind != Update || d.Next == nil || d.Next.Update == nil {
		return d
	}
	u := d.Next.Update
	change := Change{Holder: u.Holder, Episode: d.Next.Episode, Ticket: d.Next.Ticket, Fingerprint: u.Fingerprint, At: now}
	d.Next = SettleUpdate(*d.Next, change, UpdateOutcome{Kind: UpdateApplied}, c.Policy, now).Next
	return d
}

// observable reports whether an observing rule may write over what was found.
func observable(found Found) bool {
	rec := found.Record
	return rec.Observed || rec.State == "" || rec.State == None || !found.Now.Before(rec.FreeAt)
}

// asObserved marks the record. It uses up no episode, because it sends no
// token, and is free for the first claim of an enforcing rule.
func asObserved(next, over Record) Record {
	next.Observed = true
	next.Episode = over.Episode
	next.FreeAt = time.Time{}
	return next
}
