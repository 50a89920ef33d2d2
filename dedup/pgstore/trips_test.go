package pgstore_test

import (
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/pgstore"
	"oneticket/dedup/pgstore/pgtest"
)

func viaProxy(s *pgtest.Server, p *proxy, options string) string {
	return "postgres://postgres@" + p.addr + "/postgres?sslmode=disable" + options
}

func TestOneRoundTripDecidesAndOneSettles(t *testing.T) {
	s := pgtest.Shared(t)
	for name, option := range map[string]string{
		"by default":               "",
		"with prepared statements": "&default_query_exec_mode=cache_statement",
	} {
		t.Run(name, func(t *testing.T) {
			p := proxyTo(t, s.Addr)
			schema := fresh()
			ahead := time.Duration(0)
			store := open(t, pgstore.Options{
				URL: viaProxy(s, p, option), Schema: schema, Connections: 1, Watch: time.Hour, Offset: func() time.Duration { return ahead },
			})
			opened(t, store, refOf("warm-up"))

			ref := refOf("trips")
			once := func(what string, call func()) {
				t.Helper()
				if trips := p.during(call); trips != 1 {
					t.Errorf("%s: %d round trips, want 1", what, trips)
				}
			}
			found := claimed(t, store, refOf("settled"))
			once("a claim that wins", func() { claimed(t, store, ref) })
			once("settling one", func() {
				if _, err := store.Swap(t.Context(), refOf("settled"), found.Record.Version, openOf(found), "n"); err != nil {
					t.Fatal(err)
				}
			})
			refire := func() {
				if got, err := store.Claim(t.Context(), refOf("settled"), offerOf("other", refOf("settled"))); err != nil || got.Won || got.Record.Response == nil {
					t.Fatalf("%+v, %v", got, err)
				}
			}
			once("a re-fire", refire)
			ahead = 30 * time.Minute
			once("a re-fire that prolongs", refire)
			ahead = 100 * time.Hour
			once("a claim of what is over", func() { claimed(t, store, refOf("settled")) })
		})
	}
}

// Behind a pooler that gives each transaction another connection, nothing may be
// left in one.
func TestNothingIsLeftInAConnection(t *testing.T) {
	s := pgtest.Shared(t)
	for option, kept := range map[string]bool{"": false, "&default_query_exec_mode=cache_statement": true} {
		p := proxyTo(t, s.Addr)
		store := open(t, pgstore.Options{URL: viaProxy(s, p, option), Watch: time.Hour})
		ref := refOf("pooled")
		opened(t, store, ref)
		if _, err := store.Claim(t.Context(), ref, offerOf("other", ref)); err != nil {
			t.Fatal(err)
		}
		if err := store.List(t.Context(), "", func(dedup.Ref, dedup.Record) bool { return true }); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := store.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := p.keeps(); n > 0 != kept {
			t.Errorf("with %q, %d things are left in connections", option, n)
		}
	}
}

// A re-fire that has nothing to write takes no lock and makes no transaction
// that PostgreSQL would have to number.
func TestARefireWritesNothing(t *testing.T) {
	s := pgtest.Shared(t)
	store := open(t, pgstore.Options{URL: s.SocketURL()})
	ref := refOf("read")
	opened(t, store, ref)
	number := func() int64 {
		return pgtest.Ask[int64](t, s, "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
	}
	before := number()
	for range 50 {
		if _, err := store.Claim(t.Context(), ref, offerOf("other", ref)); err != nil {
			t.Fatal(err)
		}
	}
	if n := number() - before; n > 5 { // what the server and other stores do by themselves
		t.Errorf("%d transactions wrote", n)
	}
}
