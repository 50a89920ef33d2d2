package pgstore_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/pgstore"
	"oneticket/dedup/pgstore/pgtest"
	"oneticket/dedup/storetest"
)

func TestMain(m *testing.M) {
	status := m.Run()
	pgtest.EndShared()
	os.Exit(status)
}

func TestStore(t *testing.T) {
	s := pgtest.Shared(t)
	storetest.Run(t, harness(s, pgstore.Options{URL: s.SocketURL()}, nil))
}

var schemas atomic.Int64

// fresh is the name of a schema that nobody else uses.
func fresh() string { return fmt.Sprintf("Story %d", schemas.Add(1)) }

// harness gives every story a schema of its own on the same server. prepare,
// where it is given, makes the schema first.
func harness(s *pgtest.Server, o pgstore.Options, prepare func(t testing.TB, schema string)) storetest.Harness {
	return storetest.Harness{New: func(t testing.TB) storetest.Data {
		o := o
		var ahead atomic.Int64
		o.Offset = func() time.Duration { return time.Duration(ahead.Load()) }
		o.Schema = fresh()
		if prepare != nil {
			prepare(t, o.Schema)
		}
		return storetest.Data{
			Client:  func(t testing.TB) dedup.Store { return open(t, o) },
			Forward: func(d time.Duration) { ahead.Add(int64(d)) },
			Stall:   func(testing.TB) func() { return s.Freeze() },
		}
	}}
}

// open opens a store with room for a slow machine, and closes it with the test.
func open(t testing.TB, o pgstore.Options) *pgstore.Store {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	if o.Schema == "" {
		o.Schema = fresh()
	}
	store, err := pgstore.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(pgtest.Patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// mentions fails unless the error names all the words.
func mentions(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one about %q", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not mention %q", err, word)
		}
	}
}
