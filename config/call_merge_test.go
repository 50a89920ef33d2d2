package config_test

import (
	"fmt"
	"testing"

	"oneticket/config"
	"oneticket/dedup"
)

// mergeRule is a rule of the preset that merges; more is appended to it.
func mergeRule(t *testing.T, preset, merge, credentials, more string) *config.Rule {
	t.Helper()
	return parse(t, `backend "b" {
  url         = "https://acme.example.test"
  preset      = "`+preset+`"
  `+credentials+`
}
rule "r" {
  backend  = "b"
  identity = { host = body.host, check = body.check }
  merge    = "`+merge+`"
  `+more+`
}`).Rules[0]
}

const given = `credentials = { Authorization = "Basic cg==" }`

// answered is an answer with the body.
func answered(t *testing.T, status int, text string) *dedup.Answer {
	t.Helper()
	a := &dedup.Answer{Status: status, Raw: []byte(text)}
	if text != "" {
		v, err := dedup.ReadJSON([]byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		a.Body = v
	}
	return a
}

func TestHowThePresetsMerge(t *testing.T) {
	type answer struct {
		status int
		body   string
		want   dedup.UpdateKind
	}
	for _, c := range []struct {
		preset, merge, call, body string
		answers                   []answer
	}{
		{
			"servicenow/incident", "close", "PATCH /api/now/table/incident/7?sysparm_fields=sys_id%2Cstate&sysparm_display_value=false",
			`{"state":"6","close_code":"Duplicate","close_notes":"Duplicate of the incident 5, opened for the same fault.","parent_incident":"5"}`,
			[]answer{
				{200, `{"result":{"sys_id":"7","state":"6"}}`, dedup.UpdateApplied},
				{200, `{"result":{"sys_id":"7","state":"2"}}`, dedup.UpdateRefused},
				{204, ``, dedup.UpdateApplied},
				{200, `"<html>"`, dedup.UpdateUnknown},
				{403, `{"error":{"message":"no"}}`, dedup.UpdateRefused},
				{404, `{"error":{"message":"No Record found"}}`, dedup.UpdateRefused},
				{429, ``, dedup.UpdateNotSent},
				{500, ``, dedup.UpdateUnknown},
			},
		},
		{
			"servicenow/incident", "link", "PATCH /api/now/table/incident/7?sysparm_fields=sys_id%2Cstate&sysparm_display_value=false",
			`{"parent_incident":"5","work_notes":"Duplicate of the incident 5, opened for the same fault."}`,
			[]answer{{200, `{"result":{"sys_id":"7","state":"2"}}`, dedup.UpdateApplied}},
		},
		{
			"jira/issue", "link", "POST /rest/api/2/issueLink", `{"type":{"name":"Duplicate"},"inwardIssue":{"key":"7"},"outwardIssue":{"key":"5"}}`,
			[]answer{{201, ``, dedup.UpdateApplied}, {404, `{"errorMessages":["No issue link type"]}`, dedup.UpdateRefused}, {400, `{}`, dedup.UpdateRefused}},
		},
		{
			"zendesk/ticket", "close", "POST /api/v2/tickets/5/merge.json",
			`{"ids":[7],"source_comment":"Closed in favor of #5: it was opened twice for the same fault.","target_comment":"#7 was opened for the same fault and is merged into this one."}`,
			[]answer{
				{200, `{"job_status":{"id":"8b72","status":"queued"}}`, dedup.UpdateApplied},
				{200, `{"job_status":{"id":"8b72","status":"failed"}}`, dedup.UpdateRefused},
				{422, `{"error":"RecordInvalid"}`, dedup.UpdateRefused},
			},
		},
		{
			"zendesk/ticket", "link", "PUT /api/v2/tickets/7.json",
			`{"ticket":{"comment":{"body":"Duplicate of #5: it was opened twice for the same fault.","public":false}}}`,
			[]answer{{200, `{"ticket":{"id":7}}`, dedup.UpdateApplied}},
		},
		{
			"pagerduty/incidents", "close", "PUT /incidents/5/merge", `{"source_incidents":[{"id":"7","type":"incident_reference"}]}`,
			[]answer{{200, `{"incident":{"id":"5","status":"triggered"}}`, dedup.UpdateApplied}, {400, `{}`, dedup.UpdateRefused}},
		},
		{
			"redmine/issues", "link", "POST /issues/7/relations.json", `{"relation":{"issue_to_id":"5","relation_type":"duplicates"}}`,
			[]answer{{201, `{"relation":{"id":1}}`, dedup.UpdateApplied}, {422, `{"errors":["Related issue is invalid"]}`, dedup.UpdateRefused}},
		},
	} {
		t.Run(c.preset+", "+c.merge, func(t *testing.T) {
			r := mergeRule(t, c.preset, c.merge, given, "")
			call, ok := r.MergeCall(dedup.Ticket{ID: "5"}, dedup.Ticket{ID: "7"})
			if got := call.Method + " " + call.Path; !ok || !r.Merges() || got != c.call || string(call.Body) != c.body {
				t.Errorf("%v, %v: %s\n%s\nwant %s\n%s", ok, r.Merges(), got, call.Body, c.call, c.body)
			}
			for _, a := range c.answers {
				if got := r.MergeAnswer(answered(t, a.status, a.body)); got != a.want {
					t.Errorf("%d %s is %s, want %s", a.status, a.body, got, a.want)
				}
			}
			if _, ok := r.MergeCall(dedup.Ticket{}, dedup.Ticket{ID: "7"}); ok {
				t.Error("a double is merged into nothing")
			}
		})
	}
}

// TestGLPIMergesWhatIsOfOneKind: tickets by a link or a solution, problems by a
// solution, before any request and below the path of the last one.
func TestGLPIMergesWhatIsOfOneKind(t *testing.T) {
	for _, c := range []struct{ merge, kind, call, body string }{
		{"close", "Ticket", "/ITILSolution", `{"input":{"itemtype":"Ticket","items_id":"7","content":"Duplicate of Ticket/5, opened for the same fault."}}`},
		{"close", "Problem", "/ITILSolution", `{"input":{"itemtype":"Problem","items_id":"7","content":"Duplicate of Problem/5, opened for the same fault."}}`},
		{"link", "Ticket", "/Ticket_Ticket", `{"input":{"tickets_id_1":"7","tickets_id_2":"5","link":"2"}}`},
		{"link", "Problem", "", ""},
	} {
		t.Run(c.merge+" "+c.kind, func(t *testing.T) {
			r := mergeRule(t, "glpi/ticket", c.merge, given, "")
			double := dedup.Ticket{ID: c.kind + "/7"}
			for _, base := range []string{"/apirest.php", "/glpi/api.php/v1"} {
				call, ok := r.MergeCall(dedup.Ticket{ID: c.kind + "/5"}, double)
				if ok != (c.call != "") || ok && (call.Method != "POST" || call.Path != base+c.call || string(call.Body) != c.body) {
					t.Errorf("%v: %s %s\n%s", ok, call.Method, call.Path, call.Body)
				}
				if call, ok := r.ReadCall(nil, double); !ok || call.Path != base+"/"+c.kind+"/7?get_hateoas=false" {
					t.Errorf("%v: it is read at %s", ok, call.Path)
				}
				if _, ok := r.ReadCall(wireRequest(t, "POST", "/glpi/api.php/v1/Ticket", "{}", nil), double); !ok {
					t.Fatal("no read")
				}
			}
			for status, want := range map[int]dedup.UpdateKind{201: dedup.UpdateApplied, 400: dedup.UpdateRefused, 401: dedup.UpdateRefused, 500: dedup.UpdateUnknown} {
				text := `["ERROR","x"]`
				if status == 201 {
					text = `{"id":3,"message":""}`
				}
				if got := r.MergeAnswer(answered(t, status, text)); got != want {
					t.Errorf("%d is %s, want %s", status, got, want)
				}
			}
		})
	}
}

// TestWhatCannotBeMergedIsOnlyReported: each of them is what validate warns of.
func TestWhatCannotBeMergedIsOnlyReported(t *testing.T) {
	for i, c := range []struct {
		preset, merge, credentials, more string
		want                             bool
	}{
		{"servicenow/incident", "close", given, "", true},
		{"servicenow/incident", "report", given, "", false},
		{"servicenow/incident", "close", "", "", false},
		{"servicenow/incident", "close", given, "read = null", false},
		{"servicenow/incident", "close", given, "merge_close = null", false},
		{"jira/issue", "close", given, "", false},
		{"jira/issue", "close", given, `merge_close = { path = "/x/${ticket.id}" }`, true},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if got := mergeRule(t, c.preset, c.merge, c.credentials, c.more).Merges(); got != c.want {
				t.Errorf("%+v: %v", c, got)
			}
		})
	}
}

// TestAMergeGoesBelowTheContextPath: as the calls for the last request of a
// client did, whichever copy of the rule made them.
func TestAMergeGoesBelowTheContextPath(t *testing.T) {
	c := parse(t, `backend "jira" { url = "https://acme.example.test" }
rule "r" {
  backend  = "jira"
  identity = { host = body.host, check = body.check }
  merge    = "link"
}`)
	asks, merges := c.Connected(config.Connected{Read: true}).Rules[0], c.Connected(config.Connected{}).Rules[0]
	path := func() string {
		call, _ := merges.MergeCall(dedup.Ticket{ID: "5"}, dedup.Ticket{ID: "7"})
		return call.Path
	}
	if got := path(); got != "/rest/api/2/issueLink" {
		t.Errorf("before any request: %s", got)
	}
	if _, ok := asks.ReadCall(wireRequest(t, "POST", "/jira/rest/api/2/issue", "{}", nil), dedup.Ticket{ID: "OPS-1"}); !ok {
		t.Fatal("no read")
	}
	if got := path(); got != "/jira/rest/api/2/issueLink" {
		t.Errorf("after a request below /jira: %s", got)
	}
	if call, _ := merges.ReadCall(nil, dedup.Ticket{ID: "7"}); call.Path != "/jira/rest/api/2/issue/7?fields=status" {
		t.Errorf("it is read at %s", call.Path)
	}
}
