package extproc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
	"oneticket/extproc"
)

// scripted is a Decider that says what it is told.
type scripted struct {
	verdict dedup.Verdict
	err     error
	asked   atomic.Int64
}

func (s *scripted) Decide(context.Context, dedup.Claim) (dedup.Verdict, error) {
	s.asked.Add(1)
	return s.verdict, s.err
}

// Secret is that of a store.
func (*scripted) Secret(context.Context) ([]byte, error) { return scriptedSecret, nil }

var scriptedSecret = []byte("thirty-two bytes of a kept secret")

// own makes the record one of the sender's of createBody.
func own(rec dedup.Record) dedup.Record {
	req := dedup.Request{Header: []dedup.HeaderField{{Name: bearer[0], Value: bearer[1]}}}
	b := extproc.BearerOf(scriptedSecret, ruleOf(), &req)
	rec.Principals = []string{b.Principal}
	rec.Credentials = []dedup.Accepted{{Hash: b.Credential, At: time.Now()}}
	return rec
}

func TestWhatIsDoneWithAVerdict(t *testing.T) {
	kept := own(dedup.Record{
		Token: "idem:t", Ticket: dedup.Ticket{ID: "0001"},
		Response: &dedup.Response{Status: 201, Header: []dedup.HeaderField{{Name: "x-note", Value: "one"}, {Name: "x-note", Value: "two"}}, Body: []byte(created1)},
	})
	for name, c := range map[string]struct {
		verdict  dedup.Verdict
		err      error
		status   int // of the answer to the client; 0 = the request is sent on
		token    string
		decision string
		unkeyed  string
	}{
		"an update that is not connected": {verdict: dedup.Verdict{Kind: dedup.Update, Reason: dedup.Changed, Record: kept}, status: 201, decision: "update; reason=changed"},
		"a re-fire that is folded":        {verdict: dedup.Verdict{Kind: dedup.Suppress, Reason: dedup.Refire, Forward: true, Record: kept}, token: "idem:t", decision: "suppress; reason=refire"},
		"a clear of no fault":             {verdict: dedup.Verdict{Kind: dedup.Pass, Reason: dedup.UnmatchedClear}, decision: "pass; reason=unmatched_clear"},
		"a newer format":                  {verdict: dedup.Verdict{Kind: dedup.Pass, WhyPass: dedup.WhyNewer}, decision: "pass; reason=newer", unkeyed: dedup.WhyNewer},
		"no store":                        {err: storetest.ErrLost, decision: "pass; reason=store_down", unkeyed: dedup.WhyStoreDown},
		"busy":                            {verdict: dedup.Verdict{Kind: dedup.Busy, Reason: dedup.IsBusy, RetryAfter: 1500 * time.Millisecond}, status: 503, decision: "busy; reason=busy"},
		"a refusal of an equal request":   {verdict: dedup.Verdict{Kind: dedup.Busy, Refusal: &dedup.Response{Status: 400, Body: []byte("no")}}, status: 400, decision: "busy; reason=busy"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(_ *rig, o *extproc.Options) { o.Decider = &scripted{verdict: c.verdict, err: c.err} })
			p := r.proxy()
			m := p.create(createBody)
			set := m.GetImmediateResponse().GetHeaders()
			if got := int(m.GetImmediateResponse().GetStatus().GetCode()); got != c.status {
				t.Fatalf("the client gets %d, want %d: %v", got, c.status, m)
			}
			if c.status == 0 {
				if got := header(m.GetRequestBody().GetResponse().GetHeaderMutation(), "idempotency-key"); got != c.token {
					t.Errorf("the backend gets the key %q, want %q", got, c.token)
				}
				head, _ := p.answer("201", created1)
				set = head.GetResponseHeaders().GetResponse().GetHeaderMutation()
			}
			if got := header(set, "oneticket-decision"); !strings.HasPrefix(got, c.decision+`; key="idem:`) {
				t.Errorf("decision %q, want %q", got, c.decision)
			}
			if c.unkeyed != "" && r.count.of("unkeyed", "faults", c.unkeyed) != 1 {
				t.Errorf("counted %v", r.count.n)
			}
		})
	}
}

func TestAHeaderThatStandsTwiceIsAddedTheSecondTime(t *testing.T) {
	record := own(dedup.Record{Response: &dedup.Response{Status: 201, Header: []dedup.HeaderField{{Name: "x-note", Value: "one, two"}, {Name: "x-note", Value: "three"}}}})
	r := newRig(t, func(_ *rig, o *extproc.Options) {
		o.Decider = &scripted{verdict: dedup.Verdict{Kind: dedup.Suppress, Reason: dedup.Refire, Record: record}}
	})
	set := r.proxy().create(createBody).GetImmediateResponse().GetHeaders().GetSetHeaders()
	for i, want := range []string{"one, two false", "three true"} {
		//lint:ignore SA1019 Envoy's ext_proc reads append and ignores append_action
		if got := fmt.Sprint(string(set[i].GetHeader().GetRawValue()), " ", set[i].GetAppend().GetValue()); got != want {
			t.Errorf("line %d is %s, want %s", i, got, want)
		}
	}
}

func TestBusyTellsWhenToComeAgain(t *testing.T) {
	r := newRig(t, func(r *rig, o *extproc.Options) {
		r.rule.BusyStatus = 409
		o.Decider = &scripted{verdict: dedup.Verdict{Kind: dedup.Busy, Reason: dedup.IsBusy, RetryAfter: 1500 * time.Millisecond}}
	})
	a := r.proxy().create(createBody).GetImmediateResponse()
	if a.GetStatus().GetCode() != 409 || header(a.GetHeaders(), "retry-after") != "2" || a.GetDetails() != "oneticket_busy" {
		t.Errorf("got %v", a)
	}
}

func TestAStoreThatFailsAfterTheCreateKeepsNobodyFromTheAnswer(t *testing.T) {
	down := atomic.Bool{}
	r := newRig(t, func(r *rig, o *extproc.Options) {
		r.engine = dedup.NewEngine(dedup.EngineOptions{Store: &storetest.Faulty{Store: r.store, Before: func(string) error {
			if down.Load() {
				return storetest.ErrLost
			}
			return nil
		}}})
		o.Decider = r.engine
	})
	p := r.proxy()
	p.create(createBody)
	down.Store(true)
	_, rest := p.answer("201", created1)
	if rest.GetResponseBody() == nil {
		t.Errorf("the client gets %v", rest)
	}
}

func TestASuccessThatIsNotTrueIsNotPassedOn(t *testing.T) {
	r := newRig(t, func(r *rig, _ *extproc.Options) {
		policy := *r.rule.Policy("")
		policy.CanRead = true // and nobody has read what the backend remembers
		r.rule.Policy = func(string) *dedup.Policy { return &policy }
		r.rule.Judge = func(*dedup.Request, *dedup.Answer) dedup.Judgement {
			return dedup.Judgement{Says: dedup.SaysRemembered, Ticket: dedup.Ticket{ID: "0001"}}
		}
	})
	p := r.proxy()
	p.create(createBody)
	_, rest := p.answer("200", created1)
	a := rest.GetImmediateResponse()
	if a.GetStatus().GetCode() != 503 || header(a.GetHeaders(), "retry-after") == "" {
		t.Errorf("the client gets %v", rest)
	}
}

func TestALeaseThatDoesNotCoverTheExchangeSendsNothing(t *testing.T) {
	r := newRig(t, func(r *rig, _ *extproc.Options) { r.rule.Timeout = time.Hour })
	m := r.proxy().create(createBody)
	if m.GetImmediateResponse().GetStatus().GetCode() != 503 {
		t.Errorf("the client gets %v", m)
	}
	if rec := r.record(createBody); rec.State != dedup.None || len(rec.Attempts) != 0 {
		t.Errorf("the record is %+v", rec)
	}
}

// frozen is a store that does not answer.
type frozen struct{}

func (frozen) Decide(ctx context.Context, _ dedup.Claim) (dedup.Verdict, error) {
	<-ctx.Done()
	return dedup.Verdict{}, ctx.Err()
}

func TestAFrozenStoreEndsBeforeTheProxysPatience(t *testing.T) {
	r := newRig(t, func(_ *rig, o *extproc.Options) {
		o.Decider = frozen{}
		o.Patience = extproc.Patience{Message: 100 * time.Millisecond}
	})
	if m := r.proxy().create(createBody); m.GetRequestBody() == nil || metadata(m, "reason") != dedup.WhyStoreDown {
		t.Errorf("got %v", m)
	}
}

func TestARuleThatFailsIsAFaultOfOurs(t *testing.T) {
	r := newRig(t, func(r *rig, _ *extproc.Options) {
		r.rule.Fault = func(*dedup.Request) (dedup.Fault, error) { return dedup.Fault{}, errors.New("odd") }
	})
	if m := r.proxy().create(createBody); metadata(m, "reason") != dedup.WhyInternal {
		t.Errorf("got %v", m)
	}
}

func TestTheBackendIsAskedForCodingsThatCanBeRead(t *testing.T) {
	for accepted, want := range map[string]string{
		"gzip, deflate, br, zstd": "",
		"br;q=1.0, gzip;q=0.8, *": "br;q=1.0, gzip;q=0.8",
		"compress":                "identity",
		"gzip, deflate":           "",
		"identity":                "",
		"":                        "",
	} {
		r := newRig(t, nil)
		m := r.proxy().create(createBody, "accept-encoding", accepted)
		if got := header(m.GetRequestBody().GetResponse().GetHeaderMutation(), "accept-encoding"); got != want {
			t.Errorf("%q: the backend is told %q, want %q", accepted, got, want)
		}
	}
}

// The end of the wait and the winner's settle at one moment are one answer.
func TestAWaitThatEndsAsTheWinnerSettlesIsOneAnswer(t *testing.T) {
	for i := range 40 {
		r := newRig(t, func(r *rig, _ *extproc.Options) { r.rule.Wait = 2 * time.Millisecond })
		first, second := r.proxy(), r.proxy()
		first.create(createBody)
		second.ask(requestHeaders())
		second.send(requestBody(createBody))
		if i%2 == 0 {
			time.Sleep(time.Duration(i) * 100 * time.Microsecond) // moves the settle across the end of the wait
		}
		first.answer("201", created1)
		m := second.receive()
		if got := m.GetImmediateResponse().GetStatus().GetCode(); got != 201 && got != 503 {
			t.Errorf("the waiter gets %v", m)
		}
		if err := second.stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
		if more, err := second.stream.Recv(); !errors.Is(err, io.EOF) {
			t.Errorf("a second answer: %v, %v", more, err)
		}
	}
}

func TestAMessageOfNoPhaseEndsTheStreamWithAnError(t *testing.T) {
	r := newRig(t, nil)
	p := r.proxy()
	p.send(&extprocv3.ProcessingRequest{})
	if m, err := p.stream.Recv(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("got %v, %v", m, err)
	}
}
