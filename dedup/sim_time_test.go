package dedup_test

import (
	"time"

	"oneticket/dedup"
)

// next is the next instant at which something changes by time alone; what is
// under way ends before time goes on.
func (w *world) next() int {
	next := farAway
	soonest := func(second int) {
		if second > w.now {
			next = min(next, second)
		}
	}
	end := func(t time.Time, after int) {
		if !t.IsZero() {
			soonest(second(t) + after)
		}
	}
	rec := &w.rec
	if rec.State == dedup.Claimed {
		end(rec.LeaseUntil, 0)
	}
	for _, a := range rec.Attempts {
		end(a.EndedAt, settle)
	}
	if rec.Update != nil {
		end(rec.Update.LeaseUntil, 0)
	}
	end(rec.LandsUntil, 0)
	if rec.State == dedup.Open {
		end(rec.ExpiresAt, 0)
		if w.cfg.policy.VerifyEvery > 0 {
			end(rec.VerifiedAt, verify)
		}
	}
	if rec.State == dedup.Closed && w.cfg.policy.ReopenWithin > 0 {
		end(rec.ClosedAt, reopen)
	}
	if next = min(next, w.limit()); next >= farAway {
		return w.now
	}
	return next
}

// farAway is later than every instant of a schedule.
const farAway = 1 << 29

// limit is the time at which something under way must have ended.
func (w *world) limit() int {
	limit := farAway
	for i := range w.reqs {
		switch q := &w.reqs[i]; {
		case q.live():
			limit = min(limit, q.sentAt+exchange)
		case q.phase == looked || q.phase == hasRead || q.phase == rememberTold:
			limit = min(limit, q.askedAt+exchange) // outside calls are bounded, too
		case q.underWay():
			limit = min(limit, q.until)
		}
	}
	return limit
}
