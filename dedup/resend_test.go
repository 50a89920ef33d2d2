package dedup_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

// TestAFaultThatWasClearedIsNotSentAgain: neither where the clear met no
// record, nor where it met what the refusal had restored.
func TestAFaultThatWasClearedIsNotSentAgain(t *testing.T) {
	tries := dedup.Resend{Tries: 4, First: time.Second, Most: time.Second}
	cases := []struct {
		name   string
		before func(*office) // the create that is not taken
		clear  dedup.Reason
		is     int // tickets, with those of before
	}{
		{"that had no record", func(*office) {}, dedup.UnmatchedClear, 0},
		{"whose last ticket is closed", func(o *office) {
			o.settle(o.fire("2"), o.desk.make("idem:1", "2"))
			o.want(o.fire("clear"), dedup.Update, dedup.Changed)
		}, dedup.Cleared, 1},
		{"whose last record had expired", func(o *office) {
			o.settle(o.fire("2"), o.desk.make("idem:1", "2"))
			time.Sleep(2 * time.Hour) // of the bubble
		}, dedup.Changed, 1},
	}
	for _, c := range cases {
		for _, cleared := range []bool{true, false} {
			t.Run(c.name+map[bool]string{true: ", cleared", false: ", not cleared"}[cleared], func(t *testing.T) {
				inOffice(t, func(t *testing.T, o *office) {
					c.before(o)
					v := o.fire("2")
					o.settle(v, dedup.Outcome{Kind: dedup.OutcomeNeverSent})
					made := make(chan bool, 1)
					go func() { made <- v.Hold.Follow(t.Context(), false, tries) }()
					if cleared {
						time.Sleep(500 * time.Millisecond)
						if got := o.fire("clear"); got.Reason != c.clear {
							t.Errorf("the clear: %s %s", got.Kind, got.Reason)
						}
					}
					want := c.is
					if !cleared {
						want++
					}
					if <-made == cleared || o.desk.count() != want {
						t.Errorf("%d tickets, want %d", o.desk.count(), want)
					}
				})
			})
		}
	}
}

// TestAClearBetweenTheLookAndTheClaimEndsItToo: the store lets a clear come
// first at the very claim of what is sent again.
func TestAClearBetweenTheLookAndTheClaimEndsItToo(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store := &lateStore{Store: storetest.NewMemory(time.Now)}
		o := newOffice(t)
		o.engine = dedup.NewEngine(dedup.EngineOptions{Store: store})
		t.Cleanup(o.engine.Close)
		v := o.fire("2")
		o.settle(v, dedup.Outcome{Kind: dedup.OutcomeNeverSent})
		store.before = func() { o.fire("clear") }
		if v.Hold.Follow(t.Context(), false, dedup.Resend{Tries: 4, First: time.Second, Most: time.Second}) || o.desk.count() != 0 {
			t.Errorf("%d tickets", o.desk.count())
		}
	})
}

// A lateStore lets something come first, once, before a claim that may take the
// record.
type lateStore struct {
	dedup.Store
	before func()
}

func (s *lateStore) Claim(ctx context.Context, ref dedup.Ref, offer *dedup.Offer) (dedup.Found, error) {
	if first := s.before; first != nil && offer != nil {
		s.before = nil
		first()
	}
	return s.Store.Claim(ctx, ref, offer)
}

// TestARetryThatNobodyCanAskForIsCounted as a possible double, unless the
// backend knows its token again.
func TestARetryThatNobodyCanAskForIsCounted(t *testing.T) {
	cases := []struct {
		name   string
		memory dedup.Memory
		asks   bool
		want   []string
	}{
		{"neither asked nor known again", dedup.NoMemory, false, []string{"idem:1"}},
		{"known again", dedup.Remembers, false, nil},
		{"folded", dedup.Folds, false, nil},
		{"asked, and surely not there", dedup.NoMemory, true, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var uncertain []string
				o := newOffice(t)
				o.engine = dedup.NewEngine(dedup.EngineOptions{Store: storetest.NewMemory(time.Now), Report: func(r dedup.Report) {
					if r.Uncertain != "" {
						uncertain = append(uncertain, r.Uncertain)
					}
				}})
				t.Cleanup(o.engine.Close)
				o.policy.Memory, o.policy.CanLookUp = c.memory, c.asks
				v := o.fire("2")
				v.Hold.MarkSent()
				o.settle(v, dedup.Outcome{Kind: dedup.OutcomeUnknown})
				time.Sleep(o.policy.Settle + time.Second)
				o.want(o.fire("2"), dedup.Create, dedup.Retried)
				if !slices.Equal(uncertain, c.want) {
					t.Errorf("possible doubles %q, want %q", uncertain, c.want)
				}
			})
		})
	}
}

// TestACreateThatWentWithoutItsTokenIsNotTakenForAbsent: a replica that looks
// for it finds nothing, and that proves nothing.
func TestACreateThatWentWithoutItsTokenIsNotTakenForAbsent(t *testing.T) {
	for name, before := range map[string]bool{"from the first": true, "when it was sent once more": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				possible := 0
				o := newOffice(t)
				o.engine = dedup.NewEngine(dedup.EngineOptions{Store: storetest.NewMemory(time.Now), Report: func(r dedup.Report) {
					if r.Uncertain != "" {
						possible++
					}
				}})
				t.Cleanup(o.engine.Close)
				v := o.fire("2")
				if before {
					v.Hold.Bare()
				}
				v.Hold.MarkSent()
				time.Sleep(time.Second) // the mark is written beside
				v.Hold.Bare()           // at the latest: it was sent once more, without
				o.settle(v, dedup.Outcome{Kind: dedup.OutcomeUnknown})
				time.Sleep(o.policy.Settle + time.Second)
				o.want(o.fire("2"), dedup.Create, dedup.RetriedBlind)
				if possible != 1 {
					t.Errorf("%d possible doubles are counted", possible)
				}
			})
		})
	}
}

// TestAnUpdateHasTheTokenOfItsEpisode: a backend that folds by the token, or
// takes it for the name of the ticket, knows no other.
func TestAnUpdateHasTheTokenOfItsEpisode(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		for range 2 {
			v := o.fire("3")
			o.settle(v, o.desk.make(v.Hold.Token(), "3"))
			o.want(o.fire("1"), dedup.Update, dedup.Changed)
			o.want(o.fire("clear"), dedup.Update, dedup.Changed)
		}
		if want := []string{"idem:1", "idem:1", "idem:1.2", "idem:1.2"}; !slices.Equal(o.desk.updated, want) {
			t.Errorf("the updates had the tokens %q, want %q", o.desk.updated, want)
		}
	})
}
