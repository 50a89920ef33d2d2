package main

import (
	"time"

	"oneticket/cmd/oneticket/admin"
	"oneticket/config"
	"oneticket/dedup"
)

// A tally is a census that is being taken.
type tally struct {
	admin.Census
	now  time.Time // of the store's clock, when it began
	seen int
}

// newTally counts for the rules: what is in the store of others is not shown.
func newTally(rules []*config.Rule, now time.Time) *tally {
	t := &tally{now: now}
	t.Live, t.Updates = map[string]int64{}, map[string]admin.Updates{}
	for _, r := range rules {
		t.Live[r.Name], t.Updates[r.Name] = 0, admin.Updates{}
	}
	return t
}

func (t *tally) add(rule string, rec *dedup.Record) {
	t.seen++
	if _, ours := t.Live[rule]; !ours || rec.Observed || rec.V > dedup.Format {
		return
	}
	switch rec.State {
	case dedup.Open, dedup.Closed:
		u := t.Updates[rule]
		u.Add(rec.Updates)
		t.Updates[rule] = u
		if rec.State == dedup.Open && t.now.Before(rec.ExpiresAt) {
			t.Live[rule]++
		}
	case dedup.Doubtful, dedup.Claimed:
		lost := rec.State == dedup.Claimed && !t.now.Before(rec.LeaseUntil) // nobody has noted its end yet
		if lost || rec.State == dedup.Doubtful {
			t.Doubtful++
			t.Oldest = max(t.Oldest, t.now.Sub(rec.SentAt))
		}
	}
}
