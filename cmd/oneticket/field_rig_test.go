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
	a, err := answerIn(res)
	if err != nil {
		return answer{}
	}
	return a
}

// A pickyBulk is Jira's bulk create with labels that are not on the screen, but
// for one issue.
type pickyBulk struct {
	*httptest.Server
	wrong, takes  string
	plain         bool
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
		if one.Fields.Summary == d.wrong && (d.plain || len(named) == 0) {
			named = map[string]string{"summary": "too long"}
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
