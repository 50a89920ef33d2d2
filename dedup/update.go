package dedup

import "time"

// A Change is one update of a ticket that was sent under an update claim.
type Change struct {
	Holder      string
	Episode     int64
	Ticket      Ticket
	Fingerprint Fingerprint
	At          time.Time // the store's clock when the update claim was taken
}

// UpdateKind is what is known of the backend's answer to an update.
type UpdateKind string

const (
	UpdateApplied UpdateKind = "applied"  // 2xx
	UpdateGone    UpdateKind = "gone"     // 404, 410
	UpdateRefused UpdateKind = "refused"  // 400, 403, 409, 422
	UpdateNotSent UpdateKind = "not_sent" // failed before it was sent, or 429
	UpdateUnknown UpdateKind = "unknown"  // 5xx, timeout, reset, crash, lease over
)

// An UpdateOutcome is how an update ended.
type UpdateOutcome struct {
	Kind   UpdateKind
	Stays  bool       // of Applied, for a clear: the backend has noted it and left the ticket open
	Ticket ReadResult // of Refused: the ticket as it was read then
	Mine   bool       // of Refused, when the read was not answered: it was refused for lack of this caller's rights
	Answer *Response  // the backend's own, for the client of an update that failed; nil when there is none
}

// SettleUpdate says what the outcome of the change makes of rec. An outcome
// is written only over its own update claim.
func SettleUpdate(rec Record, ch Change, o UpdateOutcome, p *Policy, now time.Time) Settlement {
	if rec.V > Format {
		return Settlement{Success: o.Kind == UpdateApplied}
	}
	if rec.Update == nil || rec.Update.Holder != ch.Holder || rec.Episode != ch.Episode {
		return ch.late(rec, o, p, now)
	}
	reopening, leaseUntil := rec.Update.Reopening, rec.Update.LeaseUntil
	next := rec.clone()
	next.Update = nil
	switch o.Kind {
	case UpdateApplied:
		next = ch.applied(next, o, p, now)
		next.Updates++
		next.VerifiedAt = earliest(next.VerifiedAt, leaseUntil) // an answer that is written late is an old check
		return Settlement{Next: &next, Success: true}
	case UpdateGone:
		next = p.gone(next, now)
		return Settlement{Next: &next, Again: true}
	case UpdateRefused:
		return ch.refused(next, reopening, o, p, now)
	case UpdateNotSent:
		next = p.settled(next, now)
		return Settlement{Next: &next}
	default:
		next = p.updateUnknown(next, ch.Fingerprint, reopening, now.Add(p.Settle), now)
		return Settlement{Next: &next}
	}
}

// late judges an outcome whose update claim is no longer there.
func (ch *Change) late(rec Record, o UpdateOutcome, p *Policy, now time.Time) Settlement {
	if o.Kind != UpdateApplied {
		return Settlement{}
	}
	same := rec.Ticket.ID == ch.Ticket.ID && rec.Episode == ch.Episode
	if ch.Fingerprint.Cleared {
		if same && rec.Update == nil && (rec.State == Open || rec.State == Closed) && !o.Stays {
			next := p.closedAt(rec.clone(), now)
			next.LandsUntil = time.Time{}
			next = p.settled(next, now)
			return Settlement{Next: &next, Success: true}
		}
		return Settlement{Success: true}
	}
	return Settlement{Success: same && rec.State == Open}
}

func (ch *Change) applied(next Record, o UpdateOutcome, p *Policy, now time.Time) Record {
	if ch.Fingerprint.Cleared && !o.Stays {
		next = p.closedAt(next, now)
		next.Gone = false
		return p.settled(next, now)
	}
	fp := ch.Fingerprint
	if ch.At.Before(next.LandsUntil) {
		fp = Unknown // an earlier update of unknown outcome may have landed after this one
	}
	opened, verified := next.OpenedAt, next.VerifiedAt
	reopened := next.State == Closed
	next = p.opened(next, next.Ticket, fp, now)
	if !reopened { // some backends take updates of closed tickets: this was no check
		next.OpenedAt, next.VerifiedAt = opened, verified
		next = p.aged(next, now)
	}
	return next
}

// aged bounds the life of an open record by max_age.
func (p *Policy) aged(rec Record, now time.Time) Record {
	if p.MaxAge > 0 && rec.ExpiresAt.After(rec.OpenedAt.Add(p.MaxAge)) {
		rec.ExpiresAt = rec.OpenedAt.Add(p.MaxAge)
	}
	return p.settled(rec, now)
}

func (p *Policy) gone(rec Record, now time.Time) Record {
	next := p.closedAt(rec, now)
	next.Gone = true
	return p.settled(next, now)
}

// refused: a backend refuses to change a closed ticket, and a caller who may
// create but not edit; reading the ticket tells which it was.
func (ch *Change) refused(next Record, reopening bool, o UpdateOutcome, p *Policy, now time.Time) Settlement {
	closed := o.Ticket.Answered && !o.Ticket.Open
	forbidden := o.Mine && !o.Ticket.Answered
	switch {
	case reopening && !ch.Fingerprint.Cleared && (closed || forbidden): // so that it is not tried again for ever
		next = p.gone(next, now)
		return Settlement{Next: &next, Again: true}
	case closed:
		next = p.closedAt(next, now)
		next.Gone = o.Ticket.Gone
		next = p.settled(next, now)
		return Settlement{Next: &next, Again: true}
	case o.Ticket.Answered && reopening: // reopened by somebody meanwhile
		next = p.opened(next, next.Ticket, Unknown, now)
		return Settlement{Next: &next, Failed: true}
	case o.Ticket.Answered, forbidden && !reopening:
		next = p.settled(next, now)
		return Settlement{Next: &next, Failed: true}
	default:
		next = p.closedInDoubt(next, now, now)
		return Settlement{Next: &next}
	}
}

// updateUnknown: what an update of unknown outcome leaves, which may still be
// applied until lands.
func (p *Policy) updateUnknown(rec Record, fp Fingerprint, reopening bool, lands, now time.Time) Record {
	if reopening || fp.Cleared {
		return p.closedInDoubt(rec, lands, now)
	}
	rec.Fingerprint = Unknown
	rec.LandsUntil = latest(rec.LandsUntil, lands)
	return p.settled(rec, now)
}

// updateLapsed ends an update claim whose lease is over.
func (p *Policy) updateLapsed(rec Record, now time.Time) Record {
	u := *rec.Update
	next := rec.clone()
	next.Update = nil
	return p.updateUnknown(next, u.Fingerprint, u.Reopening, u.LeaseUntil.Add(p.Settle), now)
}

// Escalate goes on where SettleUpdate said Failed and the rule sends on what
// could not be updated: a severity that the map calls worse opens the next
// episode, so that somebody sees it, and the old ticket is reported for
// merging. Every other refused update is answered from the record, with its
// old fingerprint. It happens once per severity, because the new episode has it.
func Escalate(rec Record, c Claim, now time.Time) Decision {
	switch {
	case rec.State != Open || rec.Update != nil || rec.V > Format:
		return Decision{Kind: Again}
	case c.worse(rec.Fingerprint.Severity):
		d := c.create(rec, UpdateFailed, now)
		d.Duplicates = []Ticket{rec.Ticket}
		return d
	default:
		return Decision{Kind: Suppress, Reason: Refire}
	}
}

func (c *Claim) worse(than string) bool {
	fp := c.Fault.Fingerprint
	return !fp.Cleared && c.lower(fp.Severity, than)
}
