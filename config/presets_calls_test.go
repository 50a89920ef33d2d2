package config_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"oneticket/config"
	"oneticket/dedup"
)

// presetTickets are the tickets that the files of testdata/presets are about.
var presetTickets = map[string]dedup.Ticket{
	"servicenow/incident": {ID: "46e2fa7b0a0a0b5500c6d2f9e5a6c1d8"},
	"servicenow/import": {ID: "46e2fa7b0a0a0b5500c6d2f9e5a6c1d8",
		Location: "https://acme.example.test/api/now/table/incident/46e2fa7b0a0a0b5500c6d2f9e5a6c1d8"},
	"jira/issue":     {ID: "OPS-1"},
	"zendesk/ticket": {ID: "35436"},
}

// presetRule is the rule of a backend that names nothing but the preset.
func presetRule(t testing.TB, preset string) *config.Rule {
	t.Helper()
	return parse(t, `backend "b" {
  url    = "https://acme.example.test"
  preset = "`+preset+`"
}`).Rules[0]
}

func readRows[T any](t testing.TB, preset, file string) []T {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "presets", preset, file))
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var rows []T
	if err := d.Decode(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// A wireRow is a request of an unchanged client, and what its preset makes of it.
type wireRow struct {
	Client, Method, Target, Body string
	Headers                      [][2]string
	Want                         struct {
		Matches                           bool
		Key, Native, Lookup, Read, Update string
		Principal, Reads, Witness         string
		ClientToken                       string   `json:"client_token"`
		Each                              []string // the keys of a request that makes several
	}
}

func wireRequest(t testing.TB, method, target, body string, headers [][2]string) *dedup.Request {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	r := &dedup.Request{Method: method, Host: "acme.example.test", Path: u.Path, Raw: []byte(body)}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			plain, _ := url.QueryUnescape(value)
			r.Query = append(r.Query, dedup.HeaderField{Name: name, Value: plain})
		}
	}
	for _, h := range headers {
		r.Header = append(r.Header, dedup.HeaderField{Name: h[0], Value: h[1]})
	}
	if body == "" {
		return r
	}
	if r.Body, err = dedup.ReadJSON([]byte(body), nil); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return r
}

func TestRequestsOfUnchangedClientsAndTheCallsForThem(t *testing.T) {
	for preset, ticket := range presetTickets {
		r := presetRule(t, preset)
		for _, row := range readRows[wireRow](t, preset, "requests.json") {
			t.Run(preset+"/"+row.Client+" "+row.Method+" "+row.Target, func(t *testing.T) {
				checkWireRow(t, r, &row, ticket)
			})
		}
	}
}

func checkWireRow(t *testing.T, r *config.Rule, row *wireRow, ticket dedup.Ticket) {
	req := wireRequest(t, row.Method, row.Target, row.Body, row.Headers)
	if got := r.Principal(req); got != row.Want.Principal {
		t.Errorf("principal %q, want %q", got, row.Want.Principal)
	}
	if id, ok := r.ReadsTicket(req); id != row.Want.Reads || ok != (row.Want.Reads != "") {
		t.Errorf("reads %q, want %q", id, row.Want.Reads)
	}
	if r.Matches(req) != row.Want.Matches {
		t.Fatalf("matches: %v", !row.Want.Matches)
	}
	if !row.Want.Matches {
		return
	}
	if row.Want.Each != nil {
		checkEachKey(t, r, req, row.Want.Each)
		return
	}
	f, err := r.Fault(req)
	if err != nil || string(f.Ref.Key) != row.Want.Key || f.ClientToken != row.Want.ClientToken || row.Want.Witness != "" && f.Witness != row.Want.Witness {
		t.Fatalf("%+v, %v", f, err)
	}
	token := f.ClientToken
	if token == "" {
		token = string(f.Ref.Key)
	}
	if native, ok := r.NativeToken(token); !ok || native != row.Want.Native {
		t.Errorf("native %q, want %q", native, row.Want.Native)
	}
	call, _ := r.LookUp(req, token)
	wantCall(t, call, "GET", row.Want.Lookup)
	call, _ = r.ReadCall(req, ticket)
	wantCall(t, call, "GET", row.Want.Read)
	f.Fingerprint = dedup.Fingerprint{Severity: "critical"}
	call, ok := r.UpdateCall(req, ticket, token, f, dedup.Changed)
	if got := call.Method + " " + call.Path + " " + string(call.Body); ok && got != row.Want.Update || ok != (row.Want.Update != "") {
		t.Errorf("update %s\nwant   %s", got, row.Want.Update)
	}
}

func checkEachKey(t *testing.T, r *config.Rule, req *dedup.Request, want []string) {
	t.Helper()
	list := req.Body
	for _, name := range r.Each.List {
		list = list.Member(name)
	}
	var keys []string
	for i := range list.Items {
		one := *req
		text, _ := list.Items[i].CanonicalJSON()
		one.Each, one.Raw = &list.Items[i], []byte(text)
		f, err := r.Fault(&one)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, string(f.Ref.Key))
	}
	if !slices.Equal(keys, want) {
		t.Errorf("keys %q, want %q", keys, want)
	}
}

func wantCall(t *testing.T, c dedup.Call, method, path string) {
	t.Helper()
	if path == "" {
		method = ""
	}
	if c.Method != method || c.Path != path {
		t.Errorf("%s %s\nwant %s %s", c.Method, c.Path, method, path)
	}
}

// An answerRow is an answer of a backend, and what its preset reads in it.
type answerRow struct {
	Name, Kind, Token string
	Request           struct {
		Method, Target string
		Body           json.RawMessage
	}
	Status  int
	Headers map[string]string
	Body    json.RawMessage
	Want    struct {
		Says, ID, Location   string // of a create
		Answered, Open, Gone bool   // of a look-up or a read
		Tickets              []foundRow
		Kind                 string // of an update
		Stays, Closed        bool
		Ticket, Reads        string // of a request of a client
		Resolved, Rejects    bool
	}
}

type foundRow struct {
	ID, Location string
	Open         bool
	Created      time.Time
	Status       int
	Header       map[string]string
	Body         json.RawMessage
}

// answer: a body that is a text stands for what is no JSON.
func (row *answerRow) answer(t testing.TB) *dedup.Answer {
	t.Helper()
	text := string(row.Body)
	if unquoted := ""; json.Unmarshal(row.Body, &unquoted) == nil {
		text = unquoted
	}
	var headers []string
	for name, value := range row.Headers {
		headers = append(headers, name, value)
	}
	return answerOf(row.Status, text, headers...)
}

func TestAnswersOfBackends(t *testing.T) {
	for preset := range presetTickets {
		r := presetRule(t, preset)
		for _, row := range readRows[answerRow](t, preset, "answers.json") {
			t.Run(preset+"/"+row.Kind+": "+row.Name, func(t *testing.T) { checkAnswerRow(t, r, &row) })
		}
	}
}

func checkAnswerRow(t *testing.T, r *config.Rule, row *answerRow) {
	a := row.answer(t)
	w := &row.Want
	switch row.Kind {
	case "create":
		got := r.Judge(nil, a)
		if string(got.Says) != w.Says || got.Ticket.ID != w.ID || w.Location != "" && got.Ticket.Location != w.Location {
			t.Errorf("%+v", got)
		}
	case "lookup":
		checkFound(t, r.Found(a, row.Token), row)
	case "read":
		if got := r.ReadAnswer(a); got != (dedup.ReadResult{Answered: w.Answered, Open: w.Open, Gone: w.Gone}) {
			t.Errorf("%+v", got)
		}
	case "wire":
		checkResolve(t, r, row, a)
	case "rejects":
		if r.RejectsField(a) != w.Rejects {
			t.Errorf("rejects: %v", !w.Rejects)
		}
	default:
		checkUpdated(t, r, row, a)
	}
}

func checkFound(t *testing.T, got dedup.LookUpResult, row *answerRow) {
	t.Helper()
	if got.Answered != row.Want.Answered || len(got.Tickets) != len(row.Want.Tickets) {
		t.Fatalf("%+v", got)
	}
	for i, want := range row.Want.Tickets {
		f := got.Tickets[i]
		if f.Ticket.ID != want.ID || f.Ticket.Location != want.Location || f.Open != want.Open || !f.Created.Equal(want.Created) {
			t.Errorf("%+v, want %+v", f, want)
		}
		if f.Response == nil || f.Response.Status != want.Status || len(f.Response.Header) != len(want.Header) {
			t.Fatalf("%+v", f.Response)
		}
		for _, h := range f.Response.Header {
			if want.Header[h.Name] != h.Value {
				t.Errorf("%s: %s", h.Name, h.Value)
			}
		}
		var compact bytes.Buffer
		_ = json.Compact(&compact, want.Body)
		if compact.String() != string(f.Response.Body) {
			t.Errorf("body %s\nwant %s", f.Response.Body, compact.String())
		}
	}
}

func checkUpdated(t *testing.T, r *config.Rule, row *answerRow, a *dedup.Answer) {
	t.Helper()
	f, reason := dedup.Fault{Fingerprint: dedup.Fingerprint{Severity: "major"}}, dedup.Changed
	switch row.Kind {
	case "clear":
		f.Fingerprint.Cleared = true
	case "reopen":
		reason = dedup.Reopened
	}
	got := r.Updated(a, f, reason)
	if string(got.Kind) != row.Want.Kind || got.Stays != row.Want.Stays || got.Ticket.Answered != row.Want.Closed || got.Ticket.Open {
		t.Errorf("%+v", got)
	}
}

func checkResolve(t *testing.T, r *config.Rule, row *answerRow, a *dedup.Answer) {
	t.Helper()
	body := string(row.Request.Body)
	if body == "null" {
		body = ""
	}
	req := wireRequest(t, row.Request.Method, row.Request.Target, body, nil)
	closes, _ := r.Resolves(req)
	reads, _ := r.ReadsTicket(req)
	if closes != row.Want.Ticket || reads != row.Want.Reads || len(r.Resolved(req, a)) > 0 != row.Want.Resolved {
		t.Errorf("closes %q, reads %q, resolved %v", closes, reads, r.Resolved(req, a))
	}
}
