package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A pickyDesk is a ticket system that refuses creates with a field.
type pickyDesk struct {
	*httptest.Server
	kind pickyKind

	mu   sync.Mutex
	seen []pickySeen
	next func(http.ResponseWriter) bool // of a create without the field; true: it has answered

	takes int // so many creates are taken with the field
}

type pickySeen struct{ body, key string }

// A pickyKind is one preset: what its creates are like, and its refusals.
type pickyKind struct {
	preset, path   string
	member         string // of the body as JSON text: where it stands, the create has the field
	status         int
	refusal        string
	create         string // E is the element
	identity       string
	answer, ticket string // N is the number of the ticket
}

var pickyKinds = []pickyKind{
	{
		preset: "jira/issue", path: "/rest/api/2/issue", member: `"labels"`, status: 400,
		refusal:  `{"errorMessages":[],"errors":{"labels":"Field 'labels' cannot be set. It is not on the appropriate screen, or unknown."}}`,
		create:   `{"fields": {"project": {"key": "OPS"}, "summary": "E"}}`,
		identity: "body.fields.summary", answer: `{"id":"100N","key":"OPS-N","self":"http://jira/rest/api/2/issue/100N"}`, ticket: "OPS-N",
	},
	{
		preset: "servicenow/incident", path: "/api/now/table/incident", member: `"correlation_id"`, status: 403,
		refusal:  `{"error":{"message":"Operation Failed","detail":"ACL Exception on the field correlation_id"},"status":"failure"}`,
		create:   `{"short_description": "E", "urgency": "2"}`,
		identity: "body.short_description", answer: `{"result":{"sys_id":"N","number":"INCN"}}`, ticket: "N",
	},
	{
		preset: "zendesk/ticket", path: "/api/v2/tickets.json", member: `"external_id"`, status: 422,
		refusal:  `{"error":"RecordInvalid","description":"Record validation errors","details":{"external_id":[{"description":"cannot be set"}]}}`,
		create:   `{"ticket": {"subject": "E"}}`,
		identity: "body.ticket.subject", answer: `{"ticket":{"id":N},"audit":{}}`, ticket: "N",
	},
	{
		preset: "pagerduty/incidents", path: "/incidents", member: `"incident_key"`, status: 400,
		refusal:  `{"error":{"message":"Invalid Input Provided","code":2001,"errors":["incident_key is not allowed"]}}`,
		create:   `{"incident": {"type": "incident", "title": "E"}}`,
		identity: "body.incident.title", answer: `{"incident":{"id":"PN"}}`, ticket: "PN",
	},
}

func newPickyDesk(t *testing.T, kind pickyKind) *pickyDesk {
	d := &pickyDesk{kind: kind}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

func (d *pickyDesk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender went away in the middle
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusNotImplemented)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = append(d.seen, pickySeen{string(text), r.Header.Get("Idempotency-Key")})
	w.Header().Set("Content-Type", "application/json")
	switch {
	case strings.Contains(string(text), d.kind.member) && len(d.seen) > d.takes:
		w.WriteHeader(d.kind.status)
		io.WriteString(w, d.kind.refusal)
	case d.next != nil && d.next(w):
	default:
		w.Header().Set("X-Desk", "yes")
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, strings.ReplaceAll(d.kind.answer, "N", fmt.Sprint(len(d.seen))))
	}
}

// since are the creates that came after the first n.
func (d *pickyDesk) since(n int) []pickySeen {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]pickySeen(nil), d.seen[n:]...)
}

// newPicked is a sidecar in front of it.
func newPicked(t *testing.T, d *pickyDesk, settings string) *sidecar {
	s := &sidecar{t: t, dir: t.TempDir(), listen: freeAddress(t), admin: freeAddress(t)}
	s.config = filepath.Join(s.dir, "oneticket.hcl")
	text := fmt.Sprintf(`
state_dir = %q
admin     = %q
backend "desk" {
  url     = %q
  listen  = %q
  preset  = %q
  timeout = "5s"
}
rule "faults" {
  backend  = "desk"
  identity = { element = %s }
  settle   = "1s"
  resend   = 0
  lookup   = null
  %s
}
`, filepath.Join(s.dir, "state"), s.admin, d.URL, s.listen, d.kind.preset, d.kind.identity, settings)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start()
	return s
}

// creates sends the create of the element.
func (s *sidecar) creates(d *pickyDesk, element string) answer {
	return s.sends(d.kind.path, strings.ReplaceAll(d.kind.create, "E", element))
}

func (s *sidecar) sends(path, body string) answer { return s.sendsAs("bot", path, body) }

func (s *sidecar) sendsAs(user, path, body string) answer {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://"+s.listen+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.SetBasicAuth(user, "secret")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}
	}
	return answer{status: res.StatusCode, header: res.Header, body: string(text), replayed: res.Header.Get("Idempotent-Replayed") == "true"}
}

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
	}{
		"all": {}, "all, of which one is wrong": {wrong: "core-2"}, "two of three": {takes: "core-2"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &pickyBulk{wrong: c.wrong, takes: c.takes}
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

// A pickyBulk is Jira's bulk create with labels that are not on the screen, but
// for one issue.
type pickyBulk struct {
	*httptest.Server
	wrong, takes  string
	mu            sync.Mutex
	creates, made int
}

func (d *pickyBulk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		IssueUpdates []struct {
			Fields struct {
				Summary string
				Labels  []string
			}
		}
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || r.Method != http.MethodPost {
		w.WriteHeader(http.StatusNotImplemented)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.creates++
	issues, failed := []any{}, []any{}
	for i, one := range body.IssueUpdates {
		named := map[string]string{}
		if len(one.Fields.Labels) > 0 && one.Fields.Labels[len(one.Fields.Labels)-1] != "own" && one.Fields.Summary != d.takes {
			named["labels"] = "Field 'labels' cannot be set."
		}
		if one.Fields.Summary == d.wrong && len(named) == 0 {
			named["summary"] = "too long"
		}
		if len(named) > 0 {
			failed = append(failed, map[string]any{"status": 400, "failedElementNumber": i, "elementErrors": map[string]any{"errors": named}})
			continue
		}
		d.made++
		issues = append(issues, map[string]string{"key": "OPS-" + one.Fields.Summary})
	}
	status := http.StatusCreated
	if len(issues) == 0 {
		status = http.StatusBadRequest
	}
	sayJSON(w, status, map[string]any{"issues": issues, "errors": failed})
}
