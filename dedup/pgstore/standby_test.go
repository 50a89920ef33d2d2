package pgstore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/pgstore"
	"oneticket/dedup/pgstore/pgtest"
)

// both is the url of two servers, in this order.
func both(one, two *pgtest.Server) string {
	return "postgres://postgres@" + one.Addr + "," + two.Addr + "/postgres?sslmode=disable"
}

// inStep waits until the standby has all that the primary has.
func inStep(t *testing.T, primary, standby *pgtest.Server) {
	t.Helper()
	at := pgtest.Ask[string](t, primary, "SELECT pg_current_wal_lsn()::text")
	eventually(t, "the standby is in step", func() bool {
		return pgtest.Ask[bool](t, standby, "SELECT coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false)", at)
	})
}

func TestWhatAStandbyHasIsNotBelieved(t *testing.T) {
	primary := pgtest.For(t)
	schema := fresh()
	ref := refOf("old")
	opened(t, open(t, pgstore.Options{URL: primary.URL(), Schema: schema}), ref)
	standby := primary.Standby(t)
	inStep(t, primary, standby)

	store := open(t, pgstore.Options{URL: standby.URL(), Schema: schema})
	mentions(t, refusedClaim(store, ref), "25006", "standby", "primary")
	_, err := store.Get(t.Context(), ref)
	mentions(t, err, "25006")
	told(t, store, []string{"this server is a standby", "fsync"})
	told(t, open(t, pgstore.Options{URL: primary.URL(), Schema: schema}), []string{"fsync", "1 standbys follow and none is synchronous"})

	// Whatever their order, the primary is found.
	for _, url := range []string{both(primary, standby), both(standby, primary)} {
		found := open(t, pgstore.Options{URL: url, Schema: schema})
		if err := refusedClaim(found, refOf(url)); err != nil {
			t.Error(err)
		}
	}
}

// What was told to a client before a failover to a synchronous standby is
// there after it, and the store finds its new primary by itself.
func TestAFailoverToASynchronousStandbyLosesNothing(t *testing.T) {
	primary := pgtest.For(t)
	standby := primary.Standby(t)
	primary.Do(t, "ALTER SYSTEM SET synchronous_standby_names = '*'; ")
	primary.Do(t, "SELECT pg_reload_conf()")
	eventually(t, "the standby is synchronous", func() bool {
		return pgtest.Ask[int](t, primary, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == 1
	})
	store := open(t, pgstore.Options{URL: both(primary, standby), Connections: 4})
	const faults = 200
	for i := range faults {
		opened(t, store, refOf(fmt.Sprint(i)))
	}
	primary.Kill()
	standby.Do(t, "ALTER SYSTEM SET synchronous_standby_names = ''")
	standby.Promote(t)
	standby.Do(t, "SELECT pg_reload_conf()")
	eventually(t, "claims are decided again", func() bool { return refusedClaim(store, refOf("after")) == nil })
	for i := range faults {
		ref := refOf(fmt.Sprint(i))
		if found, err := store.Claim(t.Context(), ref, offerOf("other", ref)); err != nil || found.Won {
			t.Fatalf("fault %d after the failover: won %v, %v", i, found.Won, err)
		}
	}
}

// A primary that becomes read-only under its connections, as one does whose
// name leads to another server after a failover, is left as soon as another
// can be had.
func TestConnectionsToAServerThatTakesNoWritesAreReplaced(t *testing.T) {
	one, two := pgtest.For(t), pgtest.For(t)
	p := proxyTo(t, one.Addr)
	schema := fresh()
	store := open(t, pgstore.Options{URL: viaProxy(one, p, ""), Schema: schema, Connections: 2})
	open(t, pgstore.Options{URL: two.URL(), Schema: schema})
	claimed(t, store, refOf("before"))
	one.Do(t, "ALTER SYSTEM SET default_transaction_read_only = on")
	one.Do(t, "SELECT pg_reload_conf()")
	eventually(t, "claims are refused", func() bool {
		err := refusedClaim(store, refOf(time.Now().String()))
		return err != nil && strings.Contains(err.Error(), "25006")
	})
	p.leadTo(two.Addr)
	eventually(t, "claims are decided again", func() bool { return refusedClaim(store, dedup.Ref{Rule: "after"}) == nil })
}
