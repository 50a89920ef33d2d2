package extproc_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"oneticket/dedup"
	"oneticket/extproc"
)

func TestTwoHundredDuplicatesAtOnceAreOneCreate(t *testing.T) {
	const n = 200
	r := newRig(t, nil)
	var all sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]int{}
	for range n {
		p := r.proxy()
		all.Go(func() {
			what := stormOne(p)
			mu.Lock()
			defer mu.Unlock()
			seen[what]++
		})
	}
	all.Wait()
	if seen["create"] != 1 || seen["replay"] != n-1 {
		t.Errorf("saw %v", seen)
	}
	if got := r.count.of("waiting"); got != 0 || r.server.Waiting() != 0 {
		t.Errorf("%d still wait", got)
	}
}

// stormOne is one of many requests: it reports what came of it. It runs beside
// the test, so that it must not end it.
func stormOne(p *proxy) string {
	if err := p.stream.Send(requestHeaders()); err != nil {
		return err.Error()
	}
	if _, err := p.stream.Recv(); err != nil {
		return err.Error()
	}
	if err := p.stream.Send(requestBody(createBody)); err != nil {
		return err.Error()
	}
	for {
		m, err := p.stream.Recv()
		switch {
		case err != nil:
			return err.Error()
		case m.GetOverrideMessageTimeout() != nil:
		case m.GetImmediateResponse() != nil && string(m.GetImmediateResponse().GetBody()) == created1:
			return "replay"
		case m.GetRequestBody() != nil:
			return stormAnswer(p)
		default:
			return fmt.Sprint(m)
		}
	}
}

func stormAnswer(p *proxy) string {
	for _, m := range []*extprocv3.ProcessingRequest{responseHeaders("201", false), responseBody(created1)} {
		if err := p.stream.Send(m); err != nil {
			return err.Error()
		}
		if _, err := p.stream.Recv(); err != nil {
			return err.Error()
		}
	}
	return "create"
}

func TestAWaiterAsksOnceForMoreTimeAndGetsTheFirstAnswer(t *testing.T) {
	r := newRig(t, func(r *rig, o *extproc.Options) {
		r.rule.Wait = 20 * time.Second
		o.Patience = extproc.Patience{Message: 20 * time.Second, Most: time.Minute}
	})
	first, second := r.proxy(), r.proxy()
	first.create(createBody)
	second.ask(requestHeaders())
	m := second.ask(requestBody(createBody))
	if got := m.GetOverrideMessageTimeout().AsDuration(); got < 20*time.Second || got > time.Minute {
		t.Fatalf("the waiter asks for %s: %v", got, m)
	}
	first.answer("201", created1)
	if m := second.receive(); header(m.GetImmediateResponse().GetHeaders(), "idempotent-replayed") != "true" || metadata(m, "reason") != "race" {
		t.Errorf("the waiter gets %v", m)
	}
}

func TestAProxyWithoutPatienceIsNotKeptWaiting(t *testing.T) {
	r := newRig(t, func(_ *rig, o *extproc.Options) {
		o.Patience = extproc.Patience{Message: 200 * time.Millisecond}
		o.Decider = slowless{o.Decider}
	})
	first := r.proxy()
	first.create(createBody)
	m := r.proxy().create(createBody)
	a := m.GetImmediateResponse()
	if a.GetStatus().GetCode() != 503 || header(a.GetHeaders(), "retry-after") == "" || header(a.GetHeaders(), "content-type") != "application/problem+json" {
		t.Errorf("the duplicate gets %v", m)
	}
	if !strings.HasPrefix(header(a.GetHeaders(), "oneticket-decision"), "busy; reason=busy; key=") {
		t.Errorf("the duplicate gets %v", m)
	}
}

// slowless keeps the deadline of a short patience out of a test on a busy
// machine.
type slowless struct{ extproc.Decider }

func (s slowless) Decide(ctx context.Context, c dedup.Claim) (dedup.Verdict, error) {
	return s.Decider.Decide(context.WithoutCancel(ctx), c)
}

func TestMoreWaitersThanAllowedAreBusyAtOnce(t *testing.T) {
	r := newRig(t, func(r *rig, _ *extproc.Options) { r.rule.MaxWaiters = 1 })
	first, second := r.proxy(), r.proxy()
	first.create(createBody)
	second.ask(requestHeaders())
	second.send(requestBody(createBody))
	for until := time.Now().Add(20 * time.Second); r.server.Waiting() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("nobody waits")
		}
	}
	if m := r.proxy().create(createBody); m.GetImmediateResponse().GetStatus().GetCode() != 503 {
		t.Errorf("the third gets %v", m)
	}
	first.answer("201", created1)
	if m := second.receive(); m.GetImmediateResponse().GetStatus().GetCode() != 201 {
		t.Errorf("the second gets %v", m)
	}
}

func TestAWaiterWhoseClientHasGoneClaimsNothing(t *testing.T) {
	r := newRig(t, nil)
	first, second := r.proxy(), r.proxy()
	first.create(createBody)
	second.ask(requestHeaders())
	second.send(requestBody(createBody))
	for until := time.Now().Add(20 * time.Second); r.server.Waiting() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("nobody waits")
		}
	}
	_ = second.stream.CloseSend() // Envoy's end of a stream whose client has gone
	for until := time.Now().Add(20 * time.Second); r.server.Waiting() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("it still waits")
		}
	}
	first.answer("400", `{"error":"no"}`)
	if rec := r.record(createBody); rec.State != dedup.None {
		t.Errorf("the record is %s", rec.State)
	}
}

func TestAWaiterWithAnEqualRequestGetsTheRefusal(t *testing.T) {
	r := newRig(t, nil)
	first, equal, other := r.proxy(), r.proxy(), r.proxy()
	first.create(createBody)
	waiting := 0
	for _, w := range []struct {
		p      *proxy
		header []string
	}{{equal, bearer}, {other, []string{"authorization", "Basic b3RoZXI6cGFzcw=="}}} {
		w.p.ask(requestHeaders(w.header...))
		w.p.send(requestBody(createBody))
		waiting++
		for until := time.Now().Add(20 * time.Second); r.engine.Waiting() < waiting; time.Sleep(time.Millisecond) {
			if time.Now().After(until) {
				t.Fatal("nobody waits")
			}
		}
	}
	first.answer("401", `{"error":"who are you"}`, "www-authenticate", "Basic", "content-type", "application/json", "set-cookie", "a=b")
	m := equal.receive().GetImmediateResponse()
	if m.GetStatus().GetCode() != 401 || string(m.GetBody()) != `{"error":"who are you"}` || header(m.GetHeaders(), "www-authenticate") != "Basic" {
		t.Errorf("the equal request gets %v", m)
	}
	if header(m.GetHeaders(), "set-cookie") != "" {
		t.Errorf("the equal request gets a cookie of another")
	}
	if m := other.receive(); m.GetRequestBody() == nil {
		t.Errorf("the other request gets %v, and not its own try", m)
	}
}
