package dedup

import "time"

// A Send is one create that was let go under a claim: what its outcome is
// judged by. It is the holder's own memory; the record may be another's by now.
type Send struct {
	Holder      string
	Episode     int64
	Token       string
	Fingerprint Fingerprint
	Reason      Reason
}

// OutcomeKind is what is known of the backend's answer to a create.
type OutcomeKind string

const (
	OutcomeCreated    OutcomeKind = "created"
	OutcomeRefused    OutcomeKind = "refused"
	OutcomeNeverSent  OutcomeKind = "never_sent"
	OutcomeExists     OutcomeKind = "exists"
	OutcomeRemembered OutcomeKind = "remembered" // the backend answered with what it remembers of the token
	OutcomeUnknown    OutcomeKind = "unknown"
)

// An Outcome is how a create ended.
type Outcome struct {
	Kind     OutcomeKind
	Ticket   Ticket
	Response *Response // the answer, ready to be replayed; of Created and Remembered
	Refusal  *Response // of Refused: handed to equal waiters, never stored
	Bearer   Bearer    // whose create it was; of Created and Remembered
	New      bool      // the answer of a backend that folds says that the ticket is new
}

// A Settlement is what an outcome makes of the record, and what the client
// may be told. It has not happened yet: where Next is set, it holds only once
// Swap has written Next over the record; on a conflict the outcome is judged
// again, on what is there then.
type Settlement struct {
	Next *Record

	// Success: the client may see the backend's success. False for a success
	// that is not true, and for all that the client sees as it is anyway.
	Success    bool
	DeadLetter bool     // it may have made no ticket
	LookUp     bool     // the token should be looked up at once
	Read       bool     // the ticket must be read before it is believed, see AfterRememberedRead
	Duplicates []Ticket // open beside the record's own, to be reported
	Again      bool     // of an update: the request is decided again
	Failed     bool     // of an update: it was refused, and on_update_failed decides, see Escalate
}

// Settle says what the outcome of the send makes of rec at the time now of
// the store's clock.
func Settle(rec Record, s Send, o Outcome, p *Policy, now time.Time) Settlement {
	switch {
	case rec.V > Format: // nothing of it is ours to change or to understand
		created := o.Kind == OutcomeCreated
		return Settlement{Success: created, DeadLetter: !created && o.Kind != OutcomeRefused && o.Kind != OutcomeNeverSent}
	case o.Kind == OutcomeRemembered && !p.CanRead:
		o.Kind = OutcomeCreated // nobody can say more: native idempotency is taken at its word
	case o.Kind == OutcomeCreated && p.Memory == Remembers && p.CanRead && s.retried() && !o.New:
		o.Kind = OutcomeRemembered // it may be the ticket of the first attempt, closed since
	}
	switch o.Kind {
	case OutcomeCreated:
		return s.created(rec, o, p, now)
	case OutcomeRefused, OutcomeNeverSent:
		return s.takenBack(rec, p, now)
	case OutcomeRemembered:
		return Settlement{Read: true}
	case OutcomeExists:
		s.Fingerprint = Unknown // what is there already was not made by this request
		return s.unknown(rec, p, now)
	default:
		return s.unknown(rec, p, now)
	}
}

// retried reports whether the token may have been sent before.
func (s *Send) retried() bool { return s.Reason == Retried || s.Reason == RetriedBlind }

// owns reports whether rec is claimed by this send.
func (s *Send) owns(rec Record) bool {
	return rec.State == Claimed && !rec.Looking && rec.Holder == s.Holder && rec.Episode == s.Episode
}

// created wins over everything: a late answer is adopted by the record of its
// episode, whoever holds it.
func (s *Send) created(rec Record, o Outcome, p *Policy, now time.Time) Settlement {
	sameEpisode := rec.Episode == s.Episode && rec.Token == s.Token
	switch {
	case rec.State == Open && rec.Ticket.ID == o.Ticket.ID && o.Ticket.ID != "":
		return Settlement{Success: true}
	case s.owns(rec), sameEpisode && (rec.State == Claimed || rec.State == Doubtful):
		next := s.adopted(rec, o, p, now)
		if rec.closedMeanwhile(o.Ticket) {
			next = p.closedAt(next, now)
		}
		return Settlement{Next: &next, Success: next.State == Open || !s.retried()}
	case rec.State == Closed && rec.Ticket.ID == o.Ticket.ID:
		return Settlement{Success: !s.retried()}
	case o.Ticket.ID == "":
		return Settlement{Success: true}
	default:
		// A backend that remembers may have answered with a ticket that was closed since.
		return Settlement{Success: !s.retried() || p.Memory != Remembers, Duplicates: []Ticket{o.Ticket}}
	}
}

// closedMeanwhile: the answer names the ticket of the episode before, as a
// backend does that folds, and that ticket was closed while the create ran.
func (r *Record) closedMeanwhile(t Ticket) bool {
	p := r.Prior
	return p != nil && p.State == Closed && p.Ticket.ID == t.ID && t.ID != "" && !p.ClosedAt.Before(r.firstSent())
}

// adopted is the open record of the ticket that the answer names.
func (s *Send) adopted(rec Record, o Outcome, p *Policy, now time.Time) Record {
	next := rec.clone()
	others := withoutHolder(rec.Attempts, s.Holder)
	if rec.State == Claimed && !rec.Looking && rec.Holder != s.Holder {
		others = withAttempt(others, rec.attempt(rec.LeaseUntil)) // it may be under way for as long
	}
	fp := s.Fingerprint
	if p.Memory != NoMemory && len(others) > 0 && sentFingerprint(others) != fp {
		fp = Unknown // the answer may be that of an attempt with another fingerprint
	}
	if o.Kind == OutcomeRemembered && len(others) == 0 {
		fp = Unknown // it is that of an attempt which this record does not know
	}
	if p.Memory == Folds && !o.New {
		// It may even be an older ticket, to which an older update is under way.
		fp = Unknown
		next.LandsUntil = latest(next.LandsUntil, now.Add(p.Settle))
	}
	next.Attempts = others
	if p.Memory == Remembers {
		next.Attempts = nil // they have had the same answer
	}
	next.Response = o.Response
	next.AnsweredAt = now
	next = o.Bearer.joins(next, now)
	next = p.opened(next, o.Ticket, fp, now)
	next.VerifiedAt = s.answeredBy(rec, now)
	return next
}

// answeredBy is when the answer had come at the latest: it counts as a check
// that the ticket is open, but one that is written late is an old check.
func (s *Send) answeredBy(rec Record, now time.Time) time.Time {
	ended := now
	if s.owns(rec) {
		ended = rec.LeaseUntil
	}
	for _, a := range rec.Attempts {
		if a.Holder == s.Holder {
			ended = a.EndedAt
		}
	}
	return earliest(ended, now)
}

// takenBack undoes this attempt and nothing else.
func (s *Send) takenBack(rec Record, p *Policy, now time.Time) Settlement {
	if rec.Episode != s.Episode {
		return Settlement{}
	}
	if s.owns(rec) {
		next := rec.clone()
		if len(rec.Attempts) > 0 {
			next = p.doubtful(next, now)
		} else {
			next = p.settled(restored(rec), now)
		}
		return Settlement{Next: &next}
	}
	others := withoutHolder(rec.Attempts, s.Holder)
	if len(others) == len(rec.Attempts) {
		return Settlement{}
	}
	next := rec.clone()
	next.Attempts = others
	if rec.State == Doubtful && len(others) == 0 {
		next = p.settled(restored(rec), now)
	} else if rec.State == Closed {
		next = p.settled(next, now)
	}
	return Settlement{Next: &next}
}

// restored is the record as it was before the first attempt, with its number;
// never less than a stub, and only a stub of what had been forgotten then. The
// create may be sent again, unless a clear comes first.
func restored(rec Record) Record {
	next := Record{V: Format, State: None}
	switch prior := rec.Prior; {
	case prior == nil:
	case prior.over(rec.ClaimedAt):
		next.Episode, next.KeepUntil = prior.Episode, prior.KeepUntil
	default:
		next = prior.clone()
	}
	next.Version = rec.Version
	next.Trail = rec.Trail
	next.Owed = true
	return next
}

func (s *Send) unknown(rec Record, p *Policy, now time.Time) Settlement {
	if !s.owns(rec) {
		return Settlement{DeadLetter: true}
	}
	next := rec.clone()
	sent := rec.attempt(now)
	sent.Fingerprint = s.Fingerprint
	next.Attempts = withAttempt(next.Attempts, sent)
	next = p.doubtful(next, now)
	return Settlement{Next: &next, DeadLetter: true, LookUp: p.CanLookUp}
}

// AfterRememberedRead goes on where Settle said Read: open is what the ticket
// of the answer was when it was read.
func AfterRememberedRead(rec Record, s Send, o Outcome, result ReadResult, p *Policy, now time.Time) Settlement {
	switch {
	case rec.V > Format:
		return Settlement{Success: result.Answered && result.Open}
	case result.Answered && result.Open:
		o.Kind = OutcomeRemembered
		return s.created(rec, o, p, now)
	case !s.owns(rec) && result.Answered:
		return Settlement{Again: true}
	case !s.owns(rec) && rec.Ticket.ID == o.Ticket.ID:
		return Settlement{DeadLetter: true}
	case !s.owns(rec):
		return Settlement{DeadLetter: true, Duplicates: []Ticket{o.Ticket}}
	}
	next := rec.clone()
	next.Attempts = nil
	next.Ticket = o.Ticket
	next.Response = nil
	if !result.Answered { // the next claim reads it again, and does not wait for ever
		next = p.closedInDoubt(next, now, now)
		return Settlement{Next: &next, DeadLetter: true}
	}
	next = p.closedAt(next, now)
	next.Gone = result.Gone
	next = p.settled(next, now)
	return Settlement{Next: &next, Again: true}
}
