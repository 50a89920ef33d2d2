package dedup_test

import (
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

func TestALateNeverSentRemovesItsOwnAttemptOnly(t *testing.T) {
	for name, c := range map[string]struct {
		between func(t *testing.T, e *dedup.Engine, first *dedup.Hold)
		state   dedup.State
		left    int // unresolved attempts
	}{
		"the record is in doubt": {state: dedup.None},
		"it was settled by the entry": {
			between: func(t *testing.T, _ *dedup.Engine, first *dedup.Hold) { correct(t, first) },
			state:   dedup.None,
		},
		"a retry is under way": {
			between: func(t *testing.T, e *dedup.Engine, _ *dedup.Hold) { again(t, e) },
			state:   dedup.Claimed,
		},
		"a retry is in doubt too": {
			between: func(t *testing.T, e *dedup.Engine, _ *dedup.Hold) {
				settled(t, again(t, e), dedup.Outcome{Kind: dedup.OutcomeUnknown})
			},
			state: dedup.Doubtful, left: 1,
		},
		"a retry has made the ticket": {
			between: func(t *testing.T, e *dedup.Engine, _ *dedup.Hold) {
				settled(t, again(t, e), dedup.Outcome{Kind: dedup.OutcomeCreated, Ticket: dedup.Ticket{ID: "T1"}})
			},
			state: dedup.Open,
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := storetest.NewMemory(time.Now)
			e := dedup.NewEngine(dedup.EngineOptions{Store: store})
			defer e.Close()
			first := again(t, e)
			settled(t, first, dedup.Outcome{Kind: dedup.OutcomeUnknown})
			if c.between != nil {
				c.between(t, e, first)
			}
			correct(t, first)
			rec := recordAt(t, store, lateClaim())
			if rec.State != c.state || len(rec.Attempts) != c.left {
				t.Errorf("the record is %s with %d attempts, want %s with %d", rec.State, len(rec.Attempts), c.state, c.left)
			}
			if rec.State == dedup.None && len(rec.Trail) != 1 {
				t.Errorf("the trail tells %d decisions, want 1", len(rec.Trail))
			}
		})
	}
}

func TestACorrectionBeforeTheSettleIsTheSettle(t *testing.T) {
	store := storetest.NewMemory(time.Now)
	e := dedup.NewEngine(dedup.EngineOptions{Store: store})
	defer e.Close()
	h := again(t, e)
	correct(t, h)
	settled(t, h, dedup.Outcome{Kind: dedup.OutcomeUnknown})
	if rec := recordAt(t, store, lateClaim()); rec.State != dedup.None || len(rec.Attempts) != 0 {
		t.Errorf("the record is %s", rec.State)
	}
}

func correct(t *testing.T, h *dedup.Hold) {
	t.Helper()
	if err := h.Correct(t.Context(), dedup.OutcomeNeverSent); err != nil {
		t.Fatal(err)
	}
}

// again lets a create go; in doubt is decided as soon as the clock has moved.
func again(t *testing.T, e *dedup.Engine) *dedup.Hold {
	t.Helper()
	c := lateClaim()
	policy := *c.Policy
	policy.Settle = 0
	c.Policy = &policy
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(time.Millisecond) {
		v, err := e.Decide(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if v.Hold != nil {
			v.Hold.MarkSent()
			return v.Hold
		}
	}
	t.Fatal("it is never let go")
	return nil
}

func settled(t *testing.T, h *dedup.Hold, o dedup.Outcome) {
	t.Helper()
	if _, err := h.Settle(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}
