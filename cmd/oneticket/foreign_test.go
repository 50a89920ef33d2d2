package main_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestSomebodyElsesEnvoyMakesOneTicket tells the story of run with `serve`
// beside an Envoy that was configured by what `oneticket envoy` prints.
func TestSomebodyElsesEnvoyMakesOneTicket(t *testing.T) {
	for _, w := range ways(t) {
		for _, target := range []string{"static", "bootstrap"} {
			t.Run(target+" by "+w.name, func(t *testing.T) {
				d := newDesk(t)
				s := newServed(t, d, w)
				configuration := parseTree(t, s.print(target, w))
				if target == "static" {
					configuration = embed(configuration, s.listen)
				}
				s.start() // makes state_dir, which Envoy writes to
				runEnvoy(t, configuration)
				t.Run("two hundred clients at one instant", func(t *testing.T) { tellRace(t, s, d) })
				t.Run("input without a key", func(t *testing.T) { tellBadInput(t, s, d) })
				t.Run("a restart", func(t *testing.T) { tellRestart(t, s, d) })
			})
		}
	}
}

func tellRace(t *testing.T, s *sidecar, d *desk) {
	d.delay.Store(int64(300 * time.Millisecond))
	defer d.delay.Store(0)
	const clients = 200
	client := newClient(t)
	answers := make([]answer, clients)
	var done sync.WaitGroup
	gate := make(chan struct{})
	for i := range clients {
		done.Go(func() {
			<-gate
			answers[i] = s.post(client, fault("core-1", i))
		})
	}
	close(gate)
	done.Wait()
	replayed := 0
	for i, a := range answers {
		if a.status != 201 || a.body != answers[0].body {
			t.Errorf("client %d saw %d %q; client 0 saw %q", i, a.status, a.body, answers[0].body)
		}
		if a.replayed {
			replayed++
		}
	}
	if got := len(d.of("core-1")); got != 1 || replayed != clients-1 {
		t.Errorf("%d tickets, %d replays; want 1 and %d", got, replayed, clients-1)
	}
	if again := s.post(client, fault("core-1", clients)); !again.replayed || !strings.HasPrefix(again.header.Get("Oneticket-Decision"), "suppress; reason=refire") {
		t.Errorf("a re-fire saw %d %v", again.status, again.header)
	}
}

func tellBadInput(t *testing.T, s *sidecar, d *desk) {
	client := newClient(t)
	large := `{"cmdb_ci":"a","category":"b","description":"` + strings.Repeat("x", 10<<20) + `"}`
	for name, body := range map[string]string{"invalid JSON": `{"cmdb_ci":"db-07","categ`, "no identity": `{"cmdb_ci":"db-07"}`, "10 MB": large} {
		before := d.creates.Load()
		for range 2 {
			if a := s.post(client, body); a.status != 201 || a.replayed || !strings.HasPrefix(a.header.Get("Oneticket-Decision"), "pass") {
				t.Errorf("%s: saw %d, replayed %v, %q", name, a.status, a.replayed, a.header.Get("Oneticket-Decision"))
			}
		}
		if got := d.creates.Load() - before; got != 2 {
			t.Errorf("%s: %d reached the ticket system, want 2", name, got)
		}
	}
}

// tellRestart: a create that is under way is waited for, and one that comes
// while the filter is away is held until it is back.
func tellRestart(t *testing.T, s *sidecar, d *desk) {
	d.delay.Store(int64(time.Second))
	client := newClient(t)
	told := make(chan answer, 1)
	go func() { told <- s.post(client, fault("core-2", 0)) }()
	waitFor(t, "the create", func() bool { return len(d.of("core-2")) == 1 })
	s.end(syscall.SIGTERM)
	a := <-told
	if a.status != 201 {
		t.Fatalf("the client of a filter that ends saw %d %q", a.status, a.body)
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit status %d after SIGTERM: %s", code, s.log)
	}
	d.delay.Store(0)
	go func() { told <- s.post(client, fault("core-2", 1)) }()
	s.start()
	if again := <-told; again.ticket() != a.ticket() || !again.replayed {
		t.Errorf("sent while the filter was away: %d %q, want a replay of %q", again.status, again.body, a.ticket())
	}
	if got := len(d.of("core-2")); got != 1 {
		t.Errorf("%d tickets, want 1", got)
	}
}

// TestServeDoesNotLetEverybodyIn: who reaches the filter decides on creates.
func TestServeDoesNotLetEverybodyIn(t *testing.T) {
	all := ways(t)
	t.Run("mode and group of the socket", func(t *testing.T) {
		s := newServed(t, newDesk(t), all[0])
		s.start()
		path, _, _ := strings.Cut(strings.TrimPrefix(strings.Split(all[0].settings, `"`)[1], "unix:"), "?")
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o660 {
			t.Errorf("mode %o, want 660", got)
		}
		if got := info.Sys().(*syscall.Stat_t).Gid; int(got) != os.Getgid() {
			t.Errorf("group %d, want %d", got, os.Getgid())
		}
	})
	t.Run("a certificate that nobody signed", func(t *testing.T) {
		s := newServed(t, newDesk(t), all[1])
		s.start()
		address := strings.Split(all[1].settings, `"`)[1]
		dir := filepath.Dir(all[1].flags[1])
		for name, want := range map[string]bool{"": false, "stranger": false, "envoy": true} {
			if got := handshakes(t, address, dir, name); got != want {
				t.Errorf("certificate %q: let in is %v, want %v", name, got, want)
			}
		}
	})
}

// handshakes reports whether the server goes on after it has seen the
// certificate; with TLS 1.3 that shows with the first byte read.
func handshakes(t *testing.T, address, dir, name string) bool {
	t.Helper()
	c := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}
	if name != "" {
		cert, err := tls.LoadX509KeyPair(filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key"))
		if err != nil {
			t.Fatal(err)
		}
		c.Certificates = []tls.Certificate{cert}
	}
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 5 * time.Second}, "tcp", address, c)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := fmt.Fprint(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"); err != nil {
		return false
	}
	_, err = conn.Read(make([]byte, 1))
	return err == nil
}
