package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	typeJSON = "application/json"
	typeForm = "application/x-www-form-urlencoded"
)

// pagerDuty answers as the events API does, and keeps the client's own key.
func pagerDuty(q *wireRequest) {
	var event struct {
		Key string `json:"dedup_key"`
	}
	_ = json.Unmarshal([]byte(q.body), &event)
	q.json(202, fmt.Sprintf(`{"status":"success","message":"Event processed","dedup_key":%q}`, event.Key))
}

func event(action, key, summary string) string {
	return fmt.Sprintf(`{"routing_key":"R0UT1NG","event_action":%q,"dedup_key":%q,"payload":{"source":"db1","class":"disk","summary":%q,"severity":"error"}}`, action, key, summary)
}

func keyIn(t *testing.T, body, name string) string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(body), &fields); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	key, _ := fields[name].(string)
	return key
}

// TestAKeyThatTheClientMakesAnewFolds: PagerDuty and Opsgenie get one key for
// one fault, whatever the client has put there.
func TestAKeyThatTheClientMakesAnewFolds(t *testing.T) {
	t.Parallel()
	duty := newWire(t, pagerDuty)
	genie := newWire(t, func(q *wireRequest) {
		q.json(202, `{"result":"Request will be processed","took":0.1,"requestId":"r-1"}`)
	})
	newWired(t,
		wired{"pagerduty/events", `identity = { host = body.payload.source, check = body.payload.class }
 token = { volatile = true }`, duty},
		wired{"opsgenie/alerts", `identity = { host = body.entity, check = body.message }
 token = { volatile = true }`, genie})
	// The first answer may be of an older incident, so until settle is over events
	// are sent as changes of it.
	for i, clock := range []string{"1764410400", "1764410700", "1764411000"} {
		want := []string{"create; reason=first", "update; reason=changed", "update; reason=changed"}[i]
		duty.send(t, "POST", "/v2/enqueue", typeJSON, event("trigger", clock, "disk "+clock)).decided(t, 202, want)
		if i > 0 {
			want = "suppress; reason=refire" // it has no priority that could have changed
		}
		genie.send(t, "POST", "/v2/alerts", typeJSON, `{"message":"disk","entity":"db1","alias":"`+clock+`"}`, "Authorization", "GenieKey K").decided(t, 202, want)
	}
	for name, c := range map[string]struct {
		w     *wire
		field string
	}{"pagerduty": {duty, "dedup_key"}, "opsgenie": {genie, "alias"}} {
		came := c.w.all("POST")
		if len(came) != 3 {
			t.Fatalf("%s: %d requests", name, len(came))
		}
		for _, q := range came {
			if first, key := keyIn(t, came[0].body, c.field), keyIn(t, q.body, c.field); !strings.HasPrefix(first, "idem:") || key != first {
				t.Errorf("%s: the keys are %q and %q", name, first, key)
			}
		}
	}
	duty.send(t, "POST", "/v2/enqueue", typeJSON, event("resolve", "1764411000", "disk")).decided(t, 202, "update; reason=changed")
	if came := duty.all("POST"); keyIn(t, came[len(came)-1].body, "dedup_key") != keyIn(t, came[0].body, "dedup_key") {
		t.Errorf("resolved: %s", came[len(came)-1].body)
	}
}

// TestACloseAtThePathOfACreateFreesTheKey: each system as its clients close.
func TestACloseAtThePathOfACreateFreesTheKey(t *testing.T) {
	t.Parallel()
	const sysID = "46e2fa7b0a0a0b5500c6d2f9e5a6c1d8"
	envelope := func(inner string) string {
		return `<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:inc="http://www.service-now.com/incident"><soapenv:Body>` + inner + `</soapenv:Body></soapenv:Envelope>`
	}
	duty := newWire(t, pagerDuty)
	other := newWire(t, pagerDuty)
	rt := newWire(t, func(q *wireRequest) {
		said := "RT/4.4.3 200 Ok\n\n# Ticket 7 created.\n"
		if strings.Contains(q.body, "ticket%2F7") {
			said = "RT/4.4.3 200 Ok\n\n# Ticket 7 updated.\n"
		}
		q.says(200, "text/plain; charset=utf-8", said)
	})
	snow := newWire(t, func(q *wireRequest) {
		name := "insert"
		if strings.Contains(q.body, "inc:update") {
			name = "update"
		}
		q.says(200, "text/xml", envelope("<"+name+"Response><sys_id>"+sysID+"</sys_id><number>INC1</number></"+name+"Response>"))
	})
	events := newWire(t, func(q *wireRequest) { q.json(200, `{"Default Bulk Endpoint":"1 events were inserted"}`) })
	off := newWire(t, pagerDuty)
	s := newWired(t,
		wired{"pagerduty/events", "", duty},
		// its identity is not in a resolve, whose key names the incident
		wired{"pagerduty/events", "identity = { host = body.payload.source, check = body.payload.class }", other},
		wired{"rt/rest1", "identity = { subject = body.content.Subject }", rt},
		wired{"servicenow/soap", `identity = { host = xml(body, "insert/cmdb_ci") }`, snow},
		wired{"servicenow/event", "identity = { node = body.records[0].node }", events},
		wired{"pagerduty/events", "action = \"off\"", off})
	record := func(n int, severity string) string {
		return fmt.Sprintf(`{"records":[{"source":"SCOM","node":"web01","severity":%q,"time_of_event":"%d"}]}`, severity, n)
	}
	bare := `{"routing_key":"R0UT1NG","event_action":"resolve","dedup_key":"db1/disk"}`
	for name, c := range map[string]struct {
		w                                     *wire
		target, contentType                   string
		open, closes                          string
		status                                int
		refire, resolved, reopened, afterward string
	}{
		"PagerDuty, a resolve without a rule": {duty, "/v2/enqueue", typeJSON, event("trigger", "db1/disk", "s"), event("resolve", "db1/disk", "s"), 202,
			"suppress; reason=refire", "pass; reason=resolve", "create; reason=closed", "suppress; reason=refire"},
		"PagerDuty, a resolve that names only the key": {other, "/v2/enqueue", typeJSON, event("trigger", "db1/disk", "s"), bare, 202,
			"update; reason=changed", "pass; reason=missing", "create; reason=closed", "update; reason=changed"},
		"RT's command line": {rt, "/REST/1.0/edit", typeForm, "content=id%3A+ticket%2Fnew%0AQueue%3A+ops%0ASubject%3A+disk", "content=id%3A+ticket%2F7%0AStatus%3A+resolved", 200,
			"suppress; reason=refire", "pass; reason=resolve", "create; reason=closed", "suppress; reason=refire"},
		"ServiceNow by SOAP": {snow, "/incident.do?SOAP", "text/xml", envelope("<inc:insert><cmdb_ci>db1</cmdb_ci></inc:insert>"),
			envelope("<inc:update><sys_id>" + sysID + "</sys_id><incident_state>6</incident_state></inc:update>"), 200,
			"suppress; reason=refire", "pass; reason=resolve", "create; reason=closed", "suppress; reason=refire"},
		"an event of severity 0": {events, "/api/global/em/jsonv2", typeJSON, record(1, "2"), record(2, "0"), 200,
			"update; reason=changed", "update; reason=changed", "create; reason=closed", "update; reason=changed"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, step := range []struct{ body, want string }{
				{c.open, "create; reason=first"}, {c.open, c.refire}, {c.closes, c.resolved}, {c.open, c.reopened}, {c.open, c.afterward},
			} {
				c.w.send(t, "POST", c.target, c.contentType, step.body, "Authorization", "Basic dTpw").decided(t, c.status, step.want)
			}
			came := c.w.all("POST")
			if !strings.Contains(fmt.Sprint(came), strings.TrimSpace(c.closes)) {
				t.Errorf("the close did not arrive: %v", came)
			}
		})
	}
	off.send(t, "POST", "/v2/enqueue", typeJSON, event("trigger", "a", "s")).decided(t, 202, "")
	if n := s.metric("oneticket_decisions_total", `rule="r5"`, `reason="first"`); n != 0 {
		t.Errorf("a rule that is off decided %v times", n)
	}
}

// TestABackendThatFoldsGetsALostCreateAgainAtOnce: nobody is told to come
// again, for it is one incident in any case.
func TestABackendThatFoldsGetsALostCreateAgainAtOnce(t *testing.T) {
	t.Parallel()
	lostFirst := func(q *wireRequest) {
		if q.n == 1 {
			q.hangs()
			return
		}
		pagerDuty(q)
	}
	client, waiting, beside := newWire(t, lostFirst), newWire(t, lostFirst), newWire(t, lostFirst)
	identity := "identity = { host = body.payload.source, check = body.payload.class }\n settle = \"10m\"\n"
	newWired(t,
		wired{"pagerduty/events", identity + " resend = 0", client},
		wired{"pagerduty/events", identity, waiting},
		wired{"pagerduty/events", identity + " heal_within = \"0\"", beside})
	body := strings.Replace(event("trigger", "", "s"), `"dedup_key":"",`, "", 1)
	if a := client.send(t, "POST", "/v2/enqueue", typeJSON, body); a.status < 500 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	client.send(t, "POST", "/v2/enqueue", typeJSON, body).decided(t, 202, "create; reason=retried")
	waiting.send(t, "POST", "/v2/enqueue", typeJSON, body).decided(t, 202, "suppress; reason=recovered")
	if a := beside.send(t, "POST", "/v2/enqueue", typeJSON, body); a.status < 500 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	deadline := time.Now().Add(30 * time.Second)
	for len(beside.all("POST")) < 2 {
		if time.Now().After(deadline) {
			t.Fatal("it was not sent again")
		}
		time.Sleep(20 * time.Millisecond)
	}
	for name, w := range map[string]*wire{"the client": client, "the sidecar, while it waits": waiting, "the sidecar, beside": beside} {
		came := w.all("POST")
		first, second := keyIn(t, came[0].body, "dedup_key"), keyIn(t, came[1].body, "dedup_key")
		if len(came) != 2 || !strings.HasPrefix(first, "idem:") || first != second {
			t.Errorf("%s: %d, %q, %q", name, len(came), first, second)
		}
	}
}

// TestCallsCarryACredentialFromQueryOrBody: and it is nowhere else.
func TestCallsCarryACredentialFromQueryOrBody(t *testing.T) {
	t.Parallel()
	redmine := newWire(t, func(q *wireRequest) {
		switch {
		case !strings.Contains(q.uri, "key=K3YK3YK3Y"):
			q.json(401, `{}`)
		case q.method == "PUT":
			q.answerWriter.WriteHeader(204)
		default:
			q.json(201, `{"issue":{"id":7,"status":{"id":1,"is_closed":false}}}`)
		}
	})
	rt := newWire(t, func(q *wireRequest) {
		said := "RT/4.4.3 200 Ok\n\n# Ticket 7 created.\n"
		switch {
		case !strings.Contains(q.uri+q.body, "pass=PA55PA55PA55"):
			said = "RT/4.4.3 401 Credentials required\n"
		case strings.HasSuffix(q.uri, "/edit"):
			said = "RT/4.4.3 200 Ok\n\n# Ticket 7 updated.\n"
		}
		q.says(200, "text/plain", said)
	})
	s := newWired(t,
		wired{"redmine/issues", "identity = { subject = body.issue.subject }", redmine},
		wired{"rt/rest1", "identity = { subject = body.content.Subject }", rt})
	issue := func(priority int) answer {
		return redmine.send(t, "POST", "/issues.json?key=K3YK3YK3Y", typeJSON, fmt.Sprintf(`{"issue":{"project_id":1,"subject":"disk","priority_id":%d}}`, priority))
	}
	ticket := func(priority string) answer {
		return rt.send(t, "POST", "/REST/1.0/ticket/new", typeForm, "user=u&pass=PA55PA55PA55&content=id%3A+ticket%2Fnew%0ASubject%3A+disk%0APriority%3A+"+priority)
	}
	issue(2).decided(t, 201, "create; reason=first")
	issue(2).decided(t, 201, "suppress; reason=refire")
	issue(5).decided(t, 201, "update; reason=changed")
	ticket("Low").decided(t, 200, "create; reason=first")
	ticket("Low").decided(t, 200, "suppress; reason=refire")
	ticket("High").decided(t, 200, "update; reason=changed")
	if put := redmine.all("PUT"); len(put) != 1 || put[0].uri != "/issues/7.json?key=K3YK3YK3Y" {
		t.Errorf("%+v", put)
	}
	posts := rt.all("POST")
	if last := posts[len(posts)-1]; last.uri != "/REST/1.0/ticket/7/edit" || last.body != "user=u&pass=PA55PA55PA55&content=Priority%3A%20High%0A" {
		t.Errorf("%+v", last)
	}
	s.end(syscall.SIGTERM)
	for _, secret := range []string{"K3YK3YK3Y", "PA55PA55PA55"} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("%s is in the log", secret)
		}
		err := filepath.WalkDir(filepath.Join(s.dir, "state"), func(path string, e os.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if strings.Contains(string(text), secret) {
				t.Errorf("%s is in %s", secret, path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
