package config_test

import (
	"slices"
	"strings"
	"testing"

	"oneticket/config"
	"oneticket/dedup"
	"oneticket/extproc/body"
)

// sampleToken is a token as the comments of presets look for it.
const sampleToken = "idem:0123456789abcdef0123456789abcdef"

// TestTicketsAreFoundByACustomField uses what the comments of the presets say
// for an installation that has such a field.
func TestTicketsAreFoundByACustomField(t *testing.T) {
	form := [][2]string{{"content-type", "application/x-www-form-urlencoded"}}
	for _, c := range []struct {
		preset         string
		create         clientRow
		sent, path     string
		found, nothing string
		status         int
		body           string
	}{
		{"rt/rest1", clientRow{Client: "python-rt", Method: "POST", Target: "/rt/REST/1.0/ticket/new", Headers: form, Body: "content=id%3A+ticket%2Fnew%0AQueue%3A+General%0ASubject%3A+s"},
			"content=CF.%7BOneTicket%7D%3A+idem%3A0123456789abcdef0123456789abcdef%0Aid%3A+ticket%2Fnew%0AQueue%3A+General%0ASubject%3A+s",
			"/rt/REST/1.0/search/ticket?query=%27CF.%7BOneTicket%7D%27%20%3D%20%27idem%3A0123456789abcdef0123456789abcdef%27&fields=id%2CStatus%2CCF.%7BOneTicket%7D&orderby=%2Bid",
			"RT/4.4.3 200 Ok\n\nid: ticket/5\nStatus: resolved\nCF.{OneTicket}: " + sampleToken + "\n\n--\n\nid: ticket/7\nStatus: open\nCF.{OneTicket}: " + sampleToken + "\n\n--\n\nid: ticket/8\nStatus: open\nCF.{OneTicket}: " + sampleToken + ".2\n",
			"RT/4.4.3 200 Ok\n\nNo matching results.\n", 200, "RT/1.0 200 Ok\n\n# Ticket 7 created.\n\n"},
		{"rt/rest2", clientRow{Client: "python-rt", Method: "POST", Target: "/REST/2.0/ticket", Body: `{"Queue":"General","Subject":"s","CustomFields":{"A":"b"}}`},
			`{"Queue":"General","Subject":"s","CustomFields":{"A":"b","OneTicket":"` + sampleToken + `"}}`,
			"/REST/2.0/tickets?query=%27CF.%7BOneTicket%7D%27%20%3D%20%27idem%3A0123456789abcdef0123456789abcdef%27&fields=Status%2CCreated%2CCustomFields&per_page=20&orderby=id",
			`{"items":[{"id":"5","Status":"resolved","CustomFields":[{"id":"1","name":"OneTicket","values":["` + sampleToken + `"]}]},{"id":"7","_url":"https://acme.example.test/REST/2.0/ticket/7","Status":"open","CustomFields":[{"id":"1","name":"OneTicket","values":["` + sampleToken + `"]}]}],"total":2}`,
			`{"items":[],"total":0}`, 201, `{"id":"7","type":"ticket","_url":"https://acme.example.test/REST/2.0/ticket/7"}`},
		{"redmine/issues", clientRow{Client: "python-redmine", Method: "POST", Target: "/r/projects/ops/issues.json", Body: `{"issue":{"subject":"s","custom_fields":[{"id":1,"value":"x"}]}}`},
			`{"issue":{"subject":"s","custom_fields":[{"id":1,"value":"x"},{"id":7,"value":"` + sampleToken + `"}]}}`,
			"/r/issues.json?cf_7=idem%3A0123456789abcdef0123456789abcdef&status_id=%2A&sort=created_on&limit=100",
			`{"issues":[{"id":5,"status":{"id":5,"is_closed":true},"custom_fields":[{"id":7,"name":"OneTicket","value":"` + sampleToken + `"}]},{"id":6,"status":{"id":1,"is_closed":false},"custom_fields":[{"id":7,"value":""}]},{"id":7,"status":{"id":1,"is_closed":false},"custom_fields":[{"id":1,"value":"x"},{"id":7,"value":"` + sampleToken + `"}]}],"total_count":3}`,
			`{"issues":[],"total_count":0}`, 201, `{"issue":{"id":7,"status":{"id":1,"is_closed":false},"custom_fields":[{"id":1,"value":"x"},{"id":7,"value":"` + sampleToken + `"}]}}`},
		{"zammad/ticket", clientRow{Client: "a script", Method: "POST", Target: "/api/v1/tickets", Body: `{"title":"s","group":"Users"}`},
			`{"title":"s","group":"Users","oneticket":"` + sampleToken + `"}`,
			"/api/v1/tickets/search?query=oneticket%3A%22idem%3A0123456789abcdef0123456789abcdef%22&expand=true&limit=50&sort_by=created_at&order_by=asc",
			`[{"id":5,"state":"closed","oneticket":"` + sampleToken + `"},{"id":6,"state":"open","oneticket":""},{"id":7,"state":"open","oneticket":"` + sampleToken + `"}]`,
			`[]`, 201, `{"id":7,"state":"open","oneticket":"` + sampleToken + `"}`},
	} {
		t.Run(c.preset, func(t *testing.T) {
			r := commentedRule(t, c.preset, "identity", "token")
			req, text := c.create.request(t, r.Wants())
			if sent, ok := text.Put(placeOf(r), sampleToken); !ok || string(sent) != c.sent {
				t.Errorf("sent %s, %v", sent, ok)
			}
			if call, ok := r.LookUp(req, sampleToken); !ok || call.Path != c.path {
				t.Errorf("look-up %s, %v", call.Path, ok)
			}
			if call, ok := r.LookUp(req, "x' OR id > '0"); ok {
				t.Errorf("a token that ends the quotes: %s", call.Path)
			}
			if got := r.Found(answerOf(200, c.nothing), sampleToken); !got.Answered || len(got.Tickets) != 0 {
				t.Errorf("nothing: %+v", got)
			}
			got := r.Found(answerOf(200, c.found), sampleToken)
			if !got.Answered || len(got.Tickets) != 2 || got.Tickets[0].Ticket.ID != "5" || got.Tickets[0].Open || got.Tickets[1].Ticket.ID != "7" || !got.Tickets[1].Open {
				t.Fatalf("%+v", got)
			}
			if a := got.Tickets[1].Response; a.Status != c.status || string(a.Body) != c.body {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
}

// placeOf is where the rule's token goes.
func placeOf(r *config.Rule) body.Place {
	at := body.Place{Path: slices.Concat(r.TokenField, r.TokenList), Over: r.TokenVolatile, List: r.TokenList != nil && r.TokenItem == nil, Item: r.TokenItem}
	return at
}

// TestAKeyThatDiffersOnEveryTryIsNoToken: ours takes its place, so that what such
// a client sends folds.
func TestAKeyThatDiffersOnEveryTryIsNoToken(t *testing.T) {
	identity := "identity = { host = body.payload.source, check = body.payload.class }\n"
	r := parse(t, `backend "b" { url = "https://events.example.test" }
rule "r" {
  backend = "b"
  preset  = "pagerduty/events"
`+identity+comment(t, "pagerduty/events", "token")+"}").Rules[0]
	var keys []dedup.Key
	for _, clock := range []string{"1764410400", "1764410700"} {
		f := fault(t, r, `{"routing_key":"R","event_action":"trigger","dedup_key":"`+clock+`","payload":{"source":"db1","class":"disk","summary":"s","severity":"error"}}`)
		if f.ClientToken != "" || f.Unfolded {
			t.Errorf("the clock is a token: %+v", f)
		}
		keys = append(keys, f.Ref.Key)
	}
	if keys[0] != keys[1] || !r.TokenVolatile || !r.Policy(config.DefaultClass).OnRefireForward {
		t.Errorf("%v", keys)
	}
}

func TestRedmineClosesWhereARuleSaysHow(t *testing.T) {
	r := commentedRule(t, "redmine/issues", "identity", "clear")
	row := clientRow{Client: "a script", Method: "POST", Target: "/issues.json", Body: `{"issue":{"project_id":1,"subject":"s","status_id":5}}`}
	req, _ := row.request(t, r.Wants())
	f, err := r.Fault(req)
	if err != nil || !f.Fingerprint.Cleared {
		t.Fatalf("%+v, %v", f, err)
	}
	call, ok := r.UpdateCall(req, dedup.Ticket{ID: "7"}, "", f, dedup.Changed)
	if !ok || call.Method != "PUT" || call.Path != "/issues/7.json" || string(call.Body) != `{"issue":{"status_id":"5"}}` {
		t.Errorf("%+v", call)
	}
}

func TestGLPIClosesByASolutionWhereARuleSaysSo(t *testing.T) {
	r := commentedRule(t, "glpi/ticket", "identity", "clear")
	row := clientRow{Client: "a script", Method: "POST", Target: "/glpi/apirest.php/Problem/", Body: `{"input":{"name":"disk","status":5}}`}
	req, _ := row.request(t, r.Wants())
	f, err := r.Fault(req)
	if err != nil || !f.Fingerprint.Cleared {
		t.Fatalf("%+v, %v", f, err)
	}
	call, ok := r.UpdateCall(req, dedup.Ticket{ID: "Problem/7"}, "", f, dedup.Changed)
	if !ok || call.Method != "POST" || call.Path != "/glpi/apirest.php/ITILSolution" || string(call.Body) != `{"input":{"itemtype":"Problem","items_id":"7","content":"disk"}}` {
		t.Errorf("%+v", call)
	}
}

// TestTwoServicesOfPagerDutyAreKeptApart: by their routing keys, which nothing
// that is kept shows.
func TestTwoServicesOfPagerDutyAreKeptApart(t *testing.T) {
	r := commentedRule(t, "pagerduty/events", "identity")
	event := func(service string) dedup.Ref {
		return fault(t, r, `{"routing_key":"`+service+`","event_action":"trigger","payload":{"source":"db1","summary":"s","severity":"error"}}`).Ref
	}
	a, b := event("SERVICE-A"), event("SERVICE-B")
	if a.Key != b.Key || a.Scope == b.Scope || strings.Contains(a.Scope, "SERVICE") || a != event("SERVICE-A") {
		t.Errorf("%+v %+v", a, b)
	}
}

func TestPresetsKnowWhereSecretsStand(t *testing.T) {
	for preset, want := range map[string]struct {
		body   []string
		target [2]string
	}{
		"pagerduty/events":    {[]string{"routing_key"}, [2]string{"/v2/enqueue", "/v2/enqueue"}},
		"pagerduty/events_v1": {[]string{"service_key"}, [2]string{"/x", "/x"}},
		"opsgenie/alerts":     {nil, [2]string{"/v2/alerts?apiKey=K3Y&a=b", "/v2/alerts?apiKey=redacted&a=b"}},
		"glpi/ticket":         {nil, [2]string{"/apirest.php/Ticket?session_token=K3Y&app_token=K3Y&a=b", "/apirest.php/Ticket?session_token=redacted&app_token=redacted&a=b"}},
		"redmine/issues":      {nil, [2]string{"/issues.json?key=K3Y", "/issues.json?key=redacted"}},
		"rt/rest1":            {[]string{"user", "pass"}, [2]string{"/REST/1.0/edit?user=u&pass=p", "/REST/1.0/edit?user=redacted&pass=redacted"}},
		"servicenow/soap":     {[]string{"Envelope.Header.Security.UsernameToken.Username", "Envelope.Header.Security.UsernameToken.Password"}, [2]string{"/incident.do?SOAP", "/incident.do?SOAP"}},
	} {
		r := presetRule(t, preset)
		if _, _, body := r.Secrets(); !slices.Equal(body, want.body) {
			t.Errorf("%s: %v", preset, body)
		}
		if got := r.RedactTarget(want.target[0]); got != want.target[1] {
			t.Errorf("%s: %s", preset, got)
		}
	}
}

func TestPresetsAreInForm(t *testing.T) {
	for _, name := range config.Presets() {
		source, err := config.PresetSource(name)
		if err != nil {
			t.Fatal(err)
		}
		if formatted, diags := config.Format(source, name); diags.HasErrors() || string(formatted) != string(source) {
			t.Errorf("%s is not as oneticket fmt writes it", name)
		}
	}
}
