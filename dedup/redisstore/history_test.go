package redisstore_test

import (
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/redisstore"
	"oneticket/dedup/storetest/history"
)

// four are four processes' stores on the same data.
func four(t *testing.T, o redisstore.Options) []dedup.Store {
	o.Timeout = 250 * time.Millisecond
	var stores []dedup.Store
	for range 4 {
		store, err := redisstore.New(o.Once())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		stores = append(stores, store)
	}
	return stores
}

// longer than a call may take, so that every client's call ends without an
// answer; the server applies it when it wakes.
const frozen = 400 * time.Millisecond

func TestCallsOfManyClientsAreLinearizable(t *testing.T) {
	s := serve(t)
	history.Run(t, history.Options{Clients: four(t, redisstore.Options{URL: s.socketURL()})})
}

func TestCallsAreLinearizableWhileTheServerIsKilledAndFrozen(t *testing.T) {
	s := serve(t, "--appendonly", "yes", "--appendfsync", "always")
	kills := 0
	history.Run(t, history.Options{
		Clients: four(t, redisstore.Options{URL: s.url()}),
		Disturb: func() error {
			if kills++; kills%2 == 0 {
				thaw := s.freeze()
				time.Sleep(frozen)
				thaw()
				return nil
			}
			s.kill()
			return s.run()
		},
	})
}

// What a server without a log on its disk loses when it is killed is seen.
func TestAServerThatForgetsIsRefused(t *testing.T) {
	s := serve(t)
	h, err := history.Record(t.Context(), history.Options{
		Clients: four(t, redisstore.Options{URL: s.url()}), Times: 2,
		Disturb: func() error { s.kill(); return s.run() },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Check(t.TempDir()); err == nil {
		t.Errorf("seed %d: it passes", h.Seed)
	}
}

// frozenInTurn freezes one master after another.
func frozenInTurn(t *testing.T, nodes []*server) {
	next := 0
	history.Run(t, history.Options{
		Clients: four(t, clusterOptions(nodes)), Keys: 12,
		Disturb: func() error {
			thaw := nodes[next%len(nodes)].freeze()
			next++
			time.Sleep(frozen)
			thaw()
			return nil
		},
	})
}
