package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"oneticket/dedup/pgstore"
	"oneticket/dedup/pgstore/pgtest"
)

func TestReplicasThatStartAtOneInstantMakeOneSchema(t *testing.T) {
	s := pgtest.Shared(t)
	for round := range 5 {
		o := pgstore.Options{URL: s.SocketURL(), Schema: fresh(), Connections: 2}
		epochs := make([]string, 8)
		var all sync.WaitGroup
		for i := range epochs {
			all.Go(func() {
				store, err := pgstore.Open(context.Background(), o)
				if err != nil {
					t.Errorf("round %d: %v", round, err)
					return
				}
				defer store.Close()
				epochs[i], _, err = store.Epoch(t.Context())
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, epoch := range epochs {
			if epoch == "" || epoch != epochs[0] {
				t.Errorf("round %d: epochs %q", round, epochs)
			}
		}
	}
}

func TestASchemaOfANewerProgramIsRefused(t *testing.T) {
	s := pgtest.Shared(t)
	o := pgstore.Options{URL: s.SocketURL(), Schema: fresh()}
	running := open(t, o)
	rec := opened(t, running, refOf("before"))
	s.Do(t, fmt.Sprintf(`UPDATE %q.meta SET version = %d`, o.Schema, pgstore.LastVersion+1))

	_, err := pgstore.Open(t.Context(), o)
	mentions(t, err, "newer program", fmt.Sprint("version ", pgstore.LastVersion+1), "start the newer program")
	if !errors.Is(err, pgstore.ErrNewer) {
		t.Error("it is not told apart")
	}
	// One that runs already goes on, until it is replaced.
	if found, err := running.Get(t.Context(), refOf("before")); err != nil || found.Record.Version != rec.Version {
		t.Errorf("%+v, %v", found, err)
	}
	claimed(t, running, refOf("after"))
}

// A schema that is dropped under the feet of a replica is made again, and the
// loss is told.
func TestASchemaThatIsDroppedIsMadeAgainAndTold(t *testing.T) {
	s := pgtest.Shared(t)
	flushed := make(chan pgstore.Flush, 8)
	o := pgstore.Options{URL: s.SocketURL(), Schema: fresh(), Watch: 10 * time.Millisecond, OnFlush: func(f pgstore.Flush) { flushed <- f }}
	store := open(t, o)
	began, changed, err := store.Epoch(t.Context())
	if err != nil || changed || began == "" {
		t.Fatalf("epoch %q, changed %v, %v", began, changed, err)
	}
	claimed(t, store, refOf("lost"))
	s.Do(t, fmt.Sprintf(`DROP SCHEMA %q CASCADE`, o.Schema))
	select {
	case f := <-flushed:
		if f.Was != began || f.Now == began || f.Now == "" {
			t.Errorf("flush %+v", f)
		}
	case <-time.After(pgtest.Patience):
		t.Fatal("nobody noticed")
	}
	claimed(t, store, refOf("lost"))
	if _, changed, err := store.Epoch(t.Context()); !changed || err != nil {
		t.Errorf("changed %v, %v", changed, err)
	}
}

func TestADatabaseThatCannotHoldTheTextsIsRefused(t *testing.T) {
	s := pgtest.Shared(t)
	s.Do(t, "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
	_, err := pgstore.Open(t.Context(), pgstore.Options{URL: "postgres://postgres@" + s.Addr + "/latin?sslmode=disable"})
	mentions(t, err, "LATIN1", "ENCODING 'UTF8'")
}

// Nothing is left behind by a program that dies while it makes the schema, and
// those that waited for it make it.
func TestWhoWaitsForTheSchemaIsServedWhenItsMakerDies(t *testing.T) {
	s := pgtest.Shared(t)
	o := pgstore.Options{URL: s.SocketURL(), Schema: fresh(), Timeout: 20 * time.Second}
	die := inTransaction(t, s, fmt.Sprintf("CREATE SCHEMA %q", o.Schema))
	opens := make(chan error, 1)
	go func() {
		store, err := pgstore.Open(context.Background(), o)
		if err == nil {
			err = store.Close()
		}
		opens <- err
	}()
	waiting(t, s)
	die()
	if err := <-opens; err != nil {
		t.Fatal(err)
	}
	claimed(t, open(t, o), refOf("first"))
}
