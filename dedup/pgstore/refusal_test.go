package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"oneticket/dedup"
	"oneticket/dedup/pgstore"
	"oneticket/dedup/pgstore/pgtest"
)

func refusedClaim(store dedup.Store, ref dedup.Ref) error {
	_, err := store.Claim(context.Background(), ref, offerOf("h", ref))
	return err
}

// What PostgreSQL refuses is an error, so that somebody else decides; it is
// never a conflict or a lost claim, which would swallow the create.
func TestWhatPostgreSQLRefusesIsAnError(t *testing.T) {
	s := pgtest.Shared(t)
	for name, c := range map[string]struct {
		refuse func(role, schema string) string // statements
		words  []string
	}{
		"its role takes no writes":    {func(role, _ string) string { return "ALTER ROLE " + role + " SET default_transaction_read_only = on" }, []string{"25006", "primary"}},
		"its role has lost the right": {func(role, schema string) string { return "REVOKE ALL ON SCHEMA " + schema + " FROM " + role }, []string{"42501", "rights"}},
		"its time is too short":       {func(role, _ string) string { return "ALTER ROLE " + role + " SET statement_timeout = '300ms'" }, []string{"57014", "statement_timeout"}},
		"its schema is gone":          {func(_, schema string) string { return "DROP SCHEMA " + schema + " CASCADE" }, []string{"3F000", "again within seconds"}},
	} {
		t.Run(name, func(t *testing.T) {
			schema := fresh()
			quoted := fmt.Sprintf("%q", schema)
			role := strings.ToLower(strings.ReplaceAll(schema, " ", ""))
			o := pgstore.Options{URL: s.URL(), Schema: schema, Watch: time.Hour, Timeout: 20 * time.Second}
			found := claimed(t, open(t, o), refOf("before"))
			s.Do(t, "CREATE ROLE "+role+" LOGIN; GRANT USAGE ON SCHEMA "+quoted+" TO "+role+
				"; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "+quoted+" TO "+role)
			s.Do(t, c.refuse(role, quoted))
			o.URL = strings.Replace(o.URL, "postgres@", role+"@", 1)
			store, err := pgstore.New(o)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			if strings.Contains(name, "time") {
				holdRow(t, s, schema, refOf("before"))
			} else {
				mentions(t, refusedClaim(store, refOf("new")), c.words...)
			}
			_, err = store.Swap(t.Context(), refOf("before"), found.Record.Version, openOf(found), "n")
			mentions(t, err, c.words...)
			if errors.Is(err, dedup.ErrConflict) {
				t.Error("it is told as a conflict")
			}
		})
	}
}

func TestAServerThatIsFrozenEndsACallInTime(t *testing.T) {
	s := pgtest.Shared(t)
	store := open(t, pgstore.Options{URL: s.URL(), Timeout: 200 * time.Millisecond, Connections: 3})
	eventually(t, "it works", func() bool { return refusedClaim(store, refOf("frozen")) == nil })
	thaw := s.Freeze()
	defer thaw()
	for range 10 { // more than there are connections
		mentions(t, refusedClaim(store, refOf("frozen")), s.Addr, "no answer within 200ms")
	}
	thaw()
	eventually(t, "it works again", func() bool { return refusedClaim(store, refOf("frozen")) == nil })
}

// Connections that lead nowhere any more, as after a machine's death, cost the
// calls that are on them; their ends are waited for elsewhere.
func TestConnectionsThatLeadNowhereAreReplaced(t *testing.T) {
	s := pgtest.Shared(t)
	p := proxyTo(t, s.Addr)
	const connections = 2
	schema := fresh()
	url := viaProxy(s, p, "&application_name=nowhere")
	store := open(t, pgstore.Options{URL: url, Schema: schema, Connections: connections, Timeout: 2 * time.Second, Watch: time.Hour})
	ref := refOf("busy")
	claimed(t, store, ref)
	holdRow(t, s, schema, ref)
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			if _, err := store.Renew(t.Context(), ref, "h", time.Hour); err == nil {
				t.Error("a renewal of a row that is held")
			}
		})
	}
	eventually(t, "all connections are in use", func() bool {
		return pgtest.Ask[int](t, s, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'nowhere' AND wait_event_type = 'Lock'") == connections
	})
	p.cutOff()
	all.Wait()
	claimed(t, store, refOf("after"))
}

func TestAServerThatIsKilledAndStartedAgainIsUsedAgain(t *testing.T) {
	s := pgtest.For(t)
	store := open(t, pgstore.Options{URL: s.URL(), Timeout: 2 * time.Second})
	rec := opened(t, store, refOf("kept"))
	// All connections are made.
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() { _ = refusedClaim(store, refOf(fmt.Sprint(i))) })
	}
	all.Wait()
	s.Kill()
	mentions(t, refusedClaim(store, refOf("while it is away")), s.Addr, "claim")
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	// None of the old connections costs a call.
	for i := range 32 {
		if found, err := store.Get(t.Context(), refOf("kept")); err != nil || found.Record.Version != rec.Version {
			t.Fatalf("call %d: %+v, %v", i, found, err)
		}
	}
}

// A backend that is ended, as an administrator does, costs no call anything.
func TestABackendThatIsEndedCostsNoCall(t *testing.T) {
	s := pgtest.Shared(t)
	store := open(t, pgstore.Options{URL: s.URL() + "&application_name=ended"})
	claimed(t, store, refOf("before"))
	for i := range 10 {
		s.Do(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ended'")
		claimed(t, store, refOf(fmt.Sprint(i)))
	}
}

func TestAllSlotsTakenIsAnErrorAndPasses(t *testing.T) {
	s := pgtest.For(t, "max_connections=8", "superuser_reserved_connections=1")
	s.Do(t, "CREATE ROLE guest LOGIN")
	s.Do(t, "CREATE DATABASE guests OWNER guest")
	url := "postgres://guest@" + s.Addr + "/guests?sslmode=disable"
	var others []*pgx.Conn
	for {
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			break
		}
		defer conn.Close(context.Background())
		others = append(others, conn)
	}
	store, err := pgstore.New(pgstore.Options{URL: url, Watch: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	mentions(t, store.Start(t.Context()), "53300", "max_connections", "pool_max_conns")
	for _, conn := range others {
		_ = conn.Close(t.Context())
	}
	eventually(t, "it works", func() bool { return refusedClaim(store, refOf("late")) == nil })
}

func TestAStoreMadeWhilePostgreSQLIsAwayWorksWhenItIsBack(t *testing.T) {
	s := pgtest.For(t)
	s.Kill()
	store, err := pgstore.New(pgstore.Options{URL: s.URL(), Watch: 10 * time.Millisecond, OnFlush: func(f pgstore.Flush) { t.Errorf("flush %v", f) }})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	mentions(t, store.Start(t.Context()), s.Addr, "start")
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it works", func() bool { return refusedClaim(store, refOf("late")) == nil })
}

// A caller that goes away in the middle of a call leaves a connection behind
// that nobody else is given, and a statement that ends.
func TestACallerThatGoesAwayPoisonsNothing(t *testing.T) {
	s := pgtest.Shared(t)
	schema := fresh()
	store := open(t, pgstore.Options{URL: s.URL() + "&application_name=poisoned", Schema: schema, Connections: 1})
	ref := refOf("contended")
	rec := claimed(t, store, ref)
	release := holdRow(t, s, schema, ref)
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := store.Swap(ctx, ref, rec.Record.Version, openOf(rec), "n")
			ended <- err
		}()
		waiting(t, s)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) || errors.Is(err, dedup.ErrConflict) {
			t.Fatalf("a caller that goes away: %v", err)
		}
		eventually(t, "its statement ends", func() bool {
			return pgtest.Ask[int](t, s, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'poisoned' AND wait_event_type = 'Lock'") == 0
		})
	}
	other := refOf("other")
	claimed(t, store, other)
	release()
	if found, err := store.Get(t.Context(), ref); err != nil || found.Record.Version != rec.Record.Version {
		t.Errorf("%+v, %v", found, err)
	}
}

// Whatever the role's default isolation, of many claims at once one wins, and
// none fails.
func TestClaimsAtOneInstantUnderEveryIsolation(t *testing.T) {
	s := pgtest.Shared(t)
	for _, level := range []string{"read committed", "repeatable read", "serializable"} {
		t.Run(level, func(t *testing.T) {
			schema := fresh()
			role := strings.ToLower(strings.ReplaceAll(schema, " ", ""))
			s.Do(t, "CREATE ROLE "+role+" LOGIN SUPERUSER")
			s.Do(t, "ALTER ROLE "+role+" SET default_transaction_isolation = '"+level+"'")
			store := open(t, pgstore.Options{URL: strings.Replace(s.URL(), "postgres@", role+"@", 1), Schema: schema})
			for round := range 10 {
				ref := refOf(fmt.Sprint(round))
				var mu sync.Mutex
				won := 0
				var all sync.WaitGroup
				for i := range 8 {
					all.Go(func() {
						found, err := store.Claim(t.Context(), ref, offerOf(fmt.Sprint(i), ref))
						mu.Lock()
						defer mu.Unlock()
						if err != nil {
							t.Error(err)
						}
						if found.Won {
							won++
						}
					})
				}
				all.Wait()
				if won != 1 {
					t.Errorf("%d claims won", won)
				}
			}
		})
	}
}
