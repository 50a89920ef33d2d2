package dedup

import (
	"slices"
	"strconv"
	"time"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// clone copies the record so that its slices and claims are its own.
func (r Record) clone() Record {
	r.Attempts = slices.Clone(r.Attempts)
	r.UpdatedAt = slices.Clone(r.UpdatedAt)
	r.Witness = slices.Clone(r.Witness)
	r.Principals = slices.Clone(r.Principals)
	r.Credentials = slices.Clone(r.Credentials)
	if r.Update != nil {
		update := *r.Update
		r.Update = &update
	}
	return r
}

// keep is how long a record outlives the last send of a token of its key: a
// backend that remembers must not meet a token of an episode that we forgot.
func (p *Policy) keep() time.Duration {
	return max(p.Remember, p.ReopenWithin, p.MemoryFor)
}

// keepDoubt is keep for a record that waits for an outcome: never less than
// the lease and settle that decide it.
func (p *Policy) keepDoubt() time.Duration { return max(p.keep(), p.Lease+p.Settle, p.unended) }

// over reports whether the record's memory is over: it is as none.
func (r *Record) over(now time.Time) bool {
	return r.State != None && !now.Before(r.KeepUntil)
}

// extended gives an open record the life of a claim that finds it open. It
// reports false when less than 1/16 of the TTL would be gained, so that a
// storm of re-fires is not a storm of writes.
func (c *Claim) extended(rec Record, now time.Time) (Record, bool) {
	until := now.Add(c.Policy.TTL)
	if age := c.Policy.MaxAge; age > 0 && until.After(rec.OpenedAt.Add(age)) {
		until = rec.OpenedAt.Add(age)
	}
	if until.Sub(rec.ExpiresAt) < c.Policy.TTL/16 || !until.After(rec.ExpiresAt) {
		return rec, false
	}
	rec.ExpiresAt = until
	rec.FreeAt = until
	rec.KeepUntil = latest(rec.KeepUntil, until.Add(c.Policy.keep()))
	rec.SeenAt = now
	return rec, true
}

// settled sets FreeAt, which is all that a store knows of the policy, and
// KeepUntil of a record at rest.
func (c *Claim) settled(rec Record, now time.Time) Record {
	return c.Policy.settled(rec, now)
}

func (p *Policy) settled(rec Record, now time.Time) Record {
	keep := p.keep()
	if rec.pending() {
		keep = p.keepDoubt()
	}
	rec.KeepUntil = latest(rec.KeepUntil, latest(rec.SentAt, now).Add(keep))
	switch rec.State {
	case Open:
		rec.KeepUntil = latest(rec.KeepUntil, rec.ExpiresAt.Add(p.keep()))
		rec.FreeAt = rec.ExpiresAt
	case Closed:
		rec.FreeAt = p.closedFreeAt(rec)
	case Claimed, Doubtful:
		rec.FreeAt = rec.KeepUntil
	default:
		rec.FreeAt = time.Time{}
	}
	return rec
}

// pending reports whether something that was sent has no outcome yet.
func (r *Record) pending() bool {
	return r.State == Claimed || r.State == Doubtful || r.InDoubt || r.Update != nil || len(r.Attempts) > 0
}

// closedFreeAt: a closed record is free unless something must be asked, sent
// or waited for first.
func (p *Policy) closedFreeAt(rec Record) time.Time {
	switch {
	case rec.Update != nil, rec.InDoubt, len(rec.Attempts) > 0 && p.CanLookUp:
		return rec.KeepUntil
	case p.reopens(rec):
		return rec.ClosedAt.Add(p.ReopenWithin)
	default:
		return time.Time{}
	}
}

// reopens reports whether the ticket of a closed record may be reopened. Where
// a send is unresolved, there may be an open one beside it.
func (p *Policy) reopens(rec Record) bool {
	return p.CanReopen && p.ReopenWithin > 0 && !rec.Gone && rec.Ticket.ID != "" && len(rec.Attempts) == 0
}

// opened makes rec the record of an open ticket.
func (p *Policy) opened(rec Record, ticket Ticket, fp Fingerprint, now time.Time) Record {
	rec.State = Open
	rec.Ticket = ticket
	rec.Fingerprint = fp
	rec.Holder, rec.LeaseUntil, rec.Looking, rec.Sent = "", time.Time{}, false, false
	rec.Update, rec.Prior = nil, nil
	rec.Gone, rec.InDoubt = false, false
	rec.OpenedAt, rec.VerifiedAt, rec.SeenAt = now, now, now
	rec.ExpiresAt = now.Add(p.TTL)
	if p.MaxAge > 0 && p.MaxAge < p.TTL {
		rec.ExpiresAt = now.Add(p.MaxAge)
	}
	if !rec.pending() { // a doubt may be kept for longer than what came of it
		rec.KeepUntil = time.Time{}
	}
	return p.settled(rec, now)
}

// closedAt ends the record's episode.
func (p *Policy) closedAt(rec Record, now time.Time) Record {
	if u := rec.Update; u != nil { // its ticket was closed while it was under way
		rec.LandsUntil = latest(rec.LandsUntil, u.LeaseUntil.Add(p.Settle))
	}
	rec.State = Closed
	rec.Holder, rec.LeaseUntil, rec.Looking, rec.Sent = "", time.Time{}, false, false
	rec.Update, rec.Prior = nil, nil
	rec.InDoubt = false
	rec.ClosedAt = now
	return p.settled(rec, now)
}

// closedInDoubt ends it by a clear or a reopening of unknown outcome, which
// may still be applied until lands.
func (p *Policy) closedInDoubt(rec Record, lands, now time.Time) Record {
	rec = p.closedAt(rec, now)
	rec.InDoubt = true
	rec.LandsUntil = latest(rec.LandsUntil, lands)
	return p.settled(rec, now)
}

// doubtful ends a claim without an outcome.
func (p *Policy) doubtful(rec Record, now time.Time) Record {
	rec.State = Doubtful
	rec.Holder, rec.LeaseUntil, rec.Looking, rec.Sent = "", time.Time{}, false, false
	return p.settled(rec, now)
}

// lapsed turns a claim whose lease is over into what it has become: a create
// that may have been sent, whose outcome nobody saw. A claim that only looked
// has sent nothing.
func (p *Policy) lapsed(rec Record) Record {
	next := rec.clone()
	if !rec.Looking {
		next.Attempts = withAttempt(next.Attempts, rec.attempt(rec.LeaseUntil))
	}
	return p.doubtful(next, rec.LeaseUntil)
}
