package config_test

import (
	"strings"
	"testing"

	"oneticket/dedup"
)

// TestCallsPresentWhatTheClientDid: a credential that stands in the query or the
// body is part of the calls that are made on its behalf, or they say so.
func TestCallsPresentWhatTheClientDid(t *testing.T) {
	form := [][2]string{{"content-type", "application/x-www-form-urlencoded"}}
	ticket := "content=id%3A+ticket%2Fnew%0AQueue%3A+General%0ASubject%3A+s%0APriority%3A+High"
	for name, c := range map[string]struct {
		preset string
		row    clientRow
		whole  bool
		carry  string // of the query
	}{
		"a key in the query":                {"redmine/issues", clientRow{Method: "POST", Target: "/issues.json?key=K", Body: `{"issue":{"subject":"s","project_id":1,"priority_id":5}}`}, true, "key"},
		"a key under another name":          {"redmine/issues", clientRow{Method: "POST", Target: "/issues.json?token=K", Body: `{"issue":{"subject":"s","project_id":1}}`}, false, ""},
		"Opsgenie's":                        {"opsgenie/alerts", clientRow{Method: "POST", Target: "/v2/alerts?apiKey=K", Body: `{"message":"s"}`}, true, "apikey"},
		"a password in the form":            {"rt/rest1", clientRow{Method: "POST", Target: "/REST/1.0/ticket/new", Headers: form, Body: "user=u&pass=p&" + ticket}, true, ""},
		"a password in the query":           {"rt/rest1", clientRow{Method: "POST", Target: "/REST/1.0/ticket/new?user=u&pass=p", Headers: form, Body: ticket}, true, "pass"},
		"a routing key":                     {"pagerduty/events", clientRow{Method: "POST", Target: "/v2/enqueue", Body: `{"routing_key":"R","event_action":"trigger","payload":{"summary":"s","source":"d","severity":"error"}}`}, true, ""},
		"a name in the envelope":            {"servicenow/soap", clientRow{Method: "POST", Target: "/incident.do", Headers: [][2]string{{"content-type", "text/xml"}}, Body: `<Envelope><Header><Security><UsernameToken><Username>u</Username></UsernameToken></Security></Header><Body><insert/></Body></Envelope>`}, false, ""},
		"what is not the rule's credential": {"jira/issue", clientRow{Method: "POST", Target: "/rest/api/2/issue?user=u", Body: `{"fields":{}}`}, false, ""},
		"headers alone":                     {"jira/issue", clientRow{Method: "POST", Target: "/rest/api/2/issue", Headers: [][2]string{{"authorization", "Basic dTpw"}}, Body: `{"fields":{}}`}, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := presetRule(t, c.preset)
			req, _ := c.row.request(t, r.Wants())
			if got := r.Presents(req); got != c.whole {
				t.Errorf("whole: %v", got)
			}
			if c.carry != "" && !r.CredentialQuery(strings.ToUpper(c.carry)) || r.CredentialQuery("project") {
				t.Errorf("%s is not repeated", c.carry)
			}
		})
	}
	r := presetRule(t, "rt/rest1")
	row := clientRow{Method: "POST", Target: "/REST/1.0/ticket/new", Headers: form, Body: "user=u&pass=p&" + ticket}
	req, _ := row.request(t, r.Wants())
	if call, _ := r.ReadCall(req, dedup.Ticket{ID: "7"}); call.Path != "/REST/1.0/ticket/7/show?user=u&pass=p" {
		t.Errorf("read %s", call.Path)
	}
	call, _ := r.UpdateCall(req, dedup.Ticket{ID: "7"}, "", dedup.Fault{}, dedup.Changed)
	if string(call.Body) != "user=u&pass=p&content=Priority%3A%20High%0A" {
		t.Errorf("update %s", call.Body)
	}
	row.Body = "user=u&pass=p&content=id%3A+ticket%2Fnew%0ASubject%3A+s"
	req, _ = row.request(t, r.Wants())
	if call, ok := r.UpdateCall(req, dedup.Ticket{ID: "7"}, "", dedup.Fault{}, dedup.Changed); ok {
		t.Errorf("an update that says nothing: %s", call.Body)
	}
}
