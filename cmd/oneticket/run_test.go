package main_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestTwoHundredClientsAtOneInstantGetOneTicket(t *testing.T) {
	d := newDesk(t)
	d.delay.Store(int64(300 * time.Millisecond))
	s := newSidecar(t, d, "", "")
	s.start()
	const clients = 200
	client := newClient(t)
	answers := make([]answer, clients)
	var ready, done sync.WaitGroup
	gate := make(chan struct{})
	for i := range clients {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gate
			answers[i] = s.post(client, fault("core-1", i))
		})
	}
	ready.Wait()
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
	if got := d.creates.Load(); got != 1 {
		t.Errorf("the ticket system counted %d creates, want 1", got)
	}
	if replayed != clients-1 {
		t.Errorf("%d answers are marked as replayed, want %d", replayed, clients-1)
	}
	if got := s.metric("oneticket_decisions_total", `decision="suppress"`); got != clients-1 {
		t.Errorf("metrics count %v suppressed, want %d", got, clients-1)
	}
}

// TestKillBetweenClaimAndAnswer: whatever a client was told names a ticket
// that is there, and no key stays stuck.
func TestKillBetweenClaimAndAnswer(t *testing.T) {
	d := newDesk(t)
	d.delay.Store(int64(2 * time.Second))
	s := newSidecar(t, d, "", "in_flight {\n wait = \"2s\"\n lease = \"6s\"\n}")
	s.start()
	client := newClient(t)
	const faults = 20
	var first sync.WaitGroup
	for i := range faults {
		first.Go(func() {
			if a := s.post(client, fault(fmt.Sprint("ne-", i), 0)); a.status == 201 {
				t.Errorf("fault %d was told %d %q by a dead sidecar", i, a.status, a.body)
			}
		})
	}
	waitFor(t, "creates under way", func() bool { return d.creates.Load() == faults })
	s.kill()
	first.Wait()

	d.delay.Store(0)
	s.start()
	var retries sync.WaitGroup
	for i := range faults {
		retries.Go(func() { s.retryUntilTold(t, d, fmt.Sprint("ne-", i)) })
	}
	retries.Wait()
	if got := s.metric("oneticket_decisions_total", `reason="recovered"`); got != faults {
		t.Errorf("%v tickets were found again, want %d", got, faults)
	}
	if got := d.creates.Load(); got != faults {
		t.Errorf("%d tickets for %d faults", got, faults)
	}
}

// retryUntilTold plays a client that repeats until it is told of a ticket, and
// checks that the ticket is there and stays the answer.
func (s *sidecar) retryUntilTold(t *testing.T, d *desk, element string) {
	client := newClient(t)
	deadline := time.Now().Add(time.Minute)
	for try := 1; ; try++ {
		a := s.post(client, fault(element, try))
		if a.status == 201 {
			ids := d.of(element)
			if !slices.Contains(ids, a.ticket()) {
				t.Errorf("%s was told of %q; its tickets are %q", element, a.ticket(), ids)
			}
			if again := s.post(client, fault(element, try+1)); again.ticket() != a.ticket() || !again.replayed {
				t.Errorf("%s was told of %q and then of %q", element, a.ticket(), again.ticket())
			}
			return
		}
		if a.status != 503 || a.header.Get("Retry-After") == "" {
			t.Errorf("%s: saw %d %q, want 201 or a 503 with Retry-After", element, a.status, a.body)
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("%s is stuck: %d %q after %d tries", element, a.status, a.body, try)
			return
		}
		time.Sleep(500 * time.Millisecond) // as the client was told, only sooner
	}
}

func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestRestartKeepsTheAnswer: SIGTERM in the middle of a create waits for it.
func TestRestartKeepsTheAnswer(t *testing.T) {
	d := newDesk(t)
	d.delay.Store(int64(time.Second))
	s := newSidecar(t, d, "", "")
	s.start()
	client := newClient(t)
	told := make(chan answer, 1)
	go func() { told <- s.post(client, fault("core-1", 0)) }()
	waitFor(t, "the create", func() bool { return d.creates.Load() == 1 })
	s.end(syscall.SIGTERM)
	a := <-told
	if a.status != 201 {
		t.Fatalf("the client of a draining sidecar saw %d %q", a.status, a.body)
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit status %d after SIGTERM: %s", code, s.log)
	}
	s.start()
	if again := s.post(client, fault("core-1", 1)); again.ticket() != a.ticket() || !again.replayed {
		t.Errorf("after the restart: %d %q, want a replay of %q", again.status, again.body, a.ticket())
	}
}

// TestBadInputIsSentOnUntouched: the ticket system is the judge of its own
// input; what has no key reaches it byte for byte, at once, and is counted.
func TestBadInputIsSentOnUntouched(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", "")
	s.start()
	client := newClient(t)
	large := `{"cmdb_ci":"a","category":"b","description":"` + strings.Repeat("x", 10<<20) + `"}`
	inputs := []struct {
		name, why string
		body      string
		headers   []string
	}{
		{"invalid JSON", "unparsed", `{"cmdb_ci":"db-07","categ`, nil},
		{"missing identity", "missing", `{"cmdb_ci":"db-07"}`, nil},
		{"an unexpanded macro", "missing", `{"cmdb_ci":"{HOST.NAME}","category":"x"}`, nil},
		{"an empty body", "no_body", ``, nil},
		{"an unknown charset", "charset", `{"cmdb_ci":"a","category":"b"}`, []string{"Content-Type", "application/json; charset=klingon"}},
		{"an unknown coding", "coding", `{"cmdb_ci":"a","category":"b"}`, []string{"Content-Encoding", "zip"}},
		{"10 MB with a length", "too_large", large, nil},
		{"a number of a million digits", "missing", `{"cmdb_ci":1e1000000,"category":"b"}`, nil},
	}
	for _, in := range inputs {
		t.Run(in.name, func(t *testing.T) {
			before := s.metric("oneticket_unkeyed_total", `why="`+in.why+`"`)
			for try := range 2 {
				a := s.post(client, in.body, in.headers...)
				if a.status != 201 || a.replayed {
					t.Errorf("try %d saw %d, replayed %v: %.200q", try, a.status, a.replayed, a.body)
				}
				if got := a.header.Get("Oneticket-Decision"); !strings.HasPrefix(got, "pass") {
					t.Errorf("Oneticket-Decision: %q, want pass", got)
				}
				d.mu.Lock()
				arrived, header := d.bodies[len(d.bodies)-1], d.headers[len(d.headers)-1]
				d.mu.Unlock()
				if string(arrived) != in.body {
					t.Errorf("%d bytes were sent, others (%d) arrived", len(in.body), len(arrived))
				}
				if header.Get("Idempotency-Key") != "" {
					t.Errorf("a token was added")
				}
			}
			if got := s.metric("oneticket_unkeyed_total", `why="`+in.why+`"`) - before; got != 2 {
				t.Errorf("counted %v times as %s, want 2", got, in.why)
			}
		})
	}
	t.Run("10 MB in chunks", func(t *testing.T) {
		a := s.postReader(client, io.MultiReader(strings.NewReader(large))) // no length: chunked
		if a.status != 201 || a.replayed {
			t.Errorf("saw %d, replayed %v", a.status, a.replayed)
		}
		if got := s.metric("oneticket_unkeyed_total", `why="too_large"`); got != 3 {
			t.Errorf("counted %v times as too_large, want 3", got)
		}
	})
	t.Run("a bomb", func(t *testing.T) {
		var bomb bytes.Buffer
		z := gzip.NewWriter(&bomb)
		if _, err := io.CopyN(z, zeros{}, 1<<30); err != nil {
			t.Fatal(err)
		}
		z.Close()
		if a := s.post(client, bomb.String(), "Content-Encoding", "gzip"); a.status != 201 || a.replayed {
			t.Errorf("saw %d, replayed %v", a.status, a.replayed)
		}
	})
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

// TestObserveTouchesNothing: the rule decides and counts, and that is all.
func TestObserveTouchesNothing(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, `action = "observe"`, "")
	s.start()
	client := newClient(t)
	for try := range 3 {
		a := s.post(client, fault("core-1", try))
		if a.status != 201 || a.replayed || a.header.Get("Oneticket-Decision") != "" {
			t.Errorf("try %d saw %d %v", try, a.status, a.header)
		}
	}
	if got := d.creates.Load(); got != 3 {
		t.Errorf("%d creates reached the ticket system, want 3", got)
	}
	if header := d.headers[0].Get("Idempotency-Key"); header != "" {
		t.Errorf("a token was added: %q", header)
	}
	if string(d.bodies[2]) != fault("core-1", 2) {
		t.Errorf("the body was changed: %q", d.bodies[2])
	}
	if got := s.metric("oneticket_decisions_total", `decision="suppress"`); got != 2 {
		t.Errorf("%v would have been suppressed, want 2", got)
	}
}

// TestOffLetsAllPass and so does a path that is no create.
func TestOffLetsAllPass(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, `action = "off"`, "")
	s.start()
	client := newClient(t)
	for try := range 2 {
		if a := s.post(client, fault("core-1", 0)); a.status != 201 || a.replayed {
			t.Errorf("try %d saw %d, replayed %v", try, a.status, a.replayed)
		}
	}
	if got := d.creates.Load(); got != 2 {
		t.Errorf("%d creates reached the ticket system, want 2", got)
	}
}

// TestABackendBlockAloneIsEnough: a repeated request gets the first answer,
// another one its own.
func TestABackendBlockAloneIsEnough(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", "")
	s.cut(`rule "faults"`)
	s.start()
	client := newClient(t)
	first := s.post(client, fault("core-1", 0))
	again := s.post(client, fault("core-1", 0))
	other := s.post(client, fault("core-1", 1))
	if first.status != 201 || again.ticket() != first.ticket() || !again.replayed {
		t.Errorf("the same request got %d %q and %d %q", first.status, first.body, again.status, again.body)
	}
	if other.status != 201 || other.ticket() == first.ticket() {
		t.Errorf("another request got %d %q", other.status, other.body)
	}
}
