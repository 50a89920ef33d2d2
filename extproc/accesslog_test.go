package extproc_test

import (
	"context"
	"testing"
	"time"

	dataaccesslogv3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	"oneticket/dedup"
	"oneticket/extproc"
)

// patient waits for an entry as long as the test may take.
func patient(_ *rig, o *extproc.Options) { o.LastWord = time.Minute }

// identified is a create with a request id, of which the proxy tells when it began.
func identified(p *proxy) *extprocv3.ProcessingResponse {
	m := requestHeaders(append([]string{"x-request-id", "r-1"}, bearer...)...)
	m.Attributes["envoy.filters.http.ext_proc"].Fields["request.time"] = structpb.NewStringValue(requestTime.Format(time.RFC3339Nano))
	p.ask(m)
	return p.ask(requestBody(createBody))
}

func TestTheAccessLogHasTheLastWordOnAStreamThatEndedEarly(t *testing.T) {
	type entry = dataaccesslogv3.HTTPAccessLogEntry
	anonymous := func(e *entry) { e.CommonProperties.Metadata = nil }
	untimed := func(e *entry) { e.CommonProperties.TimeToFirstUpstreamTxByte = nil }
	twice := func(e *entry) { e.CommonProperties.UpstreamRequestAttemptCount = 2 }
	for name, c := range map[string]struct {
		sent   uint64
		change []func(*entry)
		state  dedup.State
	}{
		"nothing was sent":        {state: dedup.None},
		"something was sent":      {sent: 274, state: dedup.Doubtful},
		"nothing in two attempts": {change: []func(*entry){twice}, state: dedup.None},
		"closed, then refused":    {sent: 274, change: []func(*entry){twice, untimed}, state: dedup.Doubtful},
		"a proxy that counts no bytes": {state: dedup.Doubtful, change: []func(*entry){func(e *entry) {
			e.CommonProperties.DownstreamWireBytesReceived = 0
		}}},
		"no bytes, but an answer": {state: dedup.Doubtful, change: []func(*entry){func(e *entry) {
			e.Response.ResponseCodeDetails = "via_upstream"
		}}},
		"no bytes, but a time of sending": {state: dedup.Doubtful, change: []func(*entry){func(e *entry) {
			e.CommonProperties.TimeToFirstUpstreamTxByte = durationpb.New(time.Millisecond)
		}}},
		"by its request id": {change: []func(*entry){anonymous}, state: dedup.None},
	} {
		for _, order := range []string{"before the stream ends", "after it"} {
			t.Run(name+", "+order, func(t *testing.T) {
				r := newRig(t, patient)
				log := r.logs()
				p := r.proxy()
				e := logEntry(metadata(identified(p), "exchange"), c.sent, c.change...)
				if order == "after it" {
					p.gone()
				}
				log.log(e)
				p.gone()
				r.eventually(createBody, c.state)
				drain(t, r)
				if rec := r.record(createBody); rec.State != c.state {
					t.Errorf("the record is %s, want %s", rec.State, c.state)
				}
				if n := r.server.Followed(); n != 0 {
					t.Errorf("%d exchanges are followed still", n)
				}
			})
		}
	}
}

func TestAnEntryThatIsNotThisExchangesSaysNothing(t *testing.T) {
	type entry = dataaccesslogv3.HTTPAccessLogEntry
	for name, change := range map[string]func(*entry){
		"of another exchange":          func(e *entry) { e.CommonProperties.Metadata = logEntry("x", 0).CommonProperties.Metadata },
		"of an earlier try of its id":  func(e *entry) { e.CommonProperties.Metadata, e.CommonProperties.StartTime.Seconds = nil, 1 },
		"of nobody":                    func(e *entry) { e.CommonProperties.Metadata, e.Request = nil, nil },
		"while it runs":                func(e *entry) { e.CommonProperties.AccessLogType = dataaccesslogv3.AccessLogType_DownstreamPeriodic },
		"without what it is all about": func(e *entry) { e.CommonProperties = nil },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(_ *rig, o *extproc.Options) { o.LastWord = 20 * time.Millisecond })
			log := r.logs()
			p := r.proxy()
			log.log(logEntry(metadata(identified(p), "exchange"), 0, change))
			p.gone()
			r.eventually(createBody, dedup.Doubtful)
		})
	}
}

func TestWithoutAnAccessLogNobodyWaitsForIt(t *testing.T) {
	r := newRig(t, func(_ *rig, o *extproc.Options) { o.LastWord = time.Hour })
	p := r.proxy()
	m := p.create(createBody)
	p.gone()
	if rec := r.eventually(createBody, dedup.Doubtful); len(rec.Attempts) != 1 {
		t.Errorf("attempts %+v", rec.Attempts)
	}
	log := r.logs()
	log.log(logEntry(metadata(m, "exchange"), 0))
	if rec := r.eventually(createBody, dedup.None); len(rec.Attempts) != 0 {
		t.Errorf("attempts %+v", rec.Attempts)
	}
	if n := r.count.of("corrected", "faults", "never_sent"); n != 1 {
		t.Errorf("counted %d corrections", n)
	}
	if m := r.proxy().create(createBody); metadata(m, "decision") != "create" {
		t.Errorf("the next request gets %v", m)
	}
}

func TestAnAnswerIsNotHeldForTheAccessLog(t *testing.T) {
	r := newRig(t, func(_ *rig, o *extproc.Options) { o.LastWord = time.Hour })
	log := r.logs()
	p := r.proxy()
	p.create(createBody)
	p.answer("201", created1)
	r.eventually(createBody, dedup.Open)
	if n := r.server.Followed(); n != 0 {
		t.Errorf("%d exchanges are followed still", n)
	}

	p = r.proxy()
	m := p.create(otherBody)
	refused := responseHeaders("503", true)
	refused.Attributes = attributes(map[string]any{
		"response.code_details": started + "{remote_connection_failure}", "response.flags": 32800, "upstream.request_attempt_count": 2,
	})
	p.ask(refused)
	if rec := r.record(otherBody); rec.State != dedup.Doubtful {
		t.Errorf("after two attempts the record is %s", rec.State)
	}
	log.log(logEntry(metadata(m, "exchange"), 0, func(e *dataaccesslogv3.HTTPAccessLogEntry) {
		e.CommonProperties.UpstreamRequestAttemptCount = 2
	}))
	r.eventually(otherBody, dedup.None)
}

const otherBody = `{"cmdb_ci":"db-08","u_check":"ping","impact":"2"}`

func TestAnEntryTooLateIsForgotten(t *testing.T) {
	clock := newClock()
	r := newRig(t, func(_ *rig, o *extproc.Options) { o.Now = clock.now })
	p := r.proxy()
	m := p.create(createBody)
	p.gone()
	r.eventually(createBody, dedup.Doubtful)
	clock.move(extproc.LateFor)
	log := r.logs()
	log.log(logEntry(metadata(m, "exchange"), 0))
	poll(t, "it is not forgotten", func() bool { return r.server.Followed() == 0 })
	if rec := r.record(createBody); rec.State != dedup.Doubtful {
		t.Errorf("the record is %s", rec.State)
	}
}

func TestTheAccessLogEndsWithTheServer(t *testing.T) {
	r := newRig(t, nil)
	log, other := r.logs(), r.logs()
	if _, err := other.stream.CloseAndRecv(); err != nil {
		t.Errorf("a log that ends gets %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r.server.Drain(ctx)
	if _, err := log.stream.CloseAndRecv(); status.Code(err) != codes.Unavailable {
		t.Errorf("the other gets %v", err)
	}
	poll(t, "a log is read still", func() bool { return r.server.AccessLogs() == 0 })
}
