package config_test

import (
	"testing"

	"oneticket/dedup"
)

func answerOf(status int, body string, headers ...string) *dedup.Answer {
	a := &dedup.Answer{Status: status, Raw: []byte(body)}
	for i := 0; i < len(headers); i += 2 {
		a.Header = append(a.Header, dedup.HeaderField{Name: headers[i], Value: headers[i+1]})
	}
	if v, err := dedup.ReadJSON([]byte(body), nil); err == nil {
		a.Body = v
	}
	return a
}

func TestAnswersOfServiceNow(t *testing.T) {
	r := parse(t, snowBackend).Rules[0]
	created := dedup.Judgement{Says: dedup.SaysCreated, Ticket: dedup.Ticket{ID: "46e2", Location: "https://acme/api/now/table/incident/46e2"}}
	refused, unclear := dedup.Judgement{Says: dedup.SaysRefused}, dedup.Judgement{Says: dedup.SaysUnclear}
	for _, c := range []struct {
		name   string
		answer *dedup.Answer
		want   dedup.Judgement
	}{
		{"created", answerOf(201, `{"result":{"sys_id":"46e2","number":"INC1"}}`, "location", "https://acme/api/now/table/incident/46e2"), created},
		{"display values", answerOf(201, `{"result":{"sys_id":{"value":"46e2","display_value":"46e2"}}}`, "location", "https://acme/api/now/table/incident/46e2"), created},
		{"no response body", answerOf(201, ``, "location", "https://acme/api/now/table/incident/46e2"), created},
		{"a page of a hibernating instance", answerOf(200, `<html>sleeping</html>`), unclear},
		{"created without an id", answerOf(201, `{"result":{}}`), unclear},
		{"bad request", answerOf(400, `{"error":{}}`), refused},
		{"too many", answerOf(429, ``, "retry-after", "7"), refused},
		{"to a login page", answerOf(302, ``, "location", "/login.do"), refused},
		{"not now", answerOf(503, ``, "retry-after", "7"), refused},
		{"perhaps", answerOf(503, ``), unclear},
		{"time is over", answerOf(504, ``), unclear},
		{"request timeout", answerOf(408, ``), unclear},
		{"conflict", answerOf(409, ``), dedup.Judgement{Says: dedup.SaysExists}},
		{"locked", answerOf(423, ``), unclear},
		{"server error", answerOf(500, `{"result":{"sys_id":"46e2"}}`), unclear},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := r.Judge(request(t, `{}`), c.answer); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestAnswersOfUnknownSystems(t *testing.T) {
	r := parse(t, `backend "desk" { url = "https://desk.example.test" }`).Rules[0]
	for body, want := range map[string]string{
		`{"id":10001,"key":"OPS-1"}`:         "OPS-1",
		`{"ticket":{"id":7,"status":"new"}}`: "7",
		`{"data":{"id":"d-1"}}`:              "d-1",
		`{"result":{"sys_id":"46e2"}}`:       "46e2",
		`{"number":"12"}`:                    "12",
		`{"status":"ok"}`:                    "",
	} {
		if got := r.Judge(nil, answerOf(200, body)); got.Ticket.ID != want || (got.Says == dedup.SaysCreated) != (want != "") {
			t.Errorf("%s: %+v, want %q", body, got, want)
		}
	}
	if got := r.Judge(nil, answerOf(201, "", "location", "/issues/99")); got.Ticket.ID != "99" {
		t.Errorf("by Location: %+v", got)
	}
}

func TestFailureInsideASuccess(t *testing.T) {
	r := parse(t, snowBackend+`rule "import" {
  backend = "servicenow"
  match   = { path = "/api/now/import/[^/]+" }
  success = { when = contains(["inserted", "updated"], body.result[0].status) }
  ticket  = { id = body.result[0].sys_id }
  refused = body.result[0].status == "error"
  exists  = { status = [409, 422], match = "already (open|there)" }
  remembered = headers["x-lookup"] == "hit"
}`).Rules[0]
	for _, c := range []struct {
		answer *dedup.Answer
		want   dedup.Says
	}{
		{answerOf(201, `{"result":[{"status":"error","sys_id":"1"}]}`), dedup.SaysRefused},
		{answerOf(201, `{"result":[{"status":"ignored","sys_id":"1"}]}`), dedup.SaysUnclear},
		{answerOf(201, `{"result":[{"status":"inserted","sys_id":"1"}]}`), dedup.SaysCreated},
		{answerOf(201, `{"result":[{"status":"inserted","sys_id":"1"}]}`, "x-lookup", "hit"), dedup.SaysRemembered},
		{answerOf(422, `{"error":"it is already open"}`), dedup.SaysExists},
		{answerOf(422, `{"error":"bad field"}`), dedup.SaysRefused},
		{answerOf(409, `{"error":"conflict"}`), dedup.SaysUnclear},
	} {
		if got := r.Judge(nil, c.answer); got.Says != c.want {
			t.Errorf("%d %s: %s, want %s", c.answer.Status, c.answer.Raw, got.Says, c.want)
		}
	}
}

func TestAnswersThatNameNoTicket(t *testing.T) {
	r := parse(t, `backend "alerts" { url = "https://alerts.example.test" }
rule "r" {
  backend  = "alerts"
  identity = { source = body.source }
  ttl      = "6h"
  ticket   = "none"
  success  = { status = 202 }
  memory   = { kind = "folds" }
}`).Rules[0]
	if got := r.Judge(nil, answerOf(202, `{"status":"success"}`)); got.Says != dedup.SaysCreated || got.Ticket.ID != "" {
		t.Errorf("%+v", got)
	}
	p := r.Policy("default")
	if !p.NoTicket || p.TTL != r.Policy("x").TTL || p.TTL.Minutes() != 10 || p.Memory != dedup.Folds || !p.OnRefireForward {
		t.Errorf("%+v", p)
	}
}
