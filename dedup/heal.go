package dedup

import (
	"context"
	"errors"
	"time"
)

// Healing: most clients never send again, so a lost acknowledgement leaves a
// ticket that its sender believes failed. After a Hold was settled as unknown,
// the look-up is asked at once, with the credentials that are still in hand.

// healAgain is how long to leave a backend alone between two look-ups while a
// client waits.
const healAgain = 500 * time.Millisecond

// Heal looks for the ticket of a create that was settled as unknown, for at
// most within, while its client waits. It returns the record once there is an
// open ticket with exactly this token. With again, where the backend folds, the
// create is sent again instead: that asks for the ticket, makes it where there is
// none, and is answered as a create is.
func (h *Hold) Heal(ctx context.Context, within time.Duration, again bool) (Record, bool) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	look := h.seek
	if again && h.claim.foldsAgain() {
		look = h.sendNow
	}
	for {
		rec, state := look(ctx)
		if state != seekAgain {
			return rec, state == seekFound
		}
		select {
		case <-ctx.Done():
			return Record{}, false
		case <-time.After(healAgain):
		}
	}
}

// healAfter is when the background looks, counted from its begin; once more
// after settle.
var healAfter = []time.Duration{0, time.Second, 3 * time.Second, 8 * time.Second}

// Follow goes on with a create that has failed when its client has gone, or
// was told of the failure. With heal it looks for the ticket, unless the create
// surely never left. Where there surely is none it sends the create again,
// through the same claim, until there is a ticket, a request of a client comes
// first, or the tries are used up. It returns true when the episode has its
// ticket. It blocks for as long as settle and the tries take.
func (h *Hold) Follow(ctx context.Context, heal bool, again Resend) bool {
	if heal {
		if state := h.lookFor(ctx); state != seekAbsent {
			return state == seekFound
		}
	}
	return h.sendAgain(ctx, again)
}

func (h *Hold) lookFor(ctx context.Context) seeking {
	began := time.Now()
	moments := append(append([]time.Duration{}, healAfter...), h.claim.Policy.Settle+100*time.Millisecond)
	state := seekAgain
	for _, at := range moments {
		if !sleepUntil(ctx, began.Add(at)) {
			return seekOver
		}
		if _, state = h.seek(ctx); state == seekFound || state == seekOver {
			return state
		}
	}
	return state
}

func sleepUntil(ctx context.Context, t time.Time) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Until(t)):
		return true
	}
}

// seeking is how a look for the ticket has ended.
type seeking uint8

const (
	seekFound  seeking = iota // the record is open
	seekAgain                 // not there, but it may come
	seekAbsent                // surely not there, after settle; or it was learned that nothing had been sent
	seekOver                  // somebody else goes on with the record, or it is of another episode
)

// seek is one look-up, under a claim of its own. It never creates. One that has
// begun is brought to its end, so that no claim is left behind.
func (h *Hold) seek(ctx context.Context) (Record, seeking) {
	if ctx.Err() != nil {
		return Record{}, seekAgain
	}
	c := h.again()
	c.seeks = true
	for range maxRounds {
		found, err := h.found(ctx)
		switch {
		case err != nil, found.Provisional != h.apart: // of the create, this store knows nothing
			return Record{}, seekAgain
		case h.takenBack(found.Record):
			return Record{}, seekAbsent
		case found.Record.Episode != h.send.Episode || found.Record.Token != h.send.Token:
			return Record{}, seekOver
		case found.Record.State == Open:
			return found.Record, seekFound
		case found.Record.State != Claimed && found.Record.State != Doubtful:
			return Record{}, seekOver
		}
		d := Decide(found.Record, c, found.Now)
		switch {
		case d.Kind == Wait && found.Record.Looking: // it may be told to come again, and never do
			return Record{}, seekAgain
		case d.Kind != LookUp: // a request of a client came first
			return Record{}, seekOver
		}
		state, err := h.seekUnder(ctx, c, &found, d.Next)
		if !errors.Is(err, ErrConflict) {
			return found.Record, state
		}
	}
	return Record{}, seekAgain
}

// found is the record now, also when ctx is over.
func (h *Hold) found(ctx context.Context) (Found, error) {
	ctx, cancel := settling(ctx)
	defer cancel()
	return h.engine.store.Get(ctx, h.claim.Fault.Ref)
}

// takenBack reports whether the record is as it was before the create: it was
// learned that nothing had been sent.
func (h *Hold) takenBack(rec Record) bool {
	return rec.Episode == h.send.Episode-1 && (rec.State == None || rec.State == "" || rec.State == Closed || rec.State == Open)
}

// seekUnder looks the token up under the claim that looking is; nil is one that
// has been written before, over which somebody has written since.
func (h *Hold) seekUnder(ctx context.Context, c Claim, found *Found, looking *Record) (seeking, error) {
	e, ref := h.engine, c.Fault.Ref
	defer e.room.wakeAll(ref)
	if looking != nil {
		written, err := h.write(ctx, found.Record.Version, *looking)
		if err != nil {
			return seekAgain, err
		}
		found.Record = written
	}
	written := found.Record
	d, state := h.sought(ctx, &c, found)
	if d.Next == nil {
		return seekAgain, ErrConflict
	}
	rec, err := h.write(ctx, written.Version, *d.Next)
	if err != nil {
		return seekAgain, err
	}
	e.tell(ref, Decision{Duplicates: d.Duplicates})
	e.came(&c, written, rec)
	found.Record = rec
	switch rec.State {
	case Open:
		return seekFound, nil
	case Closed:
		return seekOver, nil
	default:
		return state, nil
	}
}

// write writes the record, also when ctx is over.
func (h *Hold) write(ctx context.Context, seen int64, next Record) (Record, error) {
	ctx, cancel := settling(ctx)
	defer cancel()
	return h.engine.swap(ctx, h.claim.Fault.Ref, seen, next)
}

// sought asks, and says what the answer makes of the record; whether to send
// again is decided elsewhere. Without an attempt left there is nothing to find.
func (h *Hold) sought(ctx context.Context, c *Claim, found *Found) (Decision, seeking) {
	looking := found.Record
	if len(looking.Attempts) == 0 {
		next := c.Policy.settled(restored(looking), found.Now)
		return Decision{Next: &next}, seekAbsent
	}
	began := time.Now()
	result := c.backend().LookUp(context.WithoutCancel(ctx), looking.Token)
	now := found.Now.Add(time.Since(began))
	d := AfterLookUp(looking, *c, result, now)
	if d.Kind != Create {
		return d, seekAgain
	}
	next := c.Policy.doubtful(looking.clone(), now)
	d.Next = &next
	if !result.Answered || d.Reason != Retried {
		return d, seekAgain // a refused look-up and a send that nobody saw leave prove nothing
	}
	return d, seekAbsent
}
