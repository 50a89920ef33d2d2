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
