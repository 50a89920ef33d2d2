package sqlitestore_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/sqlitestore"
	"oneticket/dedup/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Harness{New: newData})
}

func newData(t testing.TB) storetest.Data {
	path := filepath.Join(t.TempDir(), "oneticket.db")
	var offset atomic.Int64
	return storetest.Data{
		Client: func(t testing.TB) dedup.Store {
			return open(t, sqlitestore.Options{Path: path, Offset: func() time.Duration { return time.Duration(offset.Load()) }})
		},
		Forward: func(d time.Duration) { offset.Add(int64(d)) },
		Stall:   func(t testing.TB) func() { return holdWriteLock(t, path) },
	}
}

func open(t testing.TB, o sqlitestore.Options) *sqlitestore.Store {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second // tests share their machine
	}
	store, err := sqlitestore.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// holdWriteLock writes as another program would, and does not end.
func holdWriteLock(t testing.TB, path string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)") // the store itself may be tidying
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
