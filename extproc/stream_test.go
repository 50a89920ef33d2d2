package extproc_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"oneticket/dedup"
	"oneticket/extproc"
)

func TestACompleteExchangeThatEndsWithCanceledIsComplete(t *testing.T) {
	r := newRig(t, nil)
	p := r.proxy()
	m := p.create(createBody)
	key := r.record(createBody).Token
	if got := header(m.GetRequestBody().GetResponse().GetHeaderMutation(), "idempotency-key"); got != key || key == "" {
		t.Errorf("the backend gets the key %q, want %q", got, key)
	}
	if got, want := string(m.GetRequestBody().GetResponse().GetBodyMutation().GetBody()), `{"cmdb_ci":"db-07","u_check":"ping","impact":"2","correlation_id":"`+key+`"}`; got != want {
		t.Errorf("the backend gets %s, want %s", got, want)
	}
	head, _ := p.answer("201", created1, "content-type", "application/json")
	if got, want := header(head.GetResponseHeaders().GetResponse().GetHeaderMutation(), "oneticket-decision"), `create; reason=first; key="`+key+`"`; got != want {
		t.Errorf("the client sees %s, want %s", got, want)
	}
	p.gone()
	rec := r.eventually(createBody, dedup.Open)
	if rec.Response == nil || string(rec.Response.Body) != created1 || rec.Ticket.ID != "0001" {
		t.Errorf("the record keeps %+v", rec.Response)
	}
	drain(t, r)
	if rec := r.record(createBody); rec.State != dedup.Open {
		t.Errorf("the record is %s", rec.State)
	}
	if text := r.log.text(slog.LevelWarn); text != "" {
		t.Errorf("the log has %s", text)
	}
}

func TestAStreamThatEndsBeforeTheAnswerIsInDoubt(t *testing.T) {
	for name, more := range map[string]func(*proxy){
		"nothing came":              func(*proxy) {},
		"only the header came":      func(p *proxy) { p.ask(responseHeaders("201", false, "location", "/incident/0001")) },
		"the proxy half-closes":     func(p *proxy) { _ = p.stream.CloseSend() },
		"a message nobody expected": func(p *proxy) { p.ask(requestBody("again")) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			p := r.proxy()
			p.create(createBody)
			more(p)
			p.gone()
			rec := r.eventually(createBody, dedup.Doubtful)
			if len(rec.Attempts) != 1 || !rec.Attempts[0].Sent {
				t.Errorf("attempts %+v", rec.Attempts)
			}
			drain(t, r)
			if text := r.log.text(slog.LevelError); text != "" {
				t.Errorf("the log has %s", text)
			}
		})
	}
}

// drain waits until the server has ended all streams, so that what it logs has
// been logged.
func drain(t *testing.T, r *rig) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r.server.Drain(ctx)
	if ctx.Err() != nil {
		t.Error("streams are still open")
	}
}

func TestADuplicateGetsTheFirstAnswer(t *testing.T) {
	r := newRig(t, nil)
	first := r.proxy()
	first.create(createBody)
	first.answer("201", created1, "content-type", "application/json", "location", "/incident/0001", "set-cookie", "a=b", "date", "today")
	m := r.proxy().create(createBody)
	a := m.GetImmediateResponse()
	if a.GetStatus().GetCode() != 201 || string(a.GetBody()) != created1 {
		t.Fatalf("the duplicate gets %v", m)
	}
	names, values := headersIn(a.GetHeaders())
	if got, want := strings.Join(names, " "), "content-type location idempotent-replayed oneticket-decision"; got != want {
		t.Errorf("headers %s, want %s", got, want)
	}
	if got := values["oneticket-decision"][0]; !strings.HasPrefix(got, `suppress; reason=refire; key="idem:`) {
		t.Errorf("decision %s", got)
	}
	if metadata(m, "decision") != "suppress" || metadata(m, "rule") != "faults" || metadata(m, "key") == "" {
		t.Errorf("metadata %v", m.GetDynamicMetadata())
	}
	if r.count.of("conflict", "faults", "refire") != 1 || r.count.of("decision", "faults", "suppress", "refire") != 1 {
		t.Errorf("counted %v", r.count.n)
	}
}

func TestAPanicIsAnErrorOfTheStreamAndLeavesNoClaimRunning(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*rig, *extproc.Options)
		last   *extprocv3.ProcessingRequest
		state  dedup.State
	}{
		"while the fault is read": {
			change: func(r *rig, _ *extproc.Options) {
				r.rule.Fault = func(*dedup.Request) (dedup.Fault, error) { panic("oops") }
			},
			state: "",
		},
		"while it is decided": {
			change: func(_ *rig, o *extproc.Options) { o.Decider = panicking{} },
			state:  "",
		},
		"when it was decided": {
			change: func(r *rig, o *extproc.Options) { o.Metrics = &panickingMetrics{r.count} },
			state:  dedup.Doubtful,
		},
		"while the answer is judged": {
			change: func(r *rig, _ *extproc.Options) {
				r.rule.Judge = func(*dedup.Request, *dedup.Answer) dedup.Judgement { panic("oops") }
			},
			last:  responseHeaders("201", true),
			state: dedup.Doubtful,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.change)
			p := r.proxy()
			p.ask(requestHeaders())
			p.send(requestBody(createBody))
			if c.last != nil {
				p.receive()
				p.send(c.last)
			}
			if m, err := p.stream.Recv(); status.Code(err) != codes.Internal {
				t.Fatalf("got %v %v, want an internal error", m, err)
			}
			if rec := r.eventually(createBody, c.state); rec.State == dedup.Claimed {
				t.Error("the claim is left running")
			}
		})
	}
}

type panicking struct{}

func (panicking) Decide(context.Context, dedup.Claim) (dedup.Verdict, error) { panic("oops") }

type panickingMetrics struct{ *counts }

func (panickingMetrics) Decision(_ string, k dedup.Kind, _ string, _ time.Duration) {
	if k == dedup.Create {
		panic("oops")
	}
}

func TestDrainEndsWithACreateInDoubtAndTellsNewStreamsToGoElsewhere(t *testing.T) {
	r := newRig(t, nil)
	p := r.proxy()
	p.create(createBody)
	ctx, cancel := context.WithCancel(context.Background())
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		r.server.Drain(ctx)
	}()
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		late := r.proxy()
		if err := late.stream.Send(requestHeaders("x", "y", ":method", "GET")); err != nil {
			break
		}
		if _, err := late.stream.Recv(); status.Code(err) == codes.Unavailable {
			break
		}
		if time.Now().After(until) {
			t.Fatal("new streams are taken")
		}
		late.gone()
	}
	if rec := r.record(createBody); rec.State != dedup.Claimed {
		t.Errorf("while it drains, the record is %s", rec.State)
	}
	cancel()
	<-drained
	if rec := r.record(createBody); rec.State != dedup.Doubtful {
		t.Errorf("after it has drained, the record is %s", rec.State)
	}
}
