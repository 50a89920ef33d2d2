package pgstore_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/pgstore"
	"oneticket/dedup/pgstore/pgtest"
)

func count(t *testing.T, s *pgtest.Server, schema, table string) int {
	t.Helper()
	return pgtest.Ask[int](t, s, fmt.Sprintf("SELECT count(*) FROM %q.%s", schema, table))
}

func TestWhatIsOverItsKeepIsSwept(t *testing.T) {
	s := pgtest.Shared(t)
	schema := fresh()
	var ahead atomic.Int64
	store := open(t, pgstore.Options{URL: s.SocketURL(), Schema: schema, Watch: time.Hour, Offset: func() time.Duration { return time.Duration(ahead.Load()) }})
	for i := range 600 {
		ref := refOf(fmt.Sprint(i))
		o := offerOf("h", ref)
		if i < 100 {
			o.Keep = 48 * time.Hour
		}
		if _, err := store.Claim(t.Context(), ref, o); err != nil {
			t.Fatal(err)
		}
		if _, _, err := store.KeepClose(t.Context(), "snow", string(ref.Key), o.Keep); err != nil {
			t.Fatal(err)
		}
	}
	never := dedup.Ref{Rule: "r", Key: "without an end"}
	if _, err := store.Swap(t.Context(), never, 0, dedup.Record{State: dedup.None, Episode: 3}, ""); err != nil {
		t.Fatal(err)
	}
	newer := dedup.Ref{Rule: "r", Key: "of a newer format"}
	if _, err := store.Swap(t.Context(), newer, 0, dedup.Record{V: dedup.Format + 1, KeepUntil: time.Unix(1, 0)}, ""); err != nil {
		t.Fatal(err)
	}
	ahead.Store(int64(25 * time.Hour))
	if err := store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if records, tickets := count(t, s, schema, "record"), count(t, s, schema, "ticket"); records != 102 || tickets != 100 {
		t.Fatalf("%d records and %d tickets are left, want 102 and 100", records, tickets)
	}
}

// One that somebody is about to write is passed by, and the others go.
func TestASweepWaitsForNobody(t *testing.T) {
	s := pgtest.Shared(t)
	schema := fresh()
	var ahead atomic.Int64
	store := open(t, pgstore.Options{URL: s.SocketURL(), Schema: schema, Watch: time.Hour, Offset: func() time.Duration { return time.Duration(ahead.Load()) }})
	for i := range 10 {
		claimed(t, store, refOf(fmt.Sprint(i)))
	}
	ahead.Store(int64(25 * time.Hour))
	release := holdRow(t, s, schema, refOf("3"))
	if err := store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := count(t, s, schema, "record"); n != 1 {
		t.Errorf("%d records are left, want the one that is held", n)
	}
	release()
	eventually(t, "the last one goes", func() bool {
		if err := store.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		return count(t, s, schema, "record") == 0
	})
}

func TestAStoreSweepsByItself(t *testing.T) {
	s := pgtest.Shared(t)
	schema := fresh()
	first := open(t, pgstore.Options{URL: s.SocketURL(), Schema: schema})
	claimed(t, first, refOf("old"))
	open(t, pgstore.Options{URL: s.SocketURL(), Schema: schema, Watch: 10 * time.Millisecond, Offset: func() time.Duration { return 25 * time.Hour }})
	eventually(t, "the old record goes", func() bool { return count(t, s, schema, "record") == 0 })
}

func TestLiveCountsWhatHoldsItsKey(t *testing.T) {
	var ahead atomic.Int64
	store := open(t, pgstore.Options{URL: pgtest.Shared(t).SocketURL(), Offset: func() time.Duration { return time.Duration(ahead.Load()) }})
	for i := range 10 {
		claimed(t, store, refOf(fmt.Sprint(i)))
	}
	for atMost, want := range map[int]int64{1000: 10, 4: 4} {
		if live, err := store.Live(t.Context(), atMost); err != nil || live["network_faults"] != want {
			t.Errorf("of %d: %v, %v", atMost, live, err)
		}
	}
	ahead.Store(int64(25 * time.Hour))
	if live, err := store.Live(t.Context(), 1000); err != nil || len(live) != 0 {
		t.Fatalf("later: %v, %v", live, err)
	}
}
