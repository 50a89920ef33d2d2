package dedup_test

import (
	"time"

	"oneticket/dedup"
)

func mutateGone(r *rules) {
	r.settleUpdate = func(rec dedup.Record, ch dedup.Change, o dedup.UpdateOutcome, p *dedup.Policy, now time.Time) dedup.Settlement {
		st := dedup.SettleUpdate(rec, ch, o, p, now)
		if st.Next != nil && st.Next.Gone {
			st.Next.Gone = false
			if p.CanReopen {
				st.Next.FreeAt = st.Next.ClosedAt.Add(p.ReopenWithin)
			}
		}
		return st
	}
}

// mutateClearNone lets a clear claim like a fire.
func mutateClearNone(r *rules) {
	r.offer = func(c dedup.Claim) *dedup.Offer {
		cleared := c.Fault.Fingerprint
		c.Fault.Fingerprint = dedup.Fingerprint{Severity: "A"}
		o := c.Offer()
		o.Fingerprint = cleared
		return o
	}
}

// mutateClearWait suppresses a re-fire while a clear is under way.
func mutateClearWait(r *rules) {
	r.decide = func(rec dedup.Record, c dedup.Claim, now time.Time) dedup.Decision {
		u := rec.Update
		if u != nil && u.Fingerprint.Cleared && u.Holder != c.Holder && now.Before(u.LeaseUntil) && rec.State == dedup.Open && rec.Fingerprint == c.Fault.Fingerprint {
			return dedup.Decision{Kind: dedup.Suppress, Reason: dedup.Refire}
		}
		return dedup.Decide(rec, c, now)
	}
}

func landed(rec dedup.Record) dedup.Record {
	if rec.State == dedup.Closed && rec.InDoubt {
		rec.LandsUntil = time.Time{}
	}
	return rec
}

func mutateClearSettle(r *rules) {
	r.decide = func(rec dedup.Record, c dedup.Claim, now time.Time) dedup.Decision {
		return dedup.Decide(landed(rec), c, now)
	}
	r.afterRead = func(rec dedup.Record, c dedup.Claim, result dedup.ReadResult, now time.Time) dedup.Decision {
		return dedup.AfterRead(landed(rec), c, result, now)
	}
}

// mutateLateAdopt reports a late answer instead of adopting it.
func mutateLateAdopt(r *rules) {
	r.settle = func(rec dedup.Record, s dedup.Send, o dedup.Outcome, p *dedup.Policy, now time.Time) dedup.Settlement {
		if o.Kind == dedup.OutcomeCreated && rec.Holder != s.Holder && (rec.State == dedup.Claimed || rec.State == dedup.Doubtful) {
			return dedup.Settlement{Success: true, Duplicates: []dedup.Ticket{o.Ticket}}
		}
		return dedup.Settle(rec, s, o, p, now)
	}
}

func mutateDuplicateReport(r *rules) {
	r.settle = func(rec dedup.Record, s dedup.Send, o dedup.Outcome, p *dedup.Policy, now time.Time) dedup.Settlement {
		st := dedup.Settle(rec, s, o, p, now)
		st.Duplicates = nil
		return st
	}
}

// mutateStoreEpisode starts every episode with the number 1.
func mutateStoreEpisode(r *rules) {
	r.takeOffer = func(o *dedup.Offer, rec dedup.Record, now time.Time) dedup.Record {
		next := o.Take(rec, now)
		next.Episode = 1
		next.Token = o.Token.Token(1, now)
		return next
	}
}

// mutateVerifyAfter writes the time of the check before the answer.
func mutateVerifyAfter(r *rules) {
	r.decide = func(rec dedup.Record, c dedup.Claim, now time.Time) dedup.Decision {
		d := dedup.Decide(rec, c, now)
		if d.Kind == dedup.Read && rec.State == dedup.Open {
			next := rec
			next.VerifiedAt = now
			d.Next = &next
		}
		return d
	}
}

// mutateLookUpFail is busy for as long as nobody answers.
func mutateLookUpFail(r *rules) {
	r.afterLookUp = func(rec dedup.Record, c dedup.Claim, result dedup.LookUpResult, now time.Time) dedup.Decision {
		if !result.Answered {
			c.Policy = settlingIn(c.Policy, 24*time.Hour)
		}
		return dedup.AfterLookUp(rec, c, result, now)
	}
}

// mutateDoubtLive lets a doubtful record expire like an open one.
func mutateDoubtLive(r *rules) {
	r.decide = func(rec dedup.Record, c dedup.Claim, now time.Time) dedup.Decision {
		if rec.State == dedup.Doubtful && !c.Fault.Fingerprint.Cleared {
			next := c.Offer().Take(rec, now)
			return dedup.Decision{Kind: dedup.Create, Reason: dedup.First, Next: &next}
		}
		return dedup.Decide(rec, c, now)
	}
}

func mutateCloseID(r *rules) {
	r.closeTicket = func(rec dedup.Record, _ string, p *dedup.Policy, now time.Time) *dedup.Record {
		return dedup.CloseTicket(rec, rec.Ticket.ID, p, now)
	}
}

// mutateSwapOwn takes its own write for another's.
func mutateSwapOwn(r *rules) {
	r.nonces = false
	r.settle = func(rec dedup.Record, s dedup.Send, o dedup.Outcome, p *dedup.Policy, now time.Time) dedup.Settlement {
		st := dedup.Settle(rec, s, o, p, now)
		if o.Kind == dedup.OutcomeCreated && rec.State == dedup.Open && rec.Ticket == o.Ticket {
			st.Duplicates = []dedup.Ticket{o.Ticket}
		}
		return st
	}
}

func mutateWaitEpisode(r *rules) {
	r.decide = func(rec dedup.Record, c dedup.Claim, now time.Time) dedup.Decision {
		c.Met = 0
		return dedup.Decide(rec, c, now)
	}
}

// mutateOwnStep takes every claim of its own for the right to create.
func mutateOwnStep(r *rules) {
	r.nonces = false
	r.decide = func(rec dedup.Record, c dedup.Claim, now time.Time) dedup.Decision {
		d := dedup.Decide(rec, c, now)
		if d.Kind == dedup.LookUp && d.Next == nil {
			return dedup.Decision{Kind: dedup.Create, Reason: dedup.First}
		}
		return d
	}
}

// mutateTokenNext believes every answer.
func mutateTokenNext(r *rules) {
	r.settle = func(rec dedup.Record, s dedup.Send, o dedup.Outcome, p *dedup.Policy, now time.Time) dedup.Settlement {
		st := dedup.Settle(rec, s, o, p, now)
		st.Success = st.Success || o.Kind == dedup.OutcomeCreated
		return st
	}
}

func mutateKeepDoubt(r *rules) {
	r.settle = func(rec dedup.Record, s dedup.Send, o dedup.Outcome, p *dedup.Policy, now time.Time) dedup.Settlement {
		st := dedup.Settle(rec, s, o, p, now)
		if st.Next != nil && st.Next.State == dedup.Open {
			st.Next.Attempts = nil
		}
		return st
	}
}

// mutateRateOfWorse holds back what got worse too.
func mutateRateOfWorse(r *rules) {
	r.decide = func(rec dedup.Record, c dedup.Claim, now time.Time) dedup.Decision {
		d := dedup.Decide(rec, c, now)
		if d.Kind == dedup.Update && d.Reason == dedup.Changed && rec.State == dedup.Open && len(rec.UpdatedAt) > 0 && d.Next != nil {
			return dedup.Decision{Kind: dedup.Suppress, Reason: dedup.Changed, Paced: true}
		}
		return d
	}
}
