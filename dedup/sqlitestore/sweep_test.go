package sqlitestore_test

import (
	"database/sql"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/sqlitestore"
)

func count(t *testing.T, db *sql.DB, table string) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWhatIsOverItsKeepIsSwept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oneticket.db")
	var offset atomic.Int64
	store := open(t, sqlitestore.Options{Path: path, Offset: func() time.Duration { return time.Duration(offset.Load()) }})
	db := raw(t, path)
	for i := range 300 {
		o := offerOf("h", childRef(i))
		if i < 100 {
			o.Keep = 48 * time.Hour
		}
		if _, err := store.Claim(t.Context(), childRef(i), o); err != nil {
			t.Fatal(err)
		}
		if _, _, err := store.KeepClose(t.Context(), "snow", string(childRef(i).Key), o.Keep); err != nil {
			t.Fatal(err)
		}
	}
	never := dedup.Ref{Rule: "r", Key: "without an end"}
	if _, err := store.Swap(t.Context(), never, 0, dedup.Record{State: dedup.None, Episode: 3}, ""); err != nil {
		t.Fatal(err)
	}
	offset.Store(int64(25 * time.Hour))
	if err := store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if records, tickets := count(t, db, "record"), count(t, db, "ticket"); records != 101 || tickets != 100 {
		t.Fatalf("%d records and %d tickets are left, want 101 and 100", records, tickets)
	}
}

func TestAClaimSetsTheSweepOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oneticket.db")
	first := open(t, sqlitestore.Options{Path: path})
	claim(t, first, 1)
	later := open(t, sqlitestore.Options{Path: path, Offset: func() time.Duration { return 25 * time.Hour }})
	claim(t, later, 2)
	db := raw(t, path)
	for deadline := time.Now().Add(30 * time.Second); count(t, db, "record") != 1; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the old record is still there")
		}
	}
}

func TestLiveCountsWhatHoldsItsKey(t *testing.T) {
	var offset atomic.Int64
	store := open(t, sqlitestore.Options{
		Path:   filepath.Join(t.TempDir(), "oneticket.db"),
		Offset: func() time.Duration { return time.Duration(offset.Load()) },
	})
	for i := range 10 {
		claim(t, store, i)
	}
	if live, err := store.Live(t.Context(), 1000); err != nil || live["network_faults"] != 10 {
		t.Fatalf("%v, %v", live, err)
	}
	if live, err := store.Live(t.Context(), 4); err != nil || live["network_faults"] != 4 {
		t.Fatalf("bounded: %v, %v", live, err)
	}
	offset.Store(int64(25 * time.Hour))
	if live, err := store.Live(t.Context(), 1000); err != nil || len(live) != 0 {
		t.Fatalf("later: %v, %v", live, err)
	}
}
