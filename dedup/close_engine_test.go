package dedup_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

// TestACloseInAnOutageIsWrittenAfterIt: whoever tells of it tells it once, and
// the record would swallow the next fault.
func TestACloseInAnOutageIsWrittenAfterIt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var away atomic.Bool
		r := newReplicas(&storetest.Faulty{Store: storetest.NewMemory(time.Now), Before: func(string) error {
			if away.Load() {
				return storetest.ErrLost
			}
			return nil
		}}, 1)
		defer r.close()
		c := r.claim("A", "")
		c.Fault.Backend = "snow"
		v, err := r.decide(t.Context(), 0, c)
		if err != nil || v.Hold == nil {
			t.Fatalf("%s, %v", v.Kind, err)
		}
		settled(t, v.Hold, created("T1"))
		time.Sleep(time.Second) // the ticket is indexed beside
		away.Store(true)
		if err := r.engines[0].CloseTicket(t.Context(), "snow", "T1", &r.policy); err == nil {
			t.Fatal("closed in a store out of reach")
		}
		time.Sleep(5 * time.Minute)
		away.Store(false)
		time.Sleep(time.Minute)
		if rec := recordAt(t, r.store, c); rec.State != dedup.Closed {
			t.Errorf("after the outage the record is %s", rec.State)
		}
	})
}

// TestAStormOfClosesInAnOutageIsBounded: who tells of a close that was not taken
// tells it again and again.
func TestAStormOfClosesInAnOutageIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var away atomic.Bool
		var calls atomic.Int64
		r := newReplicas(&storetest.Faulty{Store: storetest.NewMemory(time.Now), Before: func(string) error {
			if calls.Add(1); away.Load() {
				return storetest.ErrLost
			}
			return nil
		}}, 1)
		defer r.close()
		away.Store(true)
		for n := range 5000 {
			for range 2 {
				_ = r.engines[0].CloseTicket(t.Context(), "snow", fmt.Sprint("T", n), &r.policy)
			}
		}
		told := calls.Load()
		away.Store(false)
		time.Sleep(time.Minute)
		if again := calls.Load() - told; again < 1000 || again > 4096 {
			t.Errorf("%d closes were written later", again)
		}
	})
}
