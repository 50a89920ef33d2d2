package config_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"oneticket/config"
	"oneticket/dedup"
)

// desk is a rule of an API of our own making.
func desk(t testing.TB, more string) *config.Rule {
	t.Helper()
	return parse(t, `backend "desk" { url = "https://desk.example.test/" }
rule "r" {
  backend  = "desk"
  identity = { host = body.host, check = body.check }
`+more+"}").Rules[0]
}

const deskCalls = `
  read   = { path = "/t/${ticket.id}", open = body.open }
  update = {
    path    = "/t/${ticket.id}"
    headers = { "X-Severity" = severity, X-Note = optional(body.note) }
    body    = { level = severity, count = body.count, tags = body.tags, deep = { a = body.a, b = body.b }, list = [body.a, body.b], fixed = 7, on = true, text = "${body.a}-x" }
  }
`

func faultAt(severity string) dedup.Fault {
	return dedup.Fault{Ref: dedup.Ref{Key: "idem:1"}, Fingerprint: dedup.Fingerprint{Severity: severity}}
}

func TestBodiesOfCallsCopyWhatIsThere(t *testing.T) {
	r := desk(t, deskCalls)
	for _, c := range []struct{ name, body, want string }{
		{"all of it", `{"count":1.50,"tags":["b","a"],"a":"x \"y\" <z>\n","b":{"k":[1,null,"s"]}}`,
			`{"level":"major","count":1.50,"tags":["b","a"],"deep":{"a":"x \"y\" <z>\n","b":{"k":[1,null,"s"]}},"list":["x \"y\" <z>\n",{"k":[1,null,"s"]}],"fixed":7,"on":true,"text":"x \"y\" <z>-x"}`},
		{"what is missing is left out", `{"a":"","b":null,"count":"{HOST.NAME}"}`, `{"level":"major","fixed":7,"on":true}`},
		{"an exact number", `{"count":12345678901234567890123}`, `{"level":"major","count":12345678901234567890123,"fixed":7,"on":true}`},
		{"a member that stands twice", `{"b":{"k":1,"k":2,"m":3}}`, `{"level":"major","deep":{"b":{"m":3}},"list":[{"m":3}],"fixed":7,"on":true}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			call, ok := r.UpdateCall(request(t, c.body), dedup.Ticket{ID: "7"}, "idem:1", faultAt("major"), dedup.Changed)
			if !ok || string(call.Body) != c.want {
				t.Errorf("%s\nwant %s", call.Body, c.want)
			}
		})
	}
}

func TestHeadersOfCalls(t *testing.T) {
	r := desk(t, deskCalls)
	call, _ := r.UpdateCall(request(t, `{"note":"n"}`), dedup.Ticket{ID: "7"}, "", faultAt("major"), dedup.Changed)
	want := []dedup.HeaderField{{Name: "accept", Value: "application/json"}, {Name: "x-severity", Value: "major"}, {Name: "x-note", Value: "n"}, {Name: "content-type", Value: "application/json"}}
	if call.Method != "PUT" || len(call.Header) != len(want) {
		t.Fatalf("%+v", call)
	}
	for i := range want {
		if call.Header[i] != want[i] {
			t.Errorf("%+v, want %+v", call.Header[i], want[i])
		}
	}
	if call, ok := r.UpdateCall(request(t, `{"note":"a\r\nhost: evil"}`), dedup.Ticket{ID: "7"}, "", faultAt("major"), dedup.Changed); ok {
		t.Errorf("a line of its own in a header: %+v", call)
	}
	if call, ok := r.UpdateCall(request(t, `{}`), dedup.Ticket{ID: "7"}, "", faultAt(dedup.NoSeverity), dedup.Changed); ok {
		t.Errorf("without the severity that a header needs: %+v", call)
	}
}

func TestWhatIsFilledInCannotLeadElsewhere(t *testing.T) {
	r := desk(t, deskCalls)
	for id, want := range map[string]string{
		"7": "/t/7", "a b": "/t/a%20b", "a/b": "/t/a%2Fb", "../../users/1": "/t/..%2F..%2Fusers%2F1", "7?force=1": "/t/7%3Fforce=1", "7#x": "/t/7%23x",
		"%2e%2e": "/t/%252e%252e", "ü": "/t/%C3%BC", "a\r\nb": "/t/a%0D%0Ab", "..": "", ".": "", "": "", "  ": "",
	} {
		call, ok := r.ReadCall(nil, dedup.Ticket{ID: id})
		if call.Path != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", id, call.Path, want)
		}
	}
}

func TestTokensThatCannotBeQuotedAreNotAskedFor(t *testing.T) {
	for preset, tokens := range map[string]map[string]bool{
		"servicenow/incident": {"idem:ab.2": true, "corr-1": true, "api:x": true, "disk /var": true, "journal 1": true, "a^ORactive=true": false,
			"javascript:gs.getUserID()": false, "JavaScript:1": false, "j:1": false, "": false, strings.Repeat("x", 101): false, "ü": false, "a\nb": false},
		"jira/issue":     {"idem:ab.2": true, "api:x": true, `x" OR project = "OPS`: false, `x\`: false, "a b": false, "": false, strings.Repeat("x", 256): false},
		"zendesk/ticket": {"idem:ab.2": true, "a&status=open": false, "a b": false},
	} {
		r := presetRule(t, preset)
		for token, want := range tokens {
			call, ok := r.LookUp(nil, token)
			if ok != want {
				t.Errorf("%s, %q: asked for %v, %s", preset, token, ok, call.Path)
			}
			if found := r.Found(answerOf(200, `{"result":[],"issues":[],"tickets":[],"isLast":true}`), token); found.Answered != want {
				t.Errorf("%s, %q: answered %v", preset, token, found.Answered)
			}
		}
	}
}

// FuzzCalls: whatever a ticket is called and a request says, a call leads to
// where the rule says and has one line for each header.
func FuzzCalls(f *testing.F) {
	f.Add("7", "idem:1", "major", `{"note":"n","a":"b"}`)
	f.Add("..", "x\" OR 1=1", "a\r\nb", `{"count":1e999,"b":[[{}]],"note":"\u0000"}`)
	f.Add("%2e%2e/%", "a^b", "", `[]`)
	f.Add("7", "\u0338", "", `{}`) // joins the "=" before it, in another form
	r := desk(f, deskCalls+`lookup = { path = "/find", query = { q = "t=${native}" }, tickets = body.l, token = item.t, id = item.id, open = item.o }
`)
	f.Fuzz(func(t *testing.T, id, token, severity, body string) {
		req := request(t, body)
		ticket := dedup.Ticket{ID: id}
		if c, ok := r.UpdateCall(req, ticket, token, faultAt(severity), dedup.Changed); ok {
			checkCall(t, c, "/t/")
			if _, err := dedup.ReadJSON(c.Body, nil); err != nil {
				t.Errorf("%s: %v", c.Body, err)
			}
		}
		if c, ok := r.ReadCall(req, ticket); ok {
			checkCall(t, c, "/t/")
		}
		if c, ok := r.LookUp(req, token); ok {
			checkCall(t, c, "/find?q=t%3D")
			if u, err := url.Parse(c.Path); err != nil || len(u.Query()) != 1 {
				t.Errorf("%s: %v", c.Path, err)
			}
		}
		r.Principal(req)
		r.Credential(req)
	})
}

func checkCall(t *testing.T, c dedup.Call, prefix string) {
	t.Helper()
	path, _, _ := strings.Cut(c.Path, "?")
	want, _, _ := strings.Cut(prefix, "?")
	u, err := url.ParseRequestURI(c.Path)
	if err != nil || !strings.HasPrefix(c.Path, prefix) || strings.Count(path, "/") != strings.Count(want, "/") || strings.HasSuffix(path, "/..") || u.Host != "" {
		t.Errorf("%q: %v", c.Path, err)
	}
	for _, h := range c.Header {
		if strings.ContainsAny(h.Value, "\r\n\x00") {
			t.Errorf("%q", h.Value)
		}
	}
}

func TestFormsAndTextsAsBodies(t *testing.T) {
	r := desk(t, `
  update = { method = "POST", path = "/t/${ticket.id}", content_type = "application/x-www-form-urlencoded", body = { "a b" = body.a, many = body.tags, json = { k = body.a } } }
  clear  = { body = "<state id=\"${ticket.id}\">6</state>", content_type = "text/xml", closes = true }
`)
	req := request(t, `{"a":"x & y","tags":["1","2"]}`)
	call, _ := r.UpdateCall(req, dedup.Ticket{ID: "7"}, "", faultAt("major"), dedup.Changed)
	if string(call.Body) != `a%20b=x%20%26%20y&many=1&many=2&json=%7B%22k%22%3A%22x%20%26%20y%22%7D` {
		t.Errorf("%s", call.Body)
	}
	f := faultAt("major")
	f.Fingerprint.Cleared = true
	call, _ = r.UpdateCall(req, dedup.Ticket{ID: "7"}, "", f, dedup.Changed)
	if string(call.Body) != `<state id="7">6</state>` || call.Method != "POST" || call.Path != "/t/7" || call.Header[1].Value != "text/xml" {
		t.Errorf("%+v %s", call, call.Body)
	}
}

// TestCallsOfARuleOverThoseOfItsPreset: the forms in which cases name them.
func TestCallsOfARuleOverThoseOfItsPreset(t *testing.T) {
	cleared, fired := faultAt("major"), faultAt("major")
	cleared.Fingerprint.Cleared = true
	for _, c := range []struct {
		name, preset, rule string
		fault              dedup.Fault
		reason             dedup.Reason
		want               string
	}{
		{"a transition", "jira/issue", `reopen = { method = "POST", path = "/rest/api/2/issue/${ticket.id}/transitions", body = { transition = { id = "41" } } }`,
			fired, dedup.Reopened, `POST /rest/api/2/issue/7/transitions {"transition":{"id":"41"}}`},
		{"a state, at the path of the update", "servicenow/incident", `reopen = { method = "PATCH", body = { state = "2" } }`,
			fired, dedup.Reopened, `PATCH /api/now/table/incident/7?sysparm_fields=sys_id%2Cstate&sysparm_display_value=false {"state":"2"}`},
		{"a clear", "servicenow/incident", `clear = { method = "PATCH", body = { state = "6" }, closes = true }`,
			cleared, dedup.Changed, `PATCH /api/now/table/incident/7?sysparm_fields=sys_id%2Cstate&sysparm_display_value=false {"state":"6"}`},
		{"a clear of the preset", "servicenow/incident", ``, cleared, dedup.Changed,
			`PATCH /api/now/table/incident/7?sysparm_fields=sys_id%2Cstate&sysparm_display_value=false {"state":"6","close_code":"Resolved by caller","close_notes":"up"}`},
		{"a clear of a reopened fault", "zendesk/ticket", ``, cleared, dedup.Reopened, `PUT /api/v2/tickets/7.json {"ticket":{"status":"solved"}}`},
		{"taken away", "servicenow/incident", `clear = null`, cleared, dedup.Changed, ``},
		{"none in the preset", "jira/issue", ``, cleared, dedup.Changed, ``},
		{"nothing to say", "servicenow/incident", ``, fired, dedup.Changed, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := parse(t, `backend "b" {
  url    = "https://acme.example.test"
  preset = "`+c.preset+`"
}
rule "r" {
  backend  = "b"
  identity = { host = body.host, check = body.check }
  `+c.rule+`
}`).Rules[0]
			call, ok := r.UpdateCall(request(t, `{"short_description":"up"}`), dedup.Ticket{ID: "7"}, "", c.fault, c.reason)
			if got := call.Method + " " + call.Path + " " + string(call.Body); ok && got != c.want || ok != (c.want != "") {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

func TestJiraBelowAContextPathAndInTheCloud(t *testing.T) {
	for _, c := range []struct{ url, path, lookup, read string }{
		{"https://jira.example.test/jira", "/jira/rest/api/2/issue", "/jira/rest/api/2/search?", "/jira/rest/api/2/issue/OPS-1?"},
		{"https://acme.atlassian.net", "/rest/api/3/issue/", "/rest/api/3/search/jql?", "/rest/api/2/issue/OPS-1?"},
		{"https://api.atlassian.com", "/ex/jira/11-22/rest/api/3/issue", "/ex/jira/11-22/rest/api/3/search/jql?", "/ex/jira/11-22/rest/api/2/issue/OPS-1?"},
		{"https://jira.example.test", "/a b/rest/api/2/issue", "/a%20b/rest/api/2/search?", "/a%20b/rest/api/2/issue/OPS-1?"},
		{"https://jira.example.test", "/../rest/api/2/issue", "", ""},
	} {
		r := parse(t, `backend "jira" { url = "`+c.url+`" }`).Rules[0]
		req := request(t, `{"fields":{"summary":"x"}}`)
		req.Host, req.Path = r.Backend.Host, c.path
		if !r.Matches(req) {
			t.Errorf("%s does not match", c.path)
		}
		if call, _ := r.LookUp(req, "idem:1"); !strings.HasPrefix(call.Path, c.lookup) || c.lookup == "" && call.Path != "" {
			t.Errorf("%s: %s", c.path, call.Path)
		}
		if call, _ := r.ReadCall(req, dedup.Ticket{ID: "OPS-1"}); !strings.HasPrefix(call.Path, c.read) || c.read == "" && call.Path != "" {
			t.Errorf("%s: %s", c.path, call.Path)
		}
	}
}

// TestAFieldThatHoldsSomethingElseProvesNothing: the create did not carry the
// token where a look-up would find it.
func TestAFieldThatHoldsSomethingElseProvesNothing(t *testing.T) {
	r := presetRule(t, "zendesk/ticket")
	req := request(t, `{"ticket":{"external_id":"4711"}}`)
	if f, err := r.Fault(req); err != nil || f.ClientToken != "abc-1" && f.ClientToken != `"abc-1"` {
		t.Errorf("the header names the token: %+v, %v", f, err)
	}
	if call, ok := r.LookUp(req, "idem:1"); ok {
		t.Errorf("%+v", call)
	}
	jira := presetRule(t, "jira/issue")
	for _, c := range []struct {
		rule *config.Rule
		body string
		want bool
	}{
		{r, `{"ticket":{}}`, true}, {r, `{"ticket":{"external_id":"idem:1"}}`, true}, {r, `{"ticket":{"external_id":" "}}`, true}, {r, `{"ticket":{"external_id":null}}`, true},
		{r, `{"ticket":{"external_id":{}}}`, false}, {r, `{"ticket":"x"}`, false}, {r, `<ticket/>`, false}, {r, ``, false},
		{jira, `{"fields":{}}`, true}, {jira, `{"fields":{"labels":["a"]}}`, true}, {jira, `{"fields":{"labels":[]}}`, true}, {jira, `{"fields":{"labels":"a"}}`, false}, {jira, `{"update":{}}`, false},
	} {
		if _, ok := c.rule.LookUp(request(t, c.body), "idem:1"); ok != c.want {
			t.Errorf("%s is looked up: %v", c.body, ok)
		}
	}
}

func TestLabelsOfTheClientAreNoToken(t *testing.T) {
	r := presetRule(t, "jira/issue")
	req := request(t, `{"fields":{"labels":["disk"]}}`)
	req.Header = nil
	if f, err := r.Fault(req); err != nil || f.ClientToken != "" || r.TokenField != nil || !slices.Equal(r.TokenList, []string{"fields", "labels"}) {
		t.Errorf("%+v, %v", f, err)
	}
	if r := presetRule(t, "servicenow/incident"); r.TokenList != nil || !slices.Equal(r.TokenField, []string{"correlation_id"}) {
		t.Errorf("%q, %q", r.TokenField, r.TokenList)
	}
}

// TestWantsAreEnoughForCalls: what a rule asks to be read of a body is all that
// its calls need.
func TestWantsAreEnoughForCalls(t *testing.T) {
	body := `{"urgency":"1","impact":2,"close_notes":"n","other":{"x":1},"fields":{"priority":{"name":"High"},"summary":"s"},"ticket":{"priority":"high","status":"solved","external_id":"idem:1","subject":"s"}}`
	answer := `{"result":{"state":"6","other":1},"ticket":{"status":"solved"},"fields":{"status":{"statusCategory":{"key":"done"}}}}`
	for preset, ticket := range presetTickets {
		r := presetRule(t, preset)
		whole, part := request(t, body), request(t, body)
		part.Body, _ = dedup.ReadJSON([]byte(body), r.Wants())
		for _, reason := range []dedup.Reason{dedup.Changed, dedup.Reopened} {
			for _, clear := range []bool{false, true} {
				f := faultAt("major")
				f.Fingerprint.Cleared = clear
				a, okA := r.UpdateCall(whole, ticket, "idem:1", f, reason)
				b, okB := r.UpdateCall(part, ticket, "idem:1", f, reason)
				if okA != okB || string(a.Body) != string(b.Body) {
					t.Errorf("%s: %s, %s", preset, a.Body, b.Body)
				}
			}
		}
		requestWant, answerWant := r.ResolveWants()
		part.Body, _ = dedup.ReadJSON([]byte(body), requestWant)
		full, cut := answerOf(200, answer), answerOf(200, answer)
		cut.Body, _ = dedup.ReadJSON([]byte(answer), answerWant)
		for _, path := range []string{"/api/now/table/incident/" + strings.Repeat("a", 32), "/api/v2/tickets/7", "/rest/api/2/issue/OPS-1"} {
			whole.Method, part.Method, whole.Path, part.Path = "GET", "GET", path, path
			if !slices.Equal(r.Resolved(whole, full), r.Resolved(part, cut)) {
				t.Errorf("%s %s: %v", preset, path, r.Resolved(whole, full))
			}
		}
	}
}
