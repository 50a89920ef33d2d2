package main_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestOnlyCreatesCountAsBypassed: while the filter is frozen, reads and changes
// of tickets pass the guarded route as well, and make no ticket.
func TestOnlyCreatesCountAsBypassed(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", "")
	s.start()
	c := newClient(t)
	id := s.post(c, fault("core-1", 0)).ticket()
	s.freeze()
	one := "/api/now/table/incident/" + id
	var all sync.WaitGroup
	for _, r := range []struct{ method, path, body string }{
		{"GET", one, ""}, {"PATCH", one, `{"state":"2"}`}, {"POST", "/api/now/attachment/file", "text"},
	} {
		all.Go(func() { send(t, c, r.method, "http://"+s.listen+r.path, r.body) })
	}
	all.Wait()
	a := s.post(c, fault("core-2", 0)) // the last: whoever counts it has seen the others
	if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if a.status != 201 || a.decision() != "" {
		t.Fatalf("the create did not pass unguarded: %d %s", a.status, a.decision())
	}
	waitFor(t, "all four in the log", func() bool { return s.bypassed() == 4 })
	waitFor(t, "the create to be counted", func() bool { return s.metric("oneticket_bypassed_total") > 0 })
	if n := s.metric("oneticket_bypassed_total", `backend="servicenow"`); n != 1 {
		t.Errorf("%v are counted", n)
	}
	if n := strings.Count(s.log.String(), "a create passed unguarded"); n != 1 {
		t.Errorf("%d are named: %s", n, s.log)
	}
}

// freeze returns when no thread of the filter runs any more: a signal is only
// the beginning of that.
func (s *sidecar) freeze() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		s.t.Fatal(err)
	}
	waitFor(s.t, "the filter to stand still", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", s.cmd.Process.Pid))
		if err != nil || len(threads) == 0 {
			return false
		}
		return !slices.ContainsFunc(threads, func(path string) bool {
			text, err := os.ReadFile(path)
			return err != nil || !strings.Contains(string(text), ") T ")
		})
	})
}

func send(t *testing.T, c *http.Client, method, url, body string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	res, err := c.Do(req)
	if err != nil {
		t.Error(err)
		return
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Error(fmt.Errorf("%s %s: %w", method, url, err))
	}
}
