package main_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestABackendThatRefusesOurFieldGetsTheCreateAsItCame: once more, under the
// same claim, and from then on at once, until the configuration changes.
func TestABackendThatRefusesOurFieldGetsTheCreateAsItCame(t *testing.T) {
	for _, kind := range pickyKinds {
		t.Run(kind.preset, func(t *testing.T) {
			d := newPickyDesk(t, kind)
			s := newPicked(t, d, "")
			plain := strings.ReplaceAll(kind.create, "E", "core-1")
			a := s.creates(d, "core-1")
			if want := strings.ReplaceAll(kind.answer, "N", "2"); a.status != 201 || a.body != want || a.header.Get("X-Desk") != "yes" || a.decision() != "create; reason=first" {
				t.Errorf("the client saw %d %q, %s, %v", a.status, a.body, a.decision(), a.header)
			}
			seen := d.since(0)
			if len(seen) != 2 || seen[0].body == plain || seen[1].body != plain || seen[0].key == "" || seen[1].key != seen[0].key {
				t.Errorf("the desk saw %q", seen)
			}
			if a := s.creates(d, "core-1"); !a.replayed || a.body != strings.ReplaceAll(kind.answer, "N", "2") || len(d.since(2)) != 0 {
				t.Errorf("a re-fire saw %d %q, the desk %q", a.status, a.body, d.since(2))
			}
			if a := s.creates(d, "core-2"); a.status != 201 || len(d.since(2)) != 1 || d.since(2)[0].body != strings.ReplaceAll(kind.create, "E", "core-2") || d.since(2)[0].key == "" {
				t.Errorf("another fault saw %d %q, the desk %q", a.status, a.body, d.since(2))
			}
			s.wantFieldOff(1)
			s.rewrite(`settle   = "1s"`, `settle   = "2s"`)
			res, err := http.Post("http://"+s.admin+"/v1/reload", "", nil)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if said := s.degraded(t); len(said) != 0 {
				t.Errorf("after a reload: %q", said)
			}
			if a := s.creates(d, "core-3"); a.status != 201 || len(d.since(3)) != 2 {
				t.Errorf("after a reload: %d %q, the desk %q", a.status, a.body, d.since(3))
			}
			s.wantFieldOff(2)
		})
	}
}

// wantFieldOff: it is counted, logged and shown.
func (s *sidecar) wantFieldOff(times float64) {
	s.t.Helper()
	if n := s.metric("oneticket_field_rejected_total", `backend="desk"`); n != times {
		s.t.Errorf("counted %v times, want %v", n, times)
	}
	if said := strings.Join(s.degraded(s.t), "\n"); !strings.Contains(said, "backend desk refuses our token in its field ") {
		s.t.Errorf("/ready: %q", said)
	}
	if n := strings.Count(s.log.String(), "refuses our token in its own field"); float64(n) != times {
		s.t.Errorf("logged %d times", n)
	}
}

// TestWhatBecomesOfTheCreateWithoutTheField is the client's answer, and the
// record's.
func TestWhatBecomesOfTheCreateWithoutTheField(t *testing.T) {
	const other = `{"errorMessages":[],"errors":{"summary":"too long"}}`
	for name, c := range map[string]struct {
		next   func(http.ResponseWriter) bool
		status int
		says   string
		again  string // the decision on the same create a moment later
	}{
		"refused for another reason": {func(w http.ResponseWriter) bool {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, other)
			return true
		}, 400, other, "create; reason=first"},
		"too many requests": {func(w http.ResponseWriter) bool {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}, 429, "", "create; reason=first"},
		"lost":   {func(w http.ResponseWriter) bool { (&visit{w: w}).raw("", true); return true }, 503, "", "busy; reason=busy"},
		"failed": {func(w http.ResponseWriter) bool { w.WriteHeader(500); return true }, 500, "", "busy; reason=busy"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newPickyDesk(t, pickyKinds[0])
			d.next = c.next
			s := newPicked(t, d, "")
			if a := s.creates(d, "core-1"); a.status != c.status || !strings.Contains(a.body, c.says) {
				t.Errorf("the client saw %d %q", a.status, a.body)
			}
			if a := s.creates(d, "core-1"); a.decision() != c.again {
				t.Errorf("then it saw %s", a.decision())
			}
			if n := len(d.since(0)); c.again == "busy; reason=busy" && n != 2 {
				t.Errorf("the desk saw %d creates", n)
			}
		})
	}
}

// TestABadFieldOfTheClientsOwnDoesNotSwitchOursOff: the desk refuses the create
// for it without our token too, and all other creates can still be looked up.
func TestABadFieldOfTheClientsOwnDoesNotSwitchOursOff(t *testing.T) {
	d := newPickyDesk(t, pickyKinds[0])
	d.takes = 1
	s := newPicked(t, d, "")
	if a := s.creates(d, "core-1"); a.status != 201 {
		t.Fatalf("the client saw %d %q", a.status, a.body)
	}
	bad := `{"fields": {"project": {"key": "OPS"}, "summary": "core-2", "labels": ["two words"]}}`
	if a := s.sends(d.kind.path, bad); a.status != 400 || !strings.Contains(a.body, "labels") || len(d.since(1)) != 2 {
		t.Errorf("the client saw %d %q, the desk %q", a.status, a.body, d.since(1))
	}
	d.mu.Lock()
	d.takes = 100
	d.mu.Unlock()
	if a := s.creates(d, "core-3"); a.status != 201 || !strings.Contains(d.since(3)[0].body, `"labels"`) {
		t.Errorf("another fault saw %d, the desk %q", a.status, d.since(3))
	}
	if n, said := s.metric("oneticket_field_rejected_total", `backend="desk"`), s.degraded(t); n != 0 || len(said) != 0 {
		t.Errorf("counted %v times; /ready: %q", n, said)
	}
}

// TestAStrangersReFireIsSentOnWithoutTheFieldToo: only the desk can say whether
// its sender may see the ticket, and the field is no reason to turn it away.
func TestAStrangersReFireIsSentOnWithoutTheFieldToo(t *testing.T) {
	d := newPickyDesk(t, pickyKinds[0])
	d.takes = 1
	s := newPicked(t, d, "")
	s.creates(d, "core-1")
	body := strings.ReplaceAll(d.kind.create, "E", "core-1")
	a := s.sendsAs("stranger", d.kind.path, body)
	if a.status != 201 || a.decision() != "suppress; reason=refire" || a.header.Get("X-Desk") != "yes" {
		t.Errorf("the stranger saw %d %q, %s", a.status, a.body, a.decision())
	}
	if seen := d.since(1); len(seen) != 2 || seen[1].body != body {
		t.Errorf("the desk saw %q", seen)
	}
	s.wantFieldOff(1)
}

// TestALostCreateWithoutTheFieldCannotBeLookedUp: that nothing is found then
// proves nothing, so it is sent again when it can no longer land, and the
// possible double is counted.
func TestALostCreateWithoutTheFieldCannotBeLookedUp(t *testing.T) {
	d := newPickyDesk(t, pickyKinds[0])
	lose := true
	d.next = func(w http.ResponseWriter) bool {
		if lose {
			(&visit{w: w}).raw("", true)
		}
		lost := lose
		lose = false
		return lost
	}
	s := newPicked(t, d, `heal_within = "0s"`)
	s.creates(d, "core-1")
	var last answer
	waitFor(t, "it to be sent again", func() bool { last = s.creates(d, "core-1"); return last.status == 201 })
	if last.decision() != "create; reason=retried" || len(d.since(0)) != 3 {
		t.Errorf("decided %s, the desk saw %q", last.decision(), d.since(0))
	}
	if n := s.metric("oneticket_duplicates_total", `kind="possible"`); n != 1 {
		t.Errorf("%v possible doubles are counted", n)
	}
}

// TestOfABulkThoseAreSentAgainThatWereRefusedForTheField, and the client's
// answer has all in its own order.
func TestOfABulkThoseAreSentAgainThatWereRefusedForTheField(t *testing.T) {
	for name, c := range map[string]struct {
		wrong string // is refused for something else
		takes string // is taken with the field
		plain bool   // of the wrong one nothing is said of the field
	}{
		"all": {}, "all, of which one is wrong": {wrong: "core-2"}, "two of three": {takes: "core-2"},
		"all, and one is wrong whatever it carries": {wrong: "core-2", plain: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := &pickyBulk{wrong: c.wrong, takes: c.takes, plain: c.plain}
			d.Server = httptest.NewServer(d)
			t.Cleanup(d.Close)
			p := &pickyDesk{Server: d.Server, kind: pickyKinds[0]}
			p.kind.identity = "each.value.fields.summary"
			s := newPicked(t, p, `
  match    = { path = "(?P<base>)/rest/api/2/issue/bulk" }
  for_each = body.issueUpdates
  ticket   = { items = body.issues, id = item.key, failed = body.errors, number = item.failedElementNumber, wrapper = "{\"issues\":[],\"errors\":[]}" }`)
			body := `{"issueUpdates":[{"fields":{"summary":"core-1","labels":["own"]}},{"fields":{"summary":"core-2"}},{"fields":{"summary":"core-3"}}]}`
			a := s.sends("/rest/api/2/issue/bulk", body)
			var got struct {
				Issues []struct{ Key string }
				Errors []struct{ FailedElementNumber int }
			}
			if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != 201 {
				t.Fatalf("the client saw %d %q", a.status, a.body)
			}
			wantIssues, wantErrors := 3, 0
			if c.wrong != "" {
				wantIssues, wantErrors = 2, 1
			}
			if len(got.Issues) != wantIssues || len(got.Errors) != wantErrors || got.Issues[0].Key != "OPS-core-1" || got.Issues[wantIssues-1].Key != "OPS-core-3" {
				t.Errorf("the client saw %s", a.body)
			}
			if wantErrors == 1 && got.Errors[0].FailedElementNumber != 1 {
				t.Errorf("the wrong one is refused: %s", a.body)
			}
			if wantErrors == 0 && got.Issues[1].Key != "OPS-core-2" {
				t.Errorf("they are not in the client's order: %s", a.body)
			}
			if d.creates != 2 || d.made != wantIssues {
				t.Errorf("the desk had %d requests and made %d", d.creates, d.made)
			}
			if a := s.sends("/rest/api/2/issue/bulk", body); wantErrors == 0 && (!a.replayed || d.creates != 2) {
				t.Errorf("again: %d %q, %d requests", a.status, a.body, d.creates)
			}
			s.wantFieldOff(1)
		})
	}
}
