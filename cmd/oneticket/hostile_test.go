package main_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver, for a second program on the file
)

// TestWhatAClientPutsIntoItsHeadersDoesNotSwitchTheGuardOff: each of these is
// sent twice, and makes one ticket.
func TestWhatAClientPutsIntoItsHeadersDoesNotSwitchTheGuardOff(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", "")
	s.start()
	client := newClient(t)
	for name, headers := range map[string][]string{
		"a request id that is no text":    {"X-Request-Id", "\xff\xfe"},
		"a request id in Latin-1":         {"X-Request-Id", "caf\xe9"},
		"a decision of its own":           {"Oneticket-Decision", "pass", "Idempotent-Replayed", "true"},
		"orders for the proxy":            {"X-Envoy-Retry-On", "5xx", "X-Envoy-Upstream-Rq-Timeout-Ms", "1"},
		"an empty token":                  {"Idempotency-Key", ""},
		"a token of 10 kB":                {"Idempotency-Key", strings.Repeat("k", 10<<10)},
		"a token that is no text":         {"Idempotency-Key", "\"a\\\"b\xff"},
		"an offer of HTTP/2":              {"Connection", "Upgrade, HTTP2-Settings", "Upgrade", "h2c", "Http2-Settings", "AAMAAABkAARAAAAAAAIAAAAA"},
		"a header of 50 kB":               {"X-Trace", strings.Repeat("z", 50<<10)},
		"an address that is no address":   {"X-Forwarded-For", "\xff, nonsense"},
		"the wish to be asked to go on":   {"Expect", "100-continue"},
		"a scheme that nobody has agreed": {"X-Forwarded-Proto", "gopher"},
	} {
		t.Run(name, func(t *testing.T) {
			before := d.creates.Load()
			first := s.post(client, fault(name, 0), headers...)
			again := s.post(client, fault(name, 1), headers...)
			if first.status != 201 || again.status != 201 || !again.replayed || again.ticket() != first.ticket() {
				t.Errorf("saw %d %.60q, then %d %.60q", first.status, first.body, again.status, again.body)
			}
			if got := d.creates.Load() - before; got != 1 {
				t.Errorf("%d tickets", got)
			}
		})
	}
}

// TestATokenThatNoHeaderCanCarryStillOpensItsTicket: the client's own
// correlation_id is a field of its body, and may be any text.
func TestATokenThatNoHeaderCanCarryStillOpensItsTicket(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", "")
	s.start()
	client := newClient(t)
	for name, token := range map[string]string{
		"a line break": `a\nb`, "a NUL": `\u0000`, "a header of its own": `a\r\nX-Admin: 1`, "90 kB": strings.Repeat("k", 90<<10),
	} {
		t.Run(name, func(t *testing.T) {
			body := fmt.Sprintf(`{"cmdb_ci":%q,"category":"link","urgency":"2","correlation_id":"%s"}`, name, token)
			first, again := s.post(client, body), s.post(client, body)
			if first.status != 201 || again.ticket() != first.ticket() || !again.replayed {
				t.Errorf("saw %d %.60q, then %d %.60q", first.status, first.body, again.status, again.body)
			}
		})
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, h := range d.headers {
		if h.Get("X-Admin") != "" {
			t.Errorf("a client's field became a header: %v", h)
		}
	}
}

// TestAFileLockedForAMomentMakesNoSecondTicket: another program holds the file
// while the ticket system answers.
func TestAFileLockedForAMomentMakesNoSecondTicket(t *testing.T) {
	d := newDesk(t)
	d.delay.Store(int64(500 * time.Millisecond))
	s := newSidecar(t, d, "", "in_flight {\n wait = \"2s\"\n lease = \"6s\"\n}")
	s.start()
	client := newClient(t)
	told := make(chan answer, 1)
	go func() { told <- s.post(client, fault("core-1", 0)) }()
	waitFor(t, "the create", func() bool { return d.creates.Load() == 1 })
	unlock := s.lockStore()
	first := <-told
	if first.status != 201 {
		t.Errorf("the client saw %d %q", first.status, first.body)
	}
	unlock()
	waitFor(t, "the answer to be stored", func() bool {
		again := s.post(client, fault("core-1", 1))
		return again.status == 201 && again.ticket() == first.ticket() && again.replayed || d.creates.Load() > 1
	})
	if got := d.creates.Load(); got != 1 {
		t.Errorf("%d tickets", got)
	}
}

// lockStore takes the write lock of the store's file.
func (s *sidecar) lockStore() (unlock func()) {
	s.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(s.dir, "state", "oneticket.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err == nil {
		_, err = conn.ExecContext(ctx, "PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE")
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return func() {
		if _, err := conn.ExecContext(ctx, "ROLLBACK"); err != nil {
			s.t.Error(err)
		}
		conn.Close()
		db.Close()
	}
}

// TestAProxyThatWasSuspendedDoesNotLetAllWhoWaitPass: when it wakes it looks at
// its clock before it reads what it was told meanwhile.
func TestAProxyThatWasSuspendedDoesNotLetAllWhoWaitPass(t *testing.T) {
	d := newDesk(t)
	d.delay.Store(int64(time.Second))
	s := newSidecar(t, d, "", "in_flight {\n wait = \"3s\"\n lease = \"6s\"\n}")
	s.start()
	client := newClient(t)
	var clients sync.WaitGroup
	for i := range 20 {
		clients.Go(func() {
			if a := s.post(client, fault("core-1", i)); a.status == 201 && a.ticket() != d.of("core-1")[0] {
				t.Errorf("client %d was told of another ticket: %q", i, a.body)
			}
		})
	}
	waitFor(t, "those who wait", func() bool { return s.metric("oneticket_waiting") == 19 })
	proxy := s.proxyPID()
	if err := syscall.Kill(proxy, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	// Longer than the 8 s that Envoy waits for the filter's answer to a message.
	time.Sleep(9 * time.Second)
	if err := syscall.Kill(proxy, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	clients.Wait()
	if got := d.creates.Load(); got != 1 {
		t.Errorf("%d tickets", got)
	}
}

// proxyPID is the Envoy of the sidecar.
func (s *sidecar) proxyPID() int {
	s.t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, task := range tasks {
		children, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		for child := range strings.FieldsSeq(string(children)) {
			pid, err := strconv.Atoi(child)
			if err == nil {
				return pid
			}
		}
	}
	s.t.Fatal("the sidecar has no child")
	return 0
}

// TestAnsweredInEveryWayABackendCanFail: whatever comes back, a re-fire is told
// of a ticket only if there is one, and an answer that was not whole is never a
// success.
func TestAnsweredInEveryWayABackendCanFail(t *testing.T) {
	d := newDesk(t)
	whole := `{"result":{"sys_id":"%s"}}`
	ways := map[string]struct {
		write  func(w http.ResponseWriter, id string)
		told   int    // what the first client sees; 0 is an error of the proxy's
		refire string // the decision on the next one
	}{
		"cut off in the body": {func(w http.ResponseWriter, id string) {
			w.Header().Set("Content-Length", "500")
			w.WriteHeader(201)
			fmt.Fprintf(w, whole, id)
			panic(http.ErrAbortHandler)
		}, 0, "busy"},
		"cut off in the header": {func(http.ResponseWriter, string) { panic(http.ErrAbortHandler) }, 0, "busy"},
		"a success without an id": {func(w http.ResponseWriter, _ string) {
			w.WriteHeader(201)
			fmt.Fprint(w, `{"result":{}}`)
		}, 201, "busy"},
		"no body": {func(w http.ResponseWriter, _ string) { w.WriteHeader(204) }, 204, "busy"},
		"an id in the Location alone": {func(w http.ResponseWriter, id string) {
			w.Header().Set("Location", "/api/now/table/incident/"+id)
			w.WriteHeader(201)
		}, 201, "suppress"},
		"a redirect": {func(w http.ResponseWriter, _ string) {
			w.Header().Set("Location", "/login")
			w.WriteHeader(302)
		}, 302, "create"},
		"an id in an answer of 300 kB": {func(w http.ResponseWriter, id string) {
			w.WriteHeader(201)
			fmt.Fprintf(w, `{"pad":"%s","result":{"sys_id":"%s"}}`, strings.Repeat("x", 300<<10), id)
		}, 201, "suppress"},
		"a conflict":      {func(w http.ResponseWriter, _ string) { w.WriteHeader(409) }, 409, "busy"},
		"too many":        {func(w http.ResponseWriter, _ string) { w.WriteHeader(429) }, 429, "create"},
		"an inner error":  {func(w http.ResponseWriter, _ string) { w.WriteHeader(500) }, 500, "busy"},
		"unknown to HTTP": {func(w http.ResponseWriter, _ string) { w.WriteHeader(999) }, 999, "busy"},
	}
	d.answers = func(w http.ResponseWriter, element, id string) bool {
		way, found := ways[element]
		if found {
			way.write(w, id)
		}
		return found
	}
	s := newSidecar(t, d, blind, "")
	s.rewrite(`settle      = "1s"`, `settle = "1m"`)
	s.start()
	client := newClient(t)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			first, again := s.post(client, fault(name, 0)), s.post(client, fault(name, 1))
			if first.status != way.told && (way.told != 0 || first.status < 500) {
				t.Errorf("the first saw %d, want %d", first.status, way.told)
			}
			if got := again.header.Get("Oneticket-Decision"); !strings.HasPrefix(got, way.refire+";") {
				t.Errorf("the re-fire saw %d %q, want %s", again.status, got, way.refire)
			}
		})
	}
}

// blind makes the ticket system one that cannot be asked.
const blind = "lookup = null\n  read = null\n  heal_within = \"0\"\n  resend = 0"
