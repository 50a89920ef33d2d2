package config_test

import "testing"

// TestBackendsCountTheOpenTicketsWithOurKeys: the calls of the presets that can
// ask, and what they take for a number.
func TestBackendsCountTheOpenTicketsWithOurKeys(t *testing.T) {
	for _, c := range []struct {
		preset, url, path string
		answers           map[string]int64 // -1 says nothing
	}{
		{"servicenow/incident", "https://acme.example.test",
			"/api/now/stats/incident?sysparm_count=true&sysparm_query=correlation_idSTARTSWITHidem%3A%5EstateNOT%20IN6%2C7%2C8%5Eactive%3Dtrue",
			map[string]int64{`{"result":{"stats":{"count":"12"}}}`: 12, `{"result":{"stats":{"count":0}}}`: 0, `{"result":{"stats":{}}}`: -1, `<html>hibernating</html>`: -1}},
		{"zendesk/ticket", "https://acme.example.test",
			"/api/v2/search/count.json?query=type%3Aticket%20external_id%3Aidem%2A%20status%3Csolved",
			map[string]int64{`{"count":3}`: 3, `{"count":"many"}`: -1, `{"count":-1}`: -1}},
		{"opsgenie/alerts", "https://api.eu.opsgenie.com",
			"/v2/alerts/count?query=alias%3A%20idem%2A%20AND%20status%3A%20open",
			map[string]int64{`{"data":{"count":1844},"took":0.6}`: 1844, `{"took":0.6}`: -1}},
		{"opsgenie/alerts", "https://api.example.test", "", nil},
		{"jira/issue", "https://acme.example.test", "", nil}, // JQL cannot ask for the beginning of a label
	} {
		t.Run(c.preset+" at "+c.url, func(t *testing.T) {
			r := parse(t, "backend \"b\" {\n  url = \""+c.url+"\"\n  preset = \""+c.preset+"\"\n}").Rules[0]
			call, ok := r.CountCall()
			if ok != (c.path != "") || call.Path != c.path || ok && call.Method != "GET" {
				t.Errorf("%s %s, %t", call.Method, call.Path, ok)
			}
			for body, want := range c.answers {
				n, ok := r.Counted(answerOf(200, body))
				if ok != (want >= 0) || ok && n != want {
					t.Errorf("%s: %d, %t", body, n, ok)
				}
				if _, ok := r.Counted(answerOf(403, body)); ok {
					t.Errorf("a refusal with %s is a number", body)
				}
			}
		})
	}
}
