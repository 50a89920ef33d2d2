package extproc_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/extproc"
)

// anna is another sender of the same fault.
var anna = basic("anna", "her own")

func TestTheTicketIsReadForASenderWhoIsNotKnown(t *testing.T) {
	r, s := newDeskRig(t, nil)
	r.first()
	s.make("")
	for range 2 {
		if m := r.proxy().decided(createBody, anna...); !isReplay(m) {
			t.Errorf("she gets %v", m)
		}
	}
	if s.count("GET one") != 1 || s.count("POST list") != 0 {
		t.Errorf("calls %v", s.calls)
	}
}

func TestTheRefusalOfTheReadIsTheAnswer(t *testing.T) {
	r, s := newDeskRig(t, nil)
	r.first()
	s.make("")
	s.denied[anna[1]] = true
	m := r.proxy().decided(createBody, anna...)
	if a := m.GetImmediateResponse(); a.GetStatus().GetCode() != http.StatusForbidden || string(a.GetBody()) != `{"error":"not yours"}` {
		t.Errorf("she gets %v", m)
	}
	if m := r.proxy().decided(createBody, bot...); !isReplay(m) {
		t.Errorf("whose it is gets %v", m)
	}
}

func TestWhereTheReadIsNotAnsweredTheBackendDecides(t *testing.T) {
	r, s := newDeskRig(t, nil)
	r.first()
	s.make("")
	s.script["GET one"] = []int{500}
	p := r.proxy()
	if m := p.decided(createBody, anna...); !r.sentOn(m) {
		t.Fatalf("she gets %v", m)
	}
	p.answer("201", created1)
	if m := r.proxy().decided(createBody, anna...); !isReplay(m) || s.count("GET one") != 1 {
		t.Errorf("then she gets %v, calls %v", m, s.calls)
	}
}

func TestATicketThatIsReadAsClosedIsNoAnswer(t *testing.T) {
	r, s := newDeskRig(t, nil)
	r.first()
	s.close(s.make(""))
	m := r.proxy().decided(createBody, anna...)
	if m.GetRequestBody() == nil || metadata(m, "reason") != string(dedup.WasClosed) {
		t.Errorf("she gets %v", m)
	}
}

// Ten credentials in six requests each, of which the backend alone can say
// whether they may see the ticket.
func TestAStormOfUnknownSendersIsOneCreateEach(t *testing.T) {
	const senders, each = 10, 6
	r, _ := newDeskRig(t, func(r *rig, _ *extproc.Options, p *dedup.Policy) { r.rule.Asks.Read, p.CanRead = nil, false })
	r.first()
	var all sync.WaitGroup
	var mu sync.Mutex
	sent, replays := map[int]int{}, 0
	for i := range senders * each {
		p := r.proxy()
		all.Go(func() {
			answered := stormUnknown(p, basic(fmt.Sprint("sender", i%senders), "own"))
			mu.Lock()
			defer mu.Unlock()
			if answered {
				replays++
			} else {
				sent[i%senders]++
			}
		})
	}
	all.Wait()
	for i, n := range sent {
		if n != 1 {
			t.Errorf("sender %d was sent on %d times", i, n)
		}
	}
	if replays != senders*(each-1) {
		t.Errorf("%d replays; %v were sent on", replays, sent)
	}
	if n := r.count.of("waiting"); n != 0 {
		t.Errorf("%d still wait", n)
	}
}

// stormUnknown reports whether the request was answered from the record.
func stormUnknown(p *proxy, as []string) bool {
	if p.stream.Send(requestHeaders(as...)) != nil || p.stream.Send(requestBody(createBody)) != nil {
		return false
	}
	for {
		m, err := p.stream.Recv()
		switch {
		case err != nil:
			return false
		case m.GetImmediateResponse() != nil:
			return isReplay(m)
		case m.GetRequestBody() != nil:
			time.Sleep(5 * time.Millisecond) // the backend takes its time
			return stormAnswer(p) != "create"
		}
	}
}

func TestWhoWaitsForAnEqualRefusedRequestIsRefused(t *testing.T) {
	r, _ := newDeskRig(t, func(r *rig, _ *extproc.Options, p *dedup.Policy) { r.rule.Asks.Read, p.CanRead = nil, false })
	r.first()
	leads, waits := r.proxy(), r.proxy()
	if m := leads.decided(createBody, anna...); !r.sentOn(m) {
		t.Fatalf("she gets %v", m)
	}
	waits.ask(requestHeaders(anna...))
	waits.send(requestBody(createBody))
	eventually(t, "one waits", func() bool { return r.server.Waiting() == 1 })
	leads.answer("403", `{"error":"no"}`)
	if m := waits.last(); m.GetImmediateResponse().GetStatus().GetCode() != 403 {
		t.Errorf("who waited gets %v", m)
	}
}

func TestTheTicketIsVerifiedAtTimes(t *testing.T) {
	r, s := newDeskRig(t, func(_ *rig, _ *extproc.Options, p *dedup.Policy) { p.VerifyEvery = time.Nanosecond })
	r.first()
	id := s.make("")
	if m := r.proxy().decided(createBody, bot...); decisionOf(m) != "suppress; reason=verified" {
		t.Errorf("he gets %v", m)
	}
	s.close(id)
	if m := r.proxy().decided(createBody, bot...); metadata(m, "reason") != string(dedup.WasClosed) {
		t.Errorf("after it was closed by hand he gets %v", m)
	}
	if r.count.of("verified", "snow", "open") != 1 || r.count.of("verified", "snow", "closed") != 1 {
		t.Errorf("counted %v", r.count.n)
	}
}

// A query parameter that is part of the credential does not go with a call, so
// that the call's success says nothing of it.
func TestACallWithHalfACredentialProvesNothing(t *testing.T) {
	r, s := newDeskRig(t, func(r *rig, _ *extproc.Options, _ *dedup.Policy) {
		r.rule.Credential = func(q *dedup.Request) []string {
			parts := []string{}
			for _, f := range q.Query {
				parts = append(parts, f.Name+"="+f.Value)
			}
			return parts
		}
	})
	r.first()
	s.make("")
	p := r.proxy()
	p.ask(requestHeaders(append([]string{":path", "/api/now/table/incident?api_key=guessed"}, bot...)...))
	p.send(requestBody(createBody))
	if m := p.last(); !r.sentOn(m) || s.count("GET one") != 0 {
		t.Errorf("he gets %v, calls %v", m, s.calls)
	}
}

func TestACallAsksTheProxyForTime(t *testing.T) {
	r, s := newDeskRig(t, func(_ *rig, o *extproc.Options, p *dedup.Policy) {
		p.VerifyEvery = time.Nanosecond
		o.Patience = extproc.Patience{Message: 2 * time.Second, Most: time.Minute}
	})
	r.first()
	s.make("")
	p := r.proxy()
	p.ask(requestHeaders(bot...))
	p.send(requestBody(createBody))
	if m := p.receive(); m.GetOverrideMessageTimeout().AsDuration() < 20*time.Second {
		t.Fatalf("the proxy gets %v", m)
	}
	if m := p.receive(); decisionOf(m) != "suppress; reason=verified" {
		t.Errorf("the client gets %v", m)
	}
}

func worse(severity string) string { return strings.Replace(createBody, `"2"`, `"`+severity+`"`, 1) }
