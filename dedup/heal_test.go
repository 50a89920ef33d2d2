package dedup_test

import (
	"context"
	"testing"
	"time"

	"oneticket/dedup"
)

// TestTheWordThatNothingWasSentMayComeDuringALook: it is believed, and no claim
// is left behind.
func TestTheWordThatNothingWasSentMayComeDuringALook(t *testing.T) {
	during := func(t *testing.T, o *office, then func(stop context.CancelFunc)) bool {
		hold := o.lost(false)
		o.desk.delay = 2 * time.Second
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		made := make(chan bool, 1)
		go func() { made <- hold.Follow(ctx, true, dedup.Resend{Tries: 1, First: time.Second}) }()
		time.Sleep(time.Second)
		if o.desk.lookups.Load() != 1 {
			t.Error("no look is under way")
		}
		if err := hold.Correct(t.Context(), dedup.OutcomeNeverSent); err != nil {
			t.Error(err)
		}
		then(stop)
		return <-made
	}
	t.Run("it is sent again", func(t *testing.T) {
		inOffice(t, func(t *testing.T, o *office) {
			if !during(t, o, func(context.CancelFunc) {}) || o.desk.count() != 1 {
				t.Errorf("%d tickets", o.desk.count())
			}
			o.want(o.fire("2"), dedup.Suppress, dedup.Refire)
		})
	})
	t.Run("the look is stopped, and the next request is the first", func(t *testing.T) {
		inOffice(t, func(t *testing.T, o *office) {
			if during(t, o, func(stop context.CancelFunc) { stop() }) || o.desk.count() != 0 {
				t.Errorf("%d tickets", o.desk.count())
			}
			o.want(o.fire("2"), dedup.Create, dedup.First)
		})
	})
}

// TestATryThatMayHaveMadeATicketIsLookedFor before the next one, and where
// nobody answers there is no next one.
func TestATryThatMayHaveMadeATicketIsLookedFor(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		v := o.fire("2")
		o.settle(v, dedup.Outcome{Kind: dedup.OutcomeNeverSent})
		o.desk.onCreate = []dedup.OutcomeKind{dedup.OutcomeUnknown}
		o.desk.silent = true
		if v.Hold.Follow(t.Context(), false, dedup.Resend{Tries: 4, First: time.Second, Most: time.Second}) {
			t.Error("it says that there is a ticket")
		}
		if o.desk.count() != 0 || o.desk.lookups.Load() != 3 {
			t.Errorf("%d tickets, %d look-ups", o.desk.count(), o.desk.lookups.Load())
		}
	})
}
