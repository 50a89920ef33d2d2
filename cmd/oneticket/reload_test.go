package main_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// reload asks the running sidecar to read its configuration again.
func (s *sidecar) reload() (status int, said string) {
	s.t.Helper()
	res, err := http.Post("http://"+s.admin+"/v1/reload", "", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// TestReloadsUnderLoad: half of them are broken. No request fails, every
// answer is that of one configuration, and the last good one stays.
func TestReloadsUnderLoad(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", "")
	s.start()
	var stop atomic.Bool
	var requests atomic.Int64
	var load sync.WaitGroup
	for w := range 8 {
		load.Go(func() {
			client := newClient(t)
			for i := 0; !stop.Load(); i++ {
				element := fmt.Sprintf("ne-%d-%d", w, i/4)
				a := s.post(client, fault(element, i))
				ids := d.of(element)
				if a.status != 201 || len(ids) != 1 || a.ticket() != ids[0] {
					t.Errorf("%s saw %d %q; its tickets are %q", element, a.status, a.body, ids)
					return
				}
				requests.Add(1)
			}
		})
	}
	reloads := sized(20, 200)
	timeout := "5s"
	for i := range reloads {
		if i%2 == 0 {
			next := fmt.Sprintf("%ds", 6+i%5)
			s.rewrite(fmt.Sprintf("timeout = %q", timeout), fmt.Sprintf("timeout = %q", next))
			timeout = next
			if status, said := s.reload(); status != 200 {
				t.Fatalf("a good reload got %d %q", status, said)
			}
			continue
		}
		s.rewrite("rule \"faults\" {", "rule \"faults\" {\n  nonsense = 1")
		if status, said := s.reload(); status != 422 || !strings.Contains(said, "nonsense") {
			t.Fatalf("a broken reload got %d %q", status, said)
		}
		s.rewrite("\n  nonsense = 1", "")
	}
	stop.Store(true)
	load.Wait()
	if applied := s.metric("oneticket_config_reloads_total", `result="applied"`); applied != float64(reloads/2) {
		t.Errorf("%v reloads were applied, want %d", applied, reloads/2)
	}
	if got := requests.Load(); got < int64(reloads) {
		t.Errorf("only %d requests during %d reloads", got, reloads)
	}
	t.Logf("%d requests during %d reloads, half of them broken", requests.Load(), reloads)
}

// TestReloadAddsABackendAndTakesOneAway while the process runs on.
func TestReloadAddsABackendAndTakesOneAway(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", "")
	s.start()
	client := newClient(t)
	s.post(client, fault("core-1", 0))
	second := freeAddress(t)
	s.rewrite("rule \"faults\"", fmt.Sprintf("backend \"second\" {\n  url = %q\n  listen = %q\n  preset = \"servicenow\"\n}\nrule \"faults\"", d.URL, second))
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	other := *s
	other.listen = second
	waitFor(t, "the second backend", func() bool { return other.post(client, fault("core-1", 1)).status == 201 })
	if a := other.post(client, fault("core-1", 1)); !a.replayed {
		t.Errorf("the second backend is not guarded: %d %v", a.status, a.header)
	}
	if a := s.post(client, fault("core-1", 2)); !a.replayed {
		t.Errorf("the first backend forgot: %d %v", a.status, a.header)
	}
}

// TestReloadThatNeedsARestartSaysSo and changes nothing.
func TestReloadThatNeedsARestartSaysSo(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", "")
	s.start()
	s.rewrite("admin ", "socket = \"unix:/elsewhere.sock\"\nadmin ")
	status, said := s.reload()
	if status != 422 || !strings.Contains(said, "socket cannot be changed while oneticket runs") {
		t.Errorf("got %d %q", status, said)
	}
	res, err := http.Get("http://" + s.admin + "/ready")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	ready, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != 200 || !strings.Contains(string(ready), "not in force") {
		t.Errorf("/ready says %d %s", res.StatusCode, ready)
	}
}

// TestAReloadThatChangesNothingSaysWhy: the files say what is in force, as
// they did before or again.
func TestAReloadThatChangesNothingSaysWhy(t *testing.T) {
	s := newSidecar(t, newDesk(t), "", "")
	s.start()
	reload := func(want int) {
		t.Helper()
		if status, said := s.reload(); status != want {
			t.Errorf("got %d %q, want %d", status, said, want)
		}
	}
	reload(200)
	s.rewrite("rule \"faults\" {", "rule \"faults\" {\n  nonsense = 1")
	reload(422)
	s.rewrite("\n  nonsense = 1", "")
	reload(200)
	s.end(syscall.SIGTERM)
	var seen []string
	for line := range strings.Lines(s.log.String()) {
		for _, part := range []string{"configuration unchanged", "was not reloaded", "configuration in force again"} {
			if strings.Contains(line, part) {
				seen = append(seen, part)
			}
		}
	}
	if got := strings.Join(seen, ", "); got != "configuration unchanged, was not reloaded, configuration in force again" {
		t.Errorf("%s in: %s", got, s.log)
	}
}

// TestAReloadWhoseAskerGoesAwayIsWhole: what is in force is the old or the new
// configuration, and the process knows which.
func TestAReloadWhoseAskerGoesAwayIsWhole(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", "")
	s.start()
	timeout := "5s"
	for i := range 12 {
		next := fmt.Sprintf("%ds", 6+i%5)
		s.rewrite(fmt.Sprintf("timeout = %q", timeout), fmt.Sprintf("timeout = %q", next))
		timeout = next
		ctx, gone := context.WithTimeout(t.Context(), time.Duration(i)*8*time.Millisecond)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.admin+"/v1/reload", nil)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := http.DefaultClient.Do(req); err == nil {
			res.Body.Close()
		}
		gone()
	}
	if status, said := s.reload(); status != 200 {
		t.Errorf("the next reload says %d %q", status, said)
	}
	if got := s.metric("oneticket_config_reloads_total", `result="rejected"`); got != 0 {
		t.Errorf("%v reloads came to nothing: %s", got, s.log)
	}
}
