package failover_test

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/failover"
	"oneticket/dedup/redisstore"
	"oneticket/dedup/sqlitestore"
)

// A redisServer is a real one, with what it has written on a disk.
type redisServer struct {
	testing.TB
	addr, dir string
	cmd       *exec.Cmd
}

func startRedis(t testing.TB) *redisServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := &redisServer{TB: t, addr: l.Addr().String(), dir: t.TempDir()}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *redisServer) start() {
	s.Helper()
	host, port, _ := net.SplitHostPort(s.addr)
	s.cmd = exec.Command("redis-server", "--bind", host, "--port", port, "--dir", s.dir, "--save", "", "--appendonly", "yes", "--appendfsync", "always")
	if err := s.cmd.Start(); err != nil {
		s.Fatal(err)
	}
	waitFor(s, "redis answers", func() bool {
		conn, err := net.Dial("tcp", s.addr)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

func (s *redisServer) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func (s *redisServer) signal(sig syscall.Signal) {
	s.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.Fatal(err)
	}
}

func waitFor(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timed out: %s", what)
		}
	}
}

func openRedis(t testing.TB, addr string) *redisstore.Store {
	t.Helper()
	store, err := redisstore.New(redisstore.Options{URL: "redis://" + addr})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return store
}

func openSQLite(t testing.TB, path string) *sqlitestore.Store {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), sqlitestore.Options{Path: path, Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// TestARealRedisInTrouble is frozen, killed, and started again, each time with
// requests under way: none fails, none waits for long, and each fault has one
// ticket in the end.
func TestARealRedisInTrouble(t *testing.T) {
	t.Parallel()
	server := startRedis(t)
	local := filepath.Join(t.TempDir(), "local.db")
	d := &desk{}
	policy := policyFor(d)
	store := failover.New(failover.Options{
		Shared: openRedis(t, server.addr), Local: openSQLite(t, local),
		Rule: func(dedup.Ref, dedup.Record) (failover.Rule, bool) {
			return failover.Rule{Policy: policy, Scope: scope, Ask: d}, true
		},
	})
	defer store.Close()
	engine := dedup.NewEngine(dedup.EngineOptions{Store: store})
	defer engine.Close()
	far := openRedis(t, server.addr)
	defer far.Close()

	fire := func(key string) (dedup.Verdict, time.Duration) {
		began := time.Now()
		v, err := engine.Decide(t.Context(), dedup.Claim{
			Fault:  dedup.Fault{Ref: dedup.Ref{Rule: "faults", Key: dedup.Key(key)}, Backend: string(scope), Fingerprint: dedup.Fingerprint{Severity: "2"}},
			Policy: policy, Wait: patience, Exchange: time.Second, Backend: d,
		})
		took := time.Since(began)
		if err != nil {
			t.Fatalf("%s was not decided: %v", key, err)
		}
		if v.Kind == dedup.Create {
			v.Hold.MarkSent()
			if _, err := v.Hold.Settle(t.Context(), created(d.create(v.Hold.Token()))); err != nil {
				t.Errorf("%s was not settled: %v", key, err)
			}
		}
		return v, took
	}
	storm := func(what string) {
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() { fire(what + string(rune('a'+i%4))) })
		}
		wg.Wait()
		waitFor(t, what+": the store is known to be away", func() bool { fire(what + "z"); return store.Away() })
		quick := 0
		for range 100 {
			if _, took := fire(what + "a"); took < 50*time.Millisecond {
				quick++
			}
		}
		if quick < 50 {
			t.Errorf("%s: only %d of 100 requests were quick", what, quick)
		}
	}
	for _, trouble := range []struct {
		name       string
		begin, end func()
	}{
		{"frozen", func() { server.signal(syscall.SIGSTOP) }, func() { server.signal(syscall.SIGCONT) }},
		{"killed", server.kill, server.start},
	} {
		fire(trouble.name + "a") // a fault that is known before
		trouble.begin()
		storm(trouble.name)
		if v, _ := fire(trouble.name + "a"); v.Kind != dedup.Suppress {
			t.Errorf("%s: a known fault: %+v", trouble.name, v)
		}
		trouble.end()
		waitFor(t, trouble.name+": all is reconciled", func() bool {
			left, err := store.Reconcile(t.Context())
			return err == nil && left == 0 && !store.Away()
		})
		for _, key := range []string{"a", "b", "c", "d", "z"} {
			found, err := far.Get(context.Background(), dedup.Ref{Rule: "faults", Key: dedup.Key(trouble.name + key)})
			if err != nil || found.Record.State != dedup.Open || found.Record.Provisional {
				t.Errorf("%s: the record of %s is %s, %v", trouble.name, key, found.Record.State, err)
			}
		}
	}
	if open := d.open(); len(open) != 10 || store.Provisional() != 0 {
		t.Errorf("%d tickets for 10 faults, %d provisional creates left", len(open), store.Provisional())
	}
}
