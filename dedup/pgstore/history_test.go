package pgstore_test

import (
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/pgstore"
	"oneticket/dedup/pgstore/pgtest"
	"oneticket/dedup/storetest/history"
)

// four are four processes' stores on the same data.
func four(t *testing.T, url string) []dedup.Store {
	schema := fresh()
	var stores []dedup.Store
	for range 4 {
		o := pgstore.Options{URL: url, Schema: schema, Timeout: time.Second, Connections: 4}
		stores = append(stores, open(t, o.Once()))
	}
	return stores
}

// longer than a call may take, so that every client's call ends without an
// answer; the server may apply it when it wakes.
const frozen = 1200 * time.Millisecond

func TestCallsOfManyClientsAreLinearizable(t *testing.T) {
	history.Run(t, history.Options{Clients: four(t, pgtest.Shared(t).SocketURL())})
}

func TestCallsAreLinearizableWhileTheServerIsKilledAndFrozen(t *testing.T) {
	s := pgtest.For(t)
	disturbances := []func() error{
		func() error { s.Kill(); return s.Run() },
		func() error {
			thaw := s.Freeze()
			time.Sleep(frozen)
			thaw()
			return nil
		},
		func() error { return s.KillBackend() },
	}
	times := 0
	history.Run(t, history.Options{
		Clients: four(t, s.URL()),
		Disturb: func() error { times++; return disturbances[times%len(disturbances)]() },
	})
}

// What a server that is killed before its log is written loses is seen.
func TestAServerThatForgetsIsRefused(t *testing.T) {
	s := pgtest.For(t, "synchronous_commit=off", "wal_writer_delay=10s")
	h, err := history.Record(t.Context(), history.Options{
		Clients: four(t, s.URL()), Times: 2,
		Disturb: func() error { s.Kill(); return s.Run() },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Check(t.TempDir()); err == nil {
		t.Errorf("seed %d: it passes", h.Seed)
	}
}
