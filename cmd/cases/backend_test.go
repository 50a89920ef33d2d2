package main

import (
	"strings"
	"testing"
	"time"
)

// stand opens a backend alone and returns it with a client's way to it.
func stand(t *testing.T, sys system, script *testCase) (*backend, func(line, body string, headers ...string) (*answer, error)) {
	t.Helper()
	clock, err := newCaseClock("")
	if err != nil {
		t.Fatal(err)
	}
	b := newBackend(script, sys, clock)
	p := &port{backend: b}
	if err := p.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	c := &client{}
	t.Cleanup(c.close)
	return b, func(line, body string, headers ...string) (*answer, error) {
		s := &send{Line: line + " HTTP/1.1", Header: []headerLine{{"Host", "t.example.test"}}, Body: []byte(body)}
		for i := 0; i+1 < len(headers); i += 2 {
			s.Header = append(s.Header, headerLine{headers[i], headers[i+1]})
		}
		return c.do(p.addr, s)
	}
}

func must(t *testing.T, a *answer, err error) *answer {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestEachSystemMakesTicketsAndNamesThem(t *testing.T) {
	const soapBody = `<E/>`
	for name, tc := range map[string]struct {
		line, body string
		headers    []string
		status     int
	}{
		"snow": {line: "POST /api/now/v2/table/%69ncident/", body: `{"cmdb_ci":"a"}`, status: 201},
		"jira": {line: "POST /rest/api/2/issue", body: `{"fields":{}}`, status: 201},
		"zd":   {line: "POST /api/v2/tickets.json", body: `{"ticket":{}}`, status: 201},
		"pd":   {line: "POST /v2/enqueue", body: `{"event_action":"trigger"}`, status: 202},
		"am":   {line: "POST /hooks/tickets", body: `{"alerts":[{"status":"firing","labels":{}}]}`, status: 200},
		"form": {line: "POST /tickets/new", body: "host=a&check=b", headers: []string{"Content-Type", "application/x-www-form-urlencoded"}, status: 201},
		"soap": {line: "POST /services/HelpDesk", body: soapBody, headers: []string{"SOAPAction", `"urn:HelpDesk/Create"`}, status: 200},
		"gql":  {line: "POST /api/graphql", body: `{"query":"mutation { raiseIncident(input:{}) }"}`, status: 200},
	} {
		t.Run(name, func(t *testing.T) {
			sys := systems[name]
			b, do := stand(t, sys, &testCase{})
			for n := 1; n <= 2; n++ {
				a, err := do(tc.line, tc.body, tc.headers...)
				a = must(t, a, err)
				if ids := sys.ids(a); a.Status != tc.status || len(ids) != 1 || ids[0] != sys.id(n) {
					t.Fatalf("answer %d: %d %s, ids %q, want %s", n, a.Status, a.Body, ids, sys.id(n))
				}
			}
			if c := b.counts(); c["creates"] != 2 || c["requests"] != 2 {
				t.Errorf("counts %v", c)
			}
		})
	}
}

func TestALookUpFindsTheTicketByItsNativeField(t *testing.T) {
	for name, tc := range map[string]struct{ create, body, lookUp, has string }{
		"snow": {"POST /api/now/table/incident", `{"correlation_id":"k1"}`, "GET /api/now/table/incident?sysparm_query=correlation_id%3Dk1", `"correlation_id":"k1"`},
		"jira": {"POST /rest/api/2/issue", `{"fields":{"labels":["k1"]}}`, "GET /rest/api/2/search?jql=labels%3D%22k1%22", `"key":"OPS-1"`},
		"zd":   {"POST /api/v2/tickets", `{"ticket":{"external_id":"k1"}}`, "GET /api/v2/tickets.json?external_id=k1", `"external_id":"k1"`},
	} {
		t.Run(name, func(t *testing.T) {
			b, do := stand(t, systems[name], &testCase{})
			a, err := do(tc.create, tc.body)
			must(t, a, err)
			a, err = do(tc.create, strings.ReplaceAll(tc.body, "k1", "k2"))
			must(t, a, err)
			a, err = do(tc.lookUp, "")
			a = must(t, a, err)
			if !strings.Contains(string(a.Body), tc.has) || strings.Contains(string(a.Body), "k2") {
				t.Errorf("look-up: %s", a.Body)
			}
			a, err = do(strings.ReplaceAll(tc.lookUp, "k1", "k3"), "")
			if a = must(t, a, err); strings.Contains(string(a.Body), "k1") {
				t.Errorf("look-up of an unknown key: %s", a.Body)
			}
			if arrived, _ := b.since(2); len(arrived) != 2 || arrived[0].kind != lookUp {
				t.Errorf("arrivals %v", arrived)
			}
		})
	}
}

func TestAHelpDeskWithNativeIdempotencyRemembers(t *testing.T) {
	b, do := stand(t, zd{}, &testCase{})
	for _, tc := range []struct {
		body, says string
		status     int
	}{{"{}", "miss", 201}, {"{}", "hit", 201}, {`{"a":1}`, "", 400}} {
		a, err := do("POST /api/v2/tickets", tc.body, "Idempotency-Key", "k")
		if a = must(t, a, err); a.Status != tc.status || first(a.Header, "x-idempotency-lookup") != tc.says {
			t.Errorf("%s: %d %v", tc.body, a.Status, a.Header)
		}
	}
	if n := b.counts()["creates"]; n != 1 {
		t.Errorf("%d creates", n)
	}
}

func TestResolvingAndReopeningAreCounted(t *testing.T) {
	b, do := stand(t, snow{}, &testCase{})
	ticket := "PATCH /api/now/table/incident/" + snow{}.id(1)
	for _, step := range [][2]string{
		{"POST /api/now/table/incident", "{}"}, {ticket, `{"impact":"1"}`}, {ticket, `{"state":"6"}`}, {ticket, `{"state":"2"}`},
	} {
		a, err := do(step[0], step[1])
		must(t, a, err)
	}
	a, err := do("PATCH /api/now/table/incident/"+snow{}.id(9), `{}`)
	if a = must(t, a, err); a.Status != 404 {
		t.Errorf("update of no ticket: %d", a.Status)
	}
	if c := b.counts(); c["updates"] != 1 || c["resolves"] != 1 || c["reopens"] != 1 {
		t.Errorf("counts %v", c)
	}
}

func TestScriptsDecideCommitAndAnswer(t *testing.T) {
	answer503 := &answer{Status: 503, Line: "HTTP/1.1 503 Service Unavailable", Body: []byte(`key {{key}}`)}
	for name, tc := range map[string]struct {
		script  script
		creates int
		status  int // 0 = the connection is reset
		body    string
	}{
		"refused":            {script{Answer: answer503}, 0, 503, "key k7"},
		"lost after commit":  {script{Commit: "yes", Answer: answer503}, 1, 503, ""},
		"late":               {script{Commit: "late", Delay: 20 * time.Millisecond}, 1, 201, ""},
		"reset after":        {script{Commit: "yes", Reset: "after"}, 1, 0, ""},
		"reset before":       {script{Commit: "no", Reset: "before"}, 0, 0, ""},
		"reset, none said":   {script{Reset: "before"}, 0, 0, ""},
		"delayed, no answer": {script{Commit: "yes", Delay: time.Millisecond}, 1, 201, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tc.script.Number = 1
			b, do := stand(t, snow{}, &testCase{Create: []*script{&tc.script}})
			a, err := do("POST /api/now/table/incident", `{"correlation_id":"k7"}`)
			switch {
			case tc.status == 0 && err == nil:
				t.Errorf("an answer: %d", a.Status)
			case tc.status != 0 && (err != nil || a.Status != tc.status || !strings.Contains(string(a.Body), tc.body)):
				t.Errorf("%+v, %v", a, err)
			}
			if n := b.counts()["creates"]; n != tc.creates {
				t.Errorf("%d creates, want %d", n, tc.creates)
			}
			a, err = do("POST /api/now/table/incident", "{}")
			if a = must(t, a, err); a.Status != 201 {
				t.Errorf("the next create: %d", a.Status)
			}
		})
	}
}

func TestUntilHoldsByTheClockOfTheCase(t *testing.T) {
	busy := &answer{Status: 429, Line: "HTTP/1.1 429 Too Many Requests"}
	b, do := stand(t, snow{}, &testCase{Create: []*script{{Until: 30 * time.Second, Commit: "no", Answer: busy}}})
	for _, want := range []int{429, 429, 201} {
		a, err := do("POST /api/now/table/incident", "{}")
		if a = must(t, a, err); a.Status != want {
			t.Errorf("status %d, want %d", a.Status, want)
		}
		if err := b.clock.skip(16 * time.Second); err != nil {
			t.Fatal(err)
		}
	}
}

func TestATicketMadeByHandTakesTheNextKey(t *testing.T) {
	b, do := stand(t, snow{}, &testCase{Create: []*script{{Number: 1, Commit: "no"}}})
	if err := b.byHand("make", 1); err != nil {
		t.Fatal(err)
	}
	a, err := do("POST /api/now/table/incident", `{"correlation_id":"k1"}`)
	must(t, a, err)
	a, err = do("GET /api/now/table/incident?sysparm_query=correlation_id=k1", "")
	if a = must(t, a, err); len(snow{}.ids(a)) != 1 {
		t.Errorf("look-up: %s", a.Body)
	}
	if n := b.counts()["creates"]; n != 0 {
		t.Errorf("%d creates", n)
	}
}

func TestAnswersGoOutAsTheyAreWritten(t *testing.T) {
	text := "HTTP/1.1 201 Created\nX-a: 1\nx-A: 2, 3\nTransfer-Encoding: chunked\n\nhello"
	a, err := parseAnswer(text)
	if err != nil {
		t.Fatal(err)
	}
	_, do := stand(t, snow{}, &testCase{Create: []*script{{Number: 1, Answer: a}}})
	got, err := do("POST /api/now/table/incident", "{}")
	got = must(t, got, err)
	if v := get(got.Header, "X-A"); string(got.Body) != "hello" || len(v) != 2 || v[1] != "2, 3" || got.Header[0].Name != "X-a" {
		t.Errorf("%+v", got)
	}
}
