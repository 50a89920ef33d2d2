package dedup

import (
	"slices"
	"time"
)

// A LookUpResult is what the backend says when it is asked for a token.
type LookUpResult struct {
	Answered bool // false: refused (401, 403, 404, 5xx), timed out, or not possible
	Later    bool // with Answered false: it was not asked, for lack of a turn or a way; it can be later
	Tickets  []FoundTicket
}

// A FoundTicket carries exactly the token that was asked for.
type FoundTicket struct {
	Ticket   Ticket
	Open     bool
	Created  time.Time // zero when the backend does not say
	Response *Response // in the form of a create's answer
}

// AfterLookUp goes on where Decide said LookUp. The claim must hold rec for
// the look-up; else all is decided again.
func AfterLookUp(rec Record, c Claim, result LookUpResult, now time.Time) Decision {
	if rec.V > Format || rec.State != Claimed || !rec.Looking || rec.Holder != c.Holder || !now.Before(rec.LeaseUntil) {
		return Decision{Kind: Again}
	}
	found := ofThisEpisode(rec, result.Tickets)
	settled := rec.lastEnded().Add(c.Policy.Settle)
	open := onlyOpen(found)
	switch {
	case len(open) > 0:
		return c.foundOpen(rec, open, now)
	case len(found) > 0 && (len(found) >= len(rec.Attempts) || !now.Before(settled)):
		return c.foundClosed(rec, found[0], now)
	case result.Answered && rec.ClaimedAt.Before(settled), now.Before(settled):
		// What was not there when it was asked for, after ClaimedAt, may have come since.
		return c.notYet(rec, settled, now)
	case result.Answered:
		return c.notFound(rec, now)
	case result.Later && now.Before(settled.Add(laterMost)):
		return c.notYet(rec, now.Add(laterRetry), now)
	default:
		return c.notAnswered(rec, now)
	}
}

// A token that could not be asked for yet is busy for so long, and then counts
// as one that cannot be looked up: our own pace is no reason for a double, but
// neither for an incident that waits for ever.
const (
	laterMost  = 5 * time.Minute
	laterRetry = 5 * time.Second
)

// closedPrior is the closed record whose unresolved attempts are looked up.
func (r *Record) closedPrior() (Record, bool) {
	if p := r.Prior; p != nil && p.State == Closed && p.Episode == r.Episode {
		prior := p.clone()
		prior.Version, prior.Trail = r.Version, r.Trail
		prior.Attempts = r.clone().Attempts
		return prior, true
	}
	return Record{}, false
}

// ofThisEpisode leaves out what is closed and was closed before the unresolved
// sends: the record's own closed ticket, and what is older than the first send
// of the token, a ticket of last week. The oldest comes first.
func ofThisEpisode(rec Record, tickets []FoundTicket) []FoundTicket {
	first := rec.firstSent()
	prior, _ := rec.closedPrior()
	kept := slices.DeleteFunc(slices.Clone(tickets), func(t FoundTicket) bool {
		older := !t.Created.IsZero() && t.Created.Before(first.Truncate(time.Second))
		return !t.Open && (older || t.Ticket.ID == prior.Ticket.ID)
	})
	slices.SortStableFunc(kept, func(a, b FoundTicket) int { return a.Created.Compare(b.Created) })
	return kept
}

func (c *Claim) foundOpen(rec Record, open []FoundTicket, now time.Time) Decision {
	fp := sentFingerprint(rec.Attempts)
	if _, wasClosed := rec.closedPrior(); wasClosed {
		fp = Unknown // it may be the ticket that was thought closed
	}
	next := rec.clone()
	next.Attempts = nil
	next.Response = open[0].Response
	next.AnsweredAt = now
	next = c.Bearer.joins(c.Policy.opened(next, open[0].Ticket, fp, now), now)
	d := Decision{Kind: Again, Reason: Recovered}
	if !c.changes(next) {
		d.Kind = Suppress
	}
	for _, other := range open[1:] {
		d.Duplicates = append(d.Duplicates, other.Ticket)
	}
	return c.decided(d, next, now)
}

func (c *Claim) foundClosed(rec Record, found FoundTicket, now time.Time) Decision {
	next := rec.clone()
	next.Attempts = nil
	next.Ticket = found.Ticket
	next.Response = found.Response
	next = c.Policy.closedAt(next, now)
	return c.overOrAgain(next, now)
}

// overOrAgain: a clear is content that the episode is over; a fire is decided
// again, on the closed record.
func (c *Claim) overOrAgain(closed Record, now time.Time) Decision {
	if c.cleared() {
		return c.decided(Decision{Kind: Suppress, Reason: Cleared}, closed, now)
	}
	return Decision{Kind: Again, Next: &closed}
}

// notFound: the send can no longer land. The absence is sure only when it has
// left through us, with the token.
func (c *Claim) notFound(rec Record, now time.Time) Decision {
	blind := slices.ContainsFunc(rec.Attempts, func(a Attempt) bool { return !a.Sent })
	resolved := rec.clone()
	resolved.Attempts = nil
	prior, wasClosed := rec.closedPrior()
	switch {
	case c.cleared() && blind:
		return c.notAnswered(rec, now)
	case c.cleared():
		return c.overOrAgain(c.Policy.closedAt(resolved, now), now)
	case wasClosed:
		prior.Attempts = nil
		next := c.Policy.settled(prior, now)
		return Decision{Kind: Again, Next: &next}
	case blind:
		return c.retry(rec, RetriedBlind, now)
	default:
		return c.retry(resolved, Retried, now)
	}
}

// notAnswered: nobody can tell, and a lost incident is worse than a double.
func (c *Claim) notAnswered(rec Record, now time.Time) Decision {
	if c.cleared() {
		d := c.decided(Decision{Kind: Pass, Reason: UnmatchedClear}, c.Policy.closedInDoubt(rec, now, now), now)
		d.DeadLetter = true
		return d
	}
	if prior, wasClosed := rec.closedPrior(); wasClosed {
		d := c.create(prior, WasClosed, now)
		d.Uncertain = rec.Token
		return d
	}
	d := c.retry(rec, Retried, now)
	d.Uncertain = rec.Token
	return d
}

// notYet gives the claim back: the create may still land.
func (c *Claim) notYet(rec Record, settled, now time.Time) Decision {
	next, wasClosed := rec.closedPrior()
	if wasClosed {
		next = c.Policy.settled(next, now)
	} else {
		next = c.Policy.doubtful(rec.clone(), now)
	}
	return Decision{Kind: Busy, Reason: IsBusy, Next: &next, Until: settled}
}

// A ReadResult is what the backend says when a ticket is read by its id.
type ReadResult struct {
	Answered bool // false: refused, timed out, or not possible
	Open     bool
	Gone     bool // 404 or 410
}

// AfterRead goes on where Decide said Read on rec: what it writes holds only
// if the record is still the one that was read.
func AfterRead(rec Record, c Claim, result ReadResult, now time.Time) Decision {
	switch {
	case rec.V > Format:
		return Decision{Kind: Again}
	case rec.State == Closed && rec.InDoubt && rec.Update == nil && !c.cleared() && !now.Before(rec.LandsUntil):
		return c.readInDoubt(rec, result, now)
	case rec.State != Open || (rec.Update != nil && rec.Update.Fingerprint.Cleared):
		return Decision{Kind: Again}
	case !result.Answered: // max_age bounds how long this can go on
		return c.unread(rec, now)
	case result.Open:
		c.Verified = true
		next := rec.clone()
		next.VerifiedAt, next.OpenedAt = now, now
		next = c.Bearer.joins(next, now)
		if longer, due := c.extended(next, now); due {
			next = longer
		}
		if c.changes(rec) {
			return Decision{Kind: Again, Next: &next}
		}
		return c.decided(Decision{Kind: Suppress, Reason: Verified, Forward: c.Policy.OnRefireForward}, next, now)
	default:
		next := c.Policy.closedAt(rec.clone(), now)
		next.Gone = result.Gone
		next = c.Policy.settled(next, now)
		return Decision{Kind: Again, Next: &next}
	}
}

// unread answers a re-fire although the ticket could not be read; it writes,
// because the record may have been closed while nobody answered.
func (c *Claim) unread(rec Record, now time.Time) Decision {
	without := *c.Policy
	without.VerifyEvery = 0
	claim := *c
	claim.Policy = &without
	d := claim.onOpen(rec, now)
	if d.Next == nil {
		next := rec.clone()
		next.SeenAt = now
		d = c.decided(d, next, now)
	}
	return d
}

func (c *Claim) readInDoubt(rec Record, result ReadResult, now time.Time) Decision {
	switch {
	case !result.Answered:
		return c.abandon(rec, now)
	case result.Open:
		next := c.Bearer.joins(c.Policy.opened(rec.clone(), rec.Ticket, Unknown, now), now)
		return Decision{Kind: Again, Next: &next}
	default:
		next := rec.clone()
		next.InDoubt = false
		next.Gone = rec.Gone || result.Gone
		next = c.Policy.settled(next, now)
		return Decision{Kind: Again, Next: &next}
	}
}
