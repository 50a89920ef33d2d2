package main_test

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"oneticket/dedup/pgstore/pgtest"
)

// down are stores that can be ended: their block, their place as a person is
// told, and how to end them.
var down = map[string]func(t *testing.T) (block, place string, end func()){
	"redis": func(t *testing.T) (block, place string, end func()) {
		address := startRedis(t)
		_, port, _ := strings.Cut(address, ":")
		return fmt.Sprintf("store \"redis\" {\n url = %q\n}\n", "redis://"+address), "redis redis://" + address, func() {
			_ = exec.Command("redis-cli", "-p", port, "shutdown", "nosave").Run() // it answers with its end
		}
	},
	"postgres": func(t *testing.T) (block, place string, end func()) {
		s := pgtest.For(t)
		s.Do(t, "CREATE ROLE "+pgtest.PasswordRole+" LOGIN SUPERUSER PASSWORD 'hunter2'")
		url := "postgres://" + pgtest.PasswordRole + ":hunter2@" + s.Addr + "/postgres?sslmode=disable"
		return fmt.Sprintf("store \"postgres\" {\n url = %q\n}\n", url), "postgres " + s.Addr + "/postgres", s.Kill
	},
}

// TestReadySaysThatTheStoreIsDown while it is, and the log is not filled with
// what the client library says of each connection, nor tells a password.
func TestReadySaysThatTheStoreIsDown(t *testing.T) {
	for name, store := range down {
		t.Run(name, func(t *testing.T) {
			block, place, end := store(t)
			s := newSidecar(t, newDesk(t), "", block)
			s.start()
			if said := s.degraded(t); len(said) > 0 {
				t.Errorf("degraded from the beginning: %q", said)
			}
			end()
			client := newClient(t)
			for i := range 20 {
				if a := s.post(client, fault("core-1", i)); a.status != 201 {
					t.Errorf("saw %d %q", a.status, a.body)
				}
			}
			want := "the store " + place + " is out of reach since "
			var said string
			waitFor(t, "/ready to say so", func() bool {
				said = strings.Join(s.degraded(t), "\n")
				return strings.Contains(said, want)
			})
			s.end(syscall.SIGTERM)
			said += s.log.String()
			for _, word := range []string{"pool", "msg=\"failed to dial", "hunter2"} {
				if strings.Contains(said, word) {
					t.Errorf("it says %q: %s", word, said)
				}
			}
		})
	}
}

// TestWhatIsOpenedInAnOutageIsReconciled: the store is frozen for a while, and
// each fault has one ticket before, in and after that.
func TestWhatIsOpenedInAnOutageIsReconciled(t *testing.T) {
	address := startRedis(t)
	_, port, _ := strings.Cut(address, ":")
	s := newSidecar(t, newDesk(t), "", fmt.Sprintf("store \"redis\" {\n url = %q\n}\n", "redis://"+address))
	s.start()
	client := newClient(t)
	known := s.post(client, fault("known", 0))
	if out, err := exec.Command("redis-cli", "-p", port, "client", "pause", "4000", "all").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	first := map[int]string{}
	for i := range 10 {
		a := s.post(client, fault(fmt.Sprint("core-", i%5), i))
		if a.status != 201 || first[i%5] != "" && first[i%5] != string(a.body) {
			t.Errorf("fault %d: saw %d %q, at first %q", i%5, a.status, a.body, first[i%5])
		}
		first[i%5] = string(a.body)
	}
	if a := s.post(client, fault("known", 0)); a.status != 201 || string(a.body) != string(known.body) {
		t.Errorf("a fault that was known: saw %d %q, want %q", a.status, a.body, known.body)
	}
	waitFor(t, "what was opened to be reconciled", func() bool {
		return s.metric("oneticket_reconciled_total", `result="taken_over"`) == 5 && s.metric("oneticket_provisional_creates") == 0
	})
	for i := range 5 {
		if a := s.post(client, fault(fmt.Sprint("core-", i), i)); string(a.body) != first[i] {
			t.Errorf("fault %d: saw %q, want %q", i, a.body, first[i])
		}
	}
	s.end(syscall.SIGTERM)
}

// TestAFirstStartInAnOutage: nobody has made a secret yet, and still a re-fire is
// known to be its sender's: nothing reaches the ticket system for it.
func TestAFirstStartInAnOutage(t *testing.T) {
	r, d := newTroubledRedis(t), newDesk(t)
	r.kill()
	s := newSidecar(t, d, "read = null\n lookup = null", r.block())
	s.start()
	client := newClient(t)
	first := s.post(client, fault("core-1", 0))
	refires := func() {
		t.Helper()
		for i := range 3 {
			if a := s.post(client, fault("core-1", i)); !a.replayed || a.body != first.body {
				t.Errorf("a re-fire saw %d %q (%s)", a.status, a.body, a.decision())
			}
		}
	}
	refires()
	s.end(syscall.SIGTERM)
	s.start() // and the embedded store remembers
	refires()
	if got := d.creates.Load(); got != 1 {
		t.Errorf("%d creates reached the ticket system", got)
	}
	s.end(syscall.SIGTERM)
}
