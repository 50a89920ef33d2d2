package extproc_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"oneticket/dedup"
	"oneticket/extproc"
)

// A system is a ticket system that is asked by outside calls.
type system struct {
	mu      sync.Mutex
	tickets map[string]*systemTicket
	calls   map[string]int   // by method and kind: "GET list", "GET one", "PATCH one", "POST list"
	script  map[string][]int // statuses of the next calls of a kind, in place of doing anything
	after   string           // Retry-After of a scripted answer
	denied  map[string]bool  // values of Authorization
	bodies  []string         // of the creates
}

type systemTicket struct {
	ID, Token, Severity string
	Open                bool
}

func newSystem() *system {
	return &system{tickets: map[string]*systemTicket{}, calls: map[string]int{}, script: map[string][]int{}, denied: map[string]bool{}}
}

func (s *system) make(token string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(token).ID
}

func (s *system) add(token string) *systemTicket {
	t := &systemTicket{ID: fmt.Sprintf("%04d", len(s.tickets)+1), Token: token, Open: true}
	s.tickets[t.ID] = t
	return t
}

func (s *system) close(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tickets[id].Open = false
}

func (s *system) count(kind string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[kind]
}

func (s *system) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.tickets)
}

func (s *system) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	id := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/api/now/table/incident"), "/")
	kind := r.Method + " list"
	if id != "" {
		kind = r.Method + " one"
	}
	s.calls[kind]++
	if next := s.script[kind]; len(next) > 0 {
		s.script[kind] = next[1:]
		if s.after != "" {
			w.Header().Set("Retry-After", s.after)
		}
		w.WriteHeader(next[0])
		return
	}
	if s.denied[r.Header.Get("Authorization")] {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"error":"not yours"}`)
		return
	}
	s.answer(w, r, id, text)
}

func (s *system) answer(w http.ResponseWriter, r *http.Request, id string, text []byte) {
	var body map[string]string
	_ = json.Unmarshal(text, &body) // what is no create has none
	t := s.tickets[id]
	switch {
	case r.Method == "GET" && id == "":
		list := []*systemTicket{}
		for _, id := range slices.Sorted(maps.Keys(s.tickets)) {
			if s.tickets[id].Token == r.URL.Query().Get("token") {
				list = append(list, s.tickets[id])
			}
		}
		reply(w, 200, map[string]any{"list": list})
	case r.Method == "POST":
		s.bodies = append(s.bodies, string(text))
		made := s.add(body["correlation_id"])
		reply(w, 201, map[string]any{"result": map[string]string{"sys_id": made.ID}})
	case t == nil:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == "PATCH":
		t.Severity = body["impact"]
		reply(w, 200, map[string]any{"one": t})
	default:
		reply(w, 200, map[string]any{"one": t})
	}
}

func reply(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // who asked may have gone
}

// asks are a rule's calls of the system.
func asks() extproc.Asks {
	const path = "/api/now/table/incident"
	return extproc.Asks{
		LookUp: func(_ *dedup.Request, token string) (dedup.Call, bool) {
			return dedup.Call{Method: "GET", Path: path + "?token=" + token}, true
		},
		Found: found,
		Read: func(_ *dedup.Request, t dedup.Ticket) (dedup.Call, bool) {
			return dedup.Call{Method: "GET", Path: path + "/" + t.ID}, true
		},
		ReadAnswer: func(a *dedup.Answer) dedup.ReadResult {
			if a.Status == 404 {
				return dedup.ReadResult{Answered: true, Gone: true}
			}
			open, ok := a.Body.Member("one").Member("Open").Text()
			return dedup.ReadResult{Answered: a.Status == 200 && ok, Open: open == "true"}
		},
		Update: func(_ *dedup.Request, t dedup.Ticket, _ string, f dedup.Fault, _ dedup.Reason) (dedup.Call, bool) {
			return dedup.Call{Method: "PATCH", Path: path + "/" + t.ID, Body: []byte(`{"impact":"` + f.Fingerprint.Severity + `"}`)}, true
		},
		Updated: func(a *dedup.Answer, _ dedup.Fault, _ dedup.Reason) dedup.UpdateOutcome {
			switch {
			case a.Status == 200:
				return dedup.UpdateOutcome{Kind: dedup.UpdateApplied}
			case a.Status < 500:
				return dedup.UpdateOutcome{Kind: dedup.UpdateRefused}
			default:
				return dedup.UpdateOutcome{Kind: dedup.UpdateUnknown}
			}
		},
	}
}

func found(a *dedup.Answer, _ string) dedup.LookUpResult {
	list := a.Body.Member("list")
	if a.Status != 200 || list.Kind != dedup.ListValue {
		return dedup.LookUpResult{}
	}
	out := dedup.LookUpResult{Answered: true}
	for _, item := range list.Items {
		id, _ := item.Member("ID").Text()
		open, _ := item.Member("Open").Text()
		out.Tickets = append(out.Tickets, dedup.FoundTicket{
			Ticket: dedup.Ticket{ID: id}, Open: open == "true",
			Response: &dedup.Response{Status: 201, Body: []byte(`{"result":{"sys_id":"` + id + `"}}`)},
		})
	}
	return out
}

// newDeskRig is a rig whose rule asks the system.
func newDeskRig(t *testing.T, change func(*rig, *extproc.Options, *dedup.Policy)) (*rig, *system) {
	t.Helper()
	return newDeskRigAt(t, new(string), change)
}

// newDeskRigAt also tells where the system is.
func newDeskRigAt(t *testing.T, at *string, change func(*rig, *extproc.Options, *dedup.Policy)) (*rig, *system) {
	t.Helper()
	s := newSystem()
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	*at = web.URL
	calls := extproc.NewCaller(nil)
	t.Cleanup(calls.Close)
	calls.Use([]extproc.Outlet{{Backend: "snow", Via: web.URL}})
	r := newRig(t, func(r *rig, o *extproc.Options) {
		byUser(r, o)
		policy := *r.rule.Policy("")
		policy.CanLookUp, policy.CanRead, policy.CanUpdate = true, true, true
		policy.Settle = 200 * time.Millisecond
		policy.OnUpdateFailed = "forward"
		policy.Severities = map[string]int{"1": 3, "2": 2, "3": 1}
		r.rule.Asks = asks()
		r.rule.SafeRetries = true
		o.Calls = calls
		if change != nil {
			change(r, o, &policy)
		}
		r.rule.Policy = func(string) *dedup.Policy { return &policy }
	})
	return r, s
}

// local is an answer that the proxy wrote itself because the backend's did not
// come.
func local(status string) *extprocv3.ProcessingRequest {
	m := responseHeaders(status, false)
	m.Attributes = attributes(map[string]any{
		"response.code_details": "upstream_reset_before_response_started{connection_termination}",
		"response.flags":        64, "upstream.request_attempt_count": 1,
	})
	return m
}

// loses lets a create go whose answer does not come, and returns what the
// client gets.
func (p *proxy) loses(body string) *extprocv3.ProcessingResponse {
	p.t.Helper()
	p.ask(local("503"))
	p.send(responseBody("upstream connect error"))
	return p.last()
}

// last skips the wishes for more time.
func (p *proxy) last() *extprocv3.ProcessingResponse {
	p.t.Helper()
	for {
		if m := p.receive(); m.GetOverrideMessageTimeout() == nil {
			return m
		}
	}
}

// decided is create, for a request that may have to wait.
func (p *proxy) decided(body string, header ...string) *extprocv3.ProcessingResponse {
	p.t.Helper()
	p.ask(requestHeaders(header...))
	p.send(requestBody(body))
	return p.last()
}

func decisionOf(m *extprocv3.ProcessingResponse) string {
	decision, _, _ := strings.Cut(header(m.GetImmediateResponse().GetHeaders(), "oneticket-decision"), "; key")
	return decision
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("it does not come to this: " + what)
		}
	}
}
