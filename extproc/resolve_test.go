package extproc_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"oneticket/dedup"
	"oneticket/extproc"
)

// resolving is a rule that knows resolves and reads of tickets.
func resolving(r *rig, _ *extproc.Options) {
	r.rule.Resolves = extproc.Resolves{
		Head: func(q *dedup.Request) bool {
			_, ok := strings.CutPrefix(q.Path, "/api/now/table/incident/")
			return ok && (q.Method == "PATCH" || q.Method == "GET")
		},
		Closed: func(q *dedup.Request, a *dedup.Answer) []string {
			state, _ := q.Body.Member("state").Text()
			shown, _ := a.Body.Member("state").Text()
			if a.Status == 200 && (state == "6" || shown == "6") {
				return []string{strings.TrimPrefix(q.Path, "/api/now/table/incident/")}
			}
			return nil
		},
	}
}

func TestAResolveOnTheWireClosesTheTicketThatItNames(t *testing.T) {
	for name, c := range map[string]struct {
		method, id, body string
		status, answer   string
		want             dedup.State
	}{
		"resolved":               {"PATCH", "0001", `{"state":"6"}`, "200", `{}`, dedup.Closed},
		"resolved as it answers": {"PATCH", "0001", `{"note":"x"}`, "200", `{"state":"6"}`, dedup.Closed},
		"not resolved":           {"PATCH", "0001", `{"state":"2"}`, "200", `{}`, dedup.Open},
		"refused":                {"PATCH", "0001", `{"state":"6"}`, "403", `{}`, dedup.Open},
		"another ticket":         {"PATCH", "0002", `{"state":"6"}`, "200", `{}`, dedup.Open},
		"read as closed":         {"GET", "0001", ``, "200", `{"state":"6"}`, dedup.Closed},
		"read as open":           {"GET", "0001", ``, "200", `{"state":"2"}`, dedup.Open},
	} {
		for _, action := range []extproc.Action{extproc.Enforce, extproc.Off} {
			t.Run(name+", "+string(action), func(t *testing.T) {
				r := newRig(t, resolving)
				r.first()
				r.turn(action)
				p := r.proxy()
				p.passes(c.method, "/api/now/table/incident/"+c.id, c.body, c.status, c.answer)
				if rec := r.record(createBody); rec.State != c.want {
					t.Errorf("the record is %s, want %s", rec.State, c.want)
				}
			})
		}
	}
}

// turn makes the rule's action another one.
func (r *rig) turn(a extproc.Action) {
	other := *r.rule
	other.Action = a
	r.rules.Store(&extproc.Rules{Config: "c2", Rules: []*extproc.Rule{&other}, Hosts: map[string]string{"snow": "snow.example.test"}})
}

// passes sends an exchange that must not be changed.
func (p *proxy) passes(method, path, body, status, answer string) {
	p.t.Helper()
	head := requestHeaders(":method", method, ":path", path, "content-type", "application/json")
	head.GetRequestHeaders().EndOfStream = body == ""
	m := p.ask(head)
	if got := m.GetRequestHeaders().GetResponse(); m.GetModeOverride() != nil || got.GetHeaderMutation() != nil || metadata(m, "reason") != "resolve" {
		p.t.Errorf("its header is answered with %v", m)
	}
	if body != "" {
		if m := p.ask(requestBody(body)); m.GetRequestBody().GetResponse().GetBodyMutation() != nil {
			p.t.Errorf("its body is answered with %v", m)
		}
	}
	first, rest := p.answer(status, answer)
	if first.GetImmediateResponse() != nil || rest.GetImmediateResponse() != nil {
		p.t.Errorf("its answer is replaced: %v %v", first, rest)
	}
}

func TestAResolveThatComesFirstIsKept(t *testing.T) {
	r := newRig(t, resolving)
	r.proxy().passes("PATCH", "/api/now/table/incident/0001", `{"state":"6"}`, "200", `{}`)
	p := r.proxy()
	p.create(createBody)
	p.answer("201", created1)
	r.eventually(createBody, dedup.Closed)
}

// A body that the proxy does not buffer ends with an answer of its own.
func TestAResolveThatIsTooLargePasses(t *testing.T) {
	r := newRig(t, resolving)
	p := r.proxy()
	p.ask(requestHeaders(":method", "PATCH", ":path", "/api/now/table/incident/0001"))
	m := responseHeaders("413", true)
	m.Attributes = attributes(map[string]any{"response.code_details": "request_payload_too_large"})
	if got := p.ask(m); got.GetResponseHeaders() == nil || metadata(got, "reason") != "resolve" {
		t.Errorf("got %v", got)
	}
}

func TestATicketThatIsReadAgainAndAgainIsClosedOnce(t *testing.T) {
	closes := &closings{}
	r := newRig(t, func(r *rig, o *extproc.Options) {
		resolving(r, o)
		o.Decider = closes
	})
	for range 3 {
		r.proxy().passes("GET", "/api/now/table/incident/0001", "", "200", `{"state":"6"}`)
	}
	if n := closes.n.Load(); n != 1 {
		t.Errorf("closed %d times", n)
	}
	for range 2 {
		r.proxy().passes("PATCH", "/api/now/table/incident/0001", `{"state":"6"}`, "200", `{}`)
	}
	if n := closes.n.Load(); n != 3 {
		t.Errorf("closed %d times", n)
	}
}

// closings count closes.
type closings struct {
	scripted
	n atomic.Int64
}

func (c *closings) CloseTicket(context.Context, dedup.TicketScope, string, *dedup.Policy) error {
	c.n.Add(1)
	return nil
}
func (c *closings) CloseHeld(context.Context, dedup.TicketScope, dedup.Ref, string, *dedup.Policy) error {
	return nil
}

func TestWhatIsNeitherACreateNorAResolveIsNotSeenAgain(t *testing.T) {
	r := newRig(t, resolving)
	m := r.proxy().ask(requestHeaders(":method", "GET", ":path", "/api/now/table/problem"))
	if m.GetModeOverride() == nil || metadata(m, "reason") != "no_match" {
		t.Errorf("got %v", m)
	}
}

// TestACloseWhereCreatesAreMadeIsSeen: also while the rule is off, and where the
// request lacks the identity.
func TestACloseWhereCreatesAreMadeIsSeen(t *testing.T) {
	const path = "/api/now/table/incident"
	sameRoute := func(r *rig, _ *extproc.Options) {
		r.rule.Resolves = extproc.Resolves{
			Head: func(q *dedup.Request) bool { return q.Path == path && q.Method == "POST" },
			Closed: func(q *dedup.Request, a *dedup.Answer) []string {
				id, _ := q.Body.Member("over").Text()
				if a.Status != 200 || id == "" {
					return nil
				}
				return []string{"0009", id}
			},
		}
	}
	for name, c := range map[string]struct {
		body, status, reason string
		want                 dedup.State
	}{
		"no create by its body":  {`{"kind":"comment","over":"0001"}`, "200", "resolve", dedup.Closed},
		"without the identity":   {`{"cmdb_ci":"db-1","over":"0001"}`, "200", "missing", dedup.Closed},
		"refused":                {`{"kind":"comment","over":"0001"}`, "403", "resolve", dedup.Open},
		"of nobody":              {`{"kind":"comment","over":"0002"}`, "200", "resolve", dedup.Open},
		"something else besides": {`{"kind":"comment"}`, "200", "resolve", dedup.Open},
	} {
		for _, action := range []extproc.Action{extproc.Enforce, extproc.Off} {
			t.Run(name+", "+string(action), func(t *testing.T) {
				r := newRig(t, sameRoute)
				r.first()
				r.turn(action)
				p := r.proxy()
				head := requestHeaders(":path", path, "content-type", "application/json")
				p.ask(head)
				m := p.ask(requestBody(c.body))
				if got := metadata(m, "reason"); m.GetRequestBody().GetResponse().GetBodyMutation() != nil || action == extproc.Enforce && got != c.reason || action == extproc.Off && got != "off" {
					t.Errorf("its body is answered with %v", m)
				}
				p.answer(c.status, `{}`)
				if rec := r.record(createBody); rec.State != c.want {
					t.Errorf("the record is %s, want %s", rec.State, c.want)
				}
			})
		}
	}
}
