package dedup

import (
	"slices"
	"time"
)

// An UpdateRate bounds the updates of one ticket: at most Count in any span of
// Per. The zero value is without bound.
type UpdateRate struct {
	Count int
	Per   time.Duration
}

// maxUpdates is how many times of updates a record keeps. A rate of more is held
// as one of so many in a shorter span.
const maxUpdates = 60

func (r UpdateRate) kept() UpdateRate {
	if r.Count > maxUpdates {
		r.Per = r.Per * maxUpdates / time.Duration(r.Count)
		r.Count = maxUpdates
	}
	return r
}

// free is when one more update may be sent; not later than now where it may be
// at once.
func (r UpdateRate) free(sent []time.Time) time.Time {
	r = r.kept()
	if r.Count <= 0 || r.Per <= 0 || len(sent) < r.Count {
		return time.Time{}
	}
	return sent[len(sent)-r.Count].Add(r.Per)
}

// with is sent and one more, less what no longer counts.
func (r UpdateRate) with(sent []time.Time, now time.Time) []time.Time {
	r = r.kept()
	if r.Count <= 0 || r.Per <= 0 {
		return nil
	}
	recent := slices.DeleteFunc(slices.Clone(sent), func(t time.Time) bool { return !now.Before(t.Add(r.Per)) })
	return append(recent[max(0, len(recent)-r.Count+1):], now)
}

// mayWait reports whether the change may be held back by a rate. A fault that
// got worse is told at once, and one that is over is; a lesser severity only
// came down by an update that counted, so that none of them comes without end.
func (c *Claim) mayWait(rec Record) bool {
	return !c.cleared() && !c.worse(rec.Fingerprint.Severity)
}

// paced is what becomes of a change that the rate holds back until the time.
// What the map calls lesser is answered from the record, which keeps the old
// fingerprint, so that the next re-fire tries again. Of any other nobody knows
// that it is not worse: it is never answered with a success.
func (c *Claim) paced(rec Record, until, now time.Time) Decision {
	if !c.lower(rec.Fingerprint.Severity, c.Fault.Fingerprint.Severity) {
		return Decision{Kind: Busy, Reason: IsBusy, Until: until, Paced: true}
	}
	d := c.refire(rec, now)
	d.Paced = true
	return d
}
