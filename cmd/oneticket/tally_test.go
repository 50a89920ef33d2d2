package main

import (
	"testing"
	"time"

	"oneticket/config"
	"oneticket/dedup"
)

// TestWhatACensusCounts: live is what suppresses, doubtful what nobody knows
// the outcome of, and what is not a rule's of this configuration is nobody's.
func TestWhatACensusCounts(t *testing.T) {
	now := time.Now()
	before, after := now.Add(-time.Minute), now.Add(time.Minute)
	for _, c := range []struct {
		name           string
		rule           string
		rec            dedup.Record
		live, doubtful int64
		oldest         time.Duration
	}{
		{"open", "faults", dedup.Record{State: dedup.Open, ExpiresAt: after}, 1, 0, 0},
		{"expired", "faults", dedup.Record{State: dedup.Open, ExpiresAt: before}, 0, 0, 0},
		{"closed", "faults", dedup.Record{State: dedup.Closed, FreeAt: after}, 0, 0, 0},
		{"being created", "faults", dedup.Record{State: dedup.Claimed, LeaseUntil: after, SentAt: before}, 0, 0, 0},
		{"its holder is lost", "faults", dedup.Record{State: dedup.Claimed, LeaseUntil: before, SentAt: before}, 0, 1, time.Minute},
		{"doubtful", "faults", dedup.Record{State: dedup.Doubtful, SentAt: before}, 0, 1, time.Minute},
		{"observed only", "faults", dedup.Record{State: dedup.Open, ExpiresAt: after, Observed: true}, 0, 0, 0},
		{"of a newer format", "faults", dedup.Record{V: dedup.Format + 1, State: dedup.Open, ExpiresAt: after}, 0, 0, 0},
		{"of nobody", "gone", dedup.Record{State: dedup.Open, ExpiresAt: after}, 0, 0, 0},
		{"of a program's own", "", dedup.Record{State: dedup.Doubtful, SentAt: before}, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			tally := newTally([]*config.Rule{{Name: "faults"}, {Name: "quiet"}}, now)
			tally.add(c.rule, &c.rec)
			if got := tally.Live["faults"]; got != c.live || len(tally.Live) != 2 || tally.Live["quiet"] != 0 {
				t.Errorf("live %v, want %d", tally.Live, c.live)
			}
			if tally.Doubtful != c.doubtful || tally.Oldest != c.oldest || tally.seen != 1 {
				t.Errorf("%d doubtful, the oldest of %s; want %d, %s", tally.Doubtful, tally.Oldest, c.doubtful, c.oldest)
			}
		})
	}
}
