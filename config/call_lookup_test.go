package config_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"oneticket/dedup"
)

const deskLookUp = `lookup = {
    method   = "POST"
    path     = "/find"
    body     = { filter = { key = native }, limit = 10, note = optional(body.note) }
    when     = body.ok == true
    tickets  = [for t in body.list : t if t.kind == "ticket"]
    token    = item.tags
    id       = item.id
    open     = item.state != "done"
    created  = item.at
    location = item.link
  }
`

func TestALookUpByABody(t *testing.T) {
	r := desk(t, deskLookUp)
	call, ok := r.LookUp(request(t, `{"note":"n"}`), "idem:1")
	if !ok || call.Method != "POST" || string(call.Body) != `{"filter":{"key":"idem:1"},"limit":10,"note":"n"}` {
		t.Errorf("%+v %s", call, call.Body)
	}
	if call, ok = r.LookUp(nil, "idem:1"); !ok || string(call.Body) != `{"filter":{"key":"idem:1"},"limit":10}` {
		t.Errorf("in the background: %+v %s", call, call.Body)
	}
	strict := desk(t, `lookup = { path = "/find", body = { filter = body.note }, tickets = body.list, token = item.t, id = item.id, open = item.o }
`)
	if call, ok = strict.LookUp(nil, "idem:1"); ok {
		t.Errorf("a filter that is missing finds everything: %s", call.Body)
	}
}

func TestTimesInAllTheirForms(t *testing.T) {
	r := desk(t, deskLookUp)
	want := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		`"2026-11-29T10:00:00Z"`: want, `"2026-11-29T11:00:00+01:00"`: want, `"2026-11-29T11:00:00.000+0100"`: want, `"2026-11-29 10:00:00"`: want,
		`"2026-11-29T10:00:00"`: want, `"Sun, 29 Nov 2026 10:00:00 GMT"`: want, `1795946400`: want, `1795946400000`: want, `"1795946400"`: want, `1795946400.25`: want.Add(250 * time.Millisecond),
		`"yesterday"`: {}, `7`: {}, `null`: {}, `"29.11.2026"`: {}, `1e99`: {},
	} {
		got := r.Found(answerOf(200, `{"ok":true,"list":[{"kind":"ticket","id":7,"tags":["x","idem:1"],"state":"new","link":"/t/7","at":`+text+`}]}`), "idem:1")
		if len(got.Tickets) != 1 || !got.Answered {
			t.Fatalf("%s: %+v", text, got)
		}
		found := got.Tickets[0]
		if !found.Created.Equal(want) || found.Ticket != (dedup.Ticket{ID: "7", Location: "/t/7"}) || !found.Open || found.Response != nil {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

func TestAListThatIsMadeByAnExpression(t *testing.T) {
	r := desk(t, deskLookUp)
	for body, answered := range map[string]bool{
		`{"ok":true,"list":[{"kind":"note","id":1,"tags":["idem:1"],"state":"new"}]}`:  true,
		`{"ok":true,"list":[{"kind":"ticket","id":1,"tags":["other"],"state":"new"}]}`: true,
		`{"ok":false,"list":[{"kind":"note"}]}`:                                        false,
		`{"ok":true,"list":[]}`:                                                        false, // cannot be told from no list
		`{"ok":true}`:                                                                  false,
		``:                                                                             false,
	} {
		if got := r.Found(answerOf(200, body), "idem:1"); got.Answered != answered || len(got.Tickets) != 0 {
			t.Errorf("%s: %+v", body, got)
		}
	}
	if got := r.Found(nil, "idem:1"); got.Answered {
		t.Error("no answer is one")
	}
}

// TestCallsOfManyRequestsAtOnce is for the race detector.
func TestCallsOfManyRequestsAtOnce(t *testing.T) {
	r := presetRule(t, "servicenow/incident")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			token := fmt.Sprintf("idem:%d", i)
			id := fmt.Sprintf("%032d", i)
			for range 50 {
				req := request(t, `{"urgency":"1","correlation_id":"`+token+`"}`)
				call, ok := r.LookUp(req, token)
				found := r.Found(answerOf(200, `{"result":[{"sys_id":"`+id+`","correlation_id":"`+token+`","state":"1"}]}`), token)
				if !ok || call.Path == "" || len(found.Tickets) != 1 || found.Tickets[0].Ticket.ID != id {
					t.Errorf("%+v, %+v", call, found)
				}
				if call, ok = r.UpdateCall(req, found.Tickets[0].Ticket, token, faultAt("major"), dedup.Changed); !ok || string(call.Body) != `{"urgency":"1"}` {
					t.Errorf("%+v", call)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkCalls(b *testing.B) {
	r := presetRule(b, "servicenow/incident")
	req := request(b, `{"urgency":"1","correlation_id":"idem:1"}`)
	answer := answerOf(200, `{"result":[{"sys_id":"1","correlation_id":"idem:1","state":"1"}]}`)
	wire := wireRequest(b, "PATCH", "/api/now/table/incident/46e2fa7b0a0a0b5500c6d2f9e5a6c1d8", "", nil)
	caller := callerOf("authorization", basic("bot:s3cret"))
	for name, f := range map[string]func(){
		"look up":   func() { r.LookUp(req, "idem:1") },
		"found":     func() { r.Found(answer, "idem:1") },
		"update":    func() { r.UpdateCall(req, dedup.Ticket{ID: "1"}, "idem:1", faultAt("1"), dedup.Changed) },
		"resolves":  func() { r.Resolves(wire) },
		"principal": func() { r.Principal(caller) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}
