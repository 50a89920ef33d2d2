package extproc_test

import (
	"strings"
	"testing"

	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"oneticket/dedup"
	"oneticket/extproc"
)

func TestWhatCannotBeKeyedIsSentOnUntouchedAndCounted(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		header []string
		why    string
	}{
		"cut off":               {`{"cmdb_ci":"db-07","u_check":"ping","imp`, bearer, dedup.WhyUnparsed},
		"a page":                {`cmdb_ci is down`, bearer, dedup.WhyUnparsed},
		"a field is missing":    {`{"cmdb_ci":"db-07"}`, bearer, dedup.WhyMissing},
		"a field stands twice":  {`{"cmdb_ci":"db-07","u_check":"ping","cmdb_ci":"db-08"}`, bearer, dedup.WhyMissing},
		"an empty chunked body": {``, bearer, dedup.WhyNoBody},
		"an unknown charset":    {createBody, []string{"content-type", "application/json; charset=klingon"}, dedup.WhyCharset},
		"an unknown coding":     {createBody, []string{"content-encoding", "x-acme"}, dedup.WhyCoding},
		"over the limit":        {`{"cmdb_ci":"db-07","u_check":"ping","d":"` + strings.Repeat("x", 1<<20) + `"}`, bearer, dedup.WhyTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			p := r.proxy()
			m := p.create(c.body, c.header...)
			if got := m.GetRequestBody().GetResponse(); m.GetRequestBody() == nil || got.GetHeaderMutation() != nil || got.GetBodyMutation() != nil {
				t.Fatalf("the request is changed: %v", m)
			}
			if metadata(m, "decision") != "pass" || metadata(m, "reason") != c.why {
				t.Errorf("metadata %v", m.GetDynamicMetadata())
			}
			head, rest := p.answer("201", created1)
			if got, want := header(head.GetResponseHeaders().GetResponse().GetHeaderMutation(), "oneticket-decision"), "pass; reason="+c.why; got != want {
				t.Errorf("the client sees %q, want %q", got, want)
			}
			if rest.GetResponseBody() == nil {
				t.Errorf("the answer's body is answered with %v", rest)
			}
			if r.count.of("unkeyed", "faults", c.why) != 1 {
				t.Errorf("counted %v", r.count.n)
			}
		})
	}
}

func TestANumberWithAMillionZerosIsAFaultLikeAnyOther(t *testing.T) {
	r := newRig(t, nil)
	m := r.proxy().create(`{"cmdb_ci":1e1000000,"u_check":"ping"}`)
	if m.GetRequestBody() == nil {
		t.Errorf("got %v", m)
	}
}

func TestARequestWithoutBodyIsSentOnAtOnce(t *testing.T) {
	for name, m := range map[string]*extprocv3.ProcessingRequest{
		"the stream ends":  ended(requestHeaders()),
		"content-length 0": requestHeaders("content-length", "0"),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			headerOnly(t, r.proxy().ask(m), dedup.WhyNoBody)
			if r.count.of("unkeyed", "faults", dedup.WhyNoBody) != 1 {
				t.Errorf("counted %v", r.count.n)
			}
		})
	}
}

func ended(m *extprocv3.ProcessingRequest) *extprocv3.ProcessingRequest {
	m.GetRequestHeaders().EndOfStream = true
	return m
}

// headerOnly checks that the rest of an exchange streams past, but for the
// header of the answer.
func headerOnly(t *testing.T, m *extprocv3.ProcessingResponse, why string) {
	t.Helper()
	if m.GetRequestHeaders() == nil || metadata(m, "decision") != "pass" || metadata(m, "reason") != why {
		t.Errorf("got %v", m)
	}
	o := m.GetModeOverride()
	if o.GetResponseHeaderMode() != filterv3.ProcessingMode_SEND || o.GetRequestHeaderMode() != filterv3.ProcessingMode_SEND ||
		o.GetRequestBodyMode() != filterv3.ProcessingMode_NONE || o.GetResponseBodyMode() != filterv3.ProcessingMode_NONE ||
		o.GetRequestTrailerMode() != filterv3.ProcessingMode_SKIP || o.GetResponseTrailerMode() != filterv3.ProcessingMode_SKIP {
		t.Errorf("mode override %v", o)
	}
}

func TestABodyOverTheLimitStreamsPast(t *testing.T) {
	r := newRig(t, nil)
	p := r.proxy()
	headerOnly(t, p.ask(requestHeaders("content-length", "10485760")), dedup.WhyTooLarge)
	head := p.ask(responseHeaders("201", false))
	if got := header(head.GetResponseHeaders().GetResponse().GetHeaderMutation(), "oneticket-decision"); got != "pass; reason=too_large" {
		t.Errorf("the client sees %q", got)
	}
}

func TestWhatTheProxyRefusesAsTooLargeIsCounted(t *testing.T) {
	r := newRig(t, nil)
	p := r.proxy()
	p.ask(requestHeaders())
	m := responseHeaders("413", true)
	m.Attributes = attributes(map[string]any{"response.code_details": "request_payload_too_large"})
	p.ask(m)
	if r.count.of("unkeyed", "faults", dedup.WhyTooLarge) != 1 {
		t.Errorf("counted %v", r.count.n)
	}
}

func TestAPathThatIsNotOursEndsTheStream(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		ours bool
	}{
		"another path":           {"/api/now/table/problem", false},
		"the same, escaped":      {"/api/now/table/%69ncident", true},
		"escaped twice":          {"/api/now/table/%2569ncident", false},
		"with a query":           {"/api/now/table/incident?a=%zz&b", true},
		"with a broken escape":   {"/api/now/table/incident%", false},
		"with an escaped query?": {"/api/now/table/incident%3Fa", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			m := r.proxy().ask(requestHeaders(":path", c.path))
			if c.ours {
				if m.GetModeOverride() != nil {
					t.Errorf("got %v", m)
				}
				return
			}
			if o := m.GetModeOverride(); o.GetResponseHeaderMode() != filterv3.ProcessingMode_SKIP || o.GetRequestBodyMode() != filterv3.ProcessingMode_NONE {
				t.Errorf("got %v", m)
			}
			if metadata(m, "decision") != "pass" || metadata(m, "reason") != "no_match" || len(r.count.n) != 0 {
				t.Errorf("got %v, counted %v", m, r.count.n)
			}
		})
	}
}

func TestABodyThatIsNoCreateIsNotOurs(t *testing.T) {
	r := newRig(t, nil)
	p := r.proxy()
	m := p.create(`{"kind":"comment","cmdb_ci":"db-07","u_check":"ping"}`)
	if metadata(m, "reason") != "no_match" || m.GetRequestBody().GetResponse().GetHeaderMutation() != nil {
		t.Errorf("got %v", m)
	}
	head, _ := p.answer("200", `{}`)
	if got := head.GetResponseHeaders().GetResponse().GetHeaderMutation(); got != nil {
		t.Errorf("the client sees %v", got)
	}
}

func TestAModeThatIsNotServedIsAnsweredAndClaimsNothing(t *testing.T) {
	const (
		none     = filterv3.ProcessingMode_NONE
		streamed = filterv3.ProcessingMode_STREAMED
		buffered = filterv3.ProcessingMode_BUFFERED
		partial  = filterv3.ProcessingMode_BUFFERED_PARTIAL
	)
	for name, c := range map[string]*extprocv3.ProtocolConfiguration{
		"STREAMED both ways":    protocol(streamed, streamed),
		"STREAMED answers":      protocol(buffered, streamed),
		"BUFFERED_PARTIAL":      protocol(partial, buffered),
		"NONE":                  protocol(none, none),
		"no mode, and in parts": nil,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			p := r.proxy()
			m := requestHeaders()
			m.ProtocolConfig = c
			untouched(t, p.ask(m))
			half := requestBody(createBody[:20])
			half.GetRequestBody().EndOfStream = false
			untouched(t, p.ask(half))
			untouched(t, p.ask(requestBody(createBody[20:])))
			if c != nil {
				head, rest := p.answer("201", created1)
				untouched(t, head)
				untouched(t, rest)
			}
			if rec := r.record(createBody); rec.Version != 0 {
				t.Errorf("claimed: %+v", rec)
			}
			if r.count.of("unkeyed", "faults", dedup.WhyBodyMode) != 1 {
				t.Errorf("counted %v", r.count.n)
			}
			if why := r.server.Degraded(); len(why) != 1 || !strings.Contains(why[0], "BUFFERED") {
				t.Errorf("degraded: %q", why)
			}
		})
	}
}

func untouched(t *testing.T, m *extprocv3.ProcessingResponse) {
	t.Helper()
	for _, c := range []*extprocv3.CommonResponse{
		m.GetRequestHeaders().GetResponse(), m.GetRequestBody().GetResponse(),
		m.GetResponseHeaders().GetResponse(), m.GetResponseBody().GetResponse(),
	} {
		if c.GetStatus() != extprocv3.CommonResponse_CONTINUE || c.GetHeaderMutation() != nil || c.GetBodyMutation() != nil {
			t.Errorf("changed: %v", m)
		}
	}
	if m.GetImmediateResponse() != nil || m.GetModeOverride() != nil {
		t.Errorf("got %v", m)
	}
	if said := metadata(m, "decision"); said != "pass" && (said != "" || m.GetRequestHeaders() == nil) {
		t.Errorf("decision %q: %v", said, m)
	}
}

func TestAChunkThatWouldBeDroppedIsGivenBack(t *testing.T) {
	r := newRig(t, nil)
	p := r.proxy()
	m := requestHeaders()
	m.ProtocolConfig = protocol(filterv3.ProcessingMode_FULL_DUPLEX_STREAMED, filterv3.ProcessingMode_FULL_DUPLEX_STREAMED)
	p.ask(m)
	got := p.ask(requestBody(createBody)).GetRequestBody().GetResponse().GetBodyMutation().GetStreamedResponse()
	if string(got.GetBody()) != createBody || !got.GetEndOfStream() {
		t.Errorf("got %v", got)
	}
}

func TestTrailersDoNotMakeABodyPartial(t *testing.T) {
	r := newRig(t, nil)
	p := r.proxy()
	p.ask(requestHeaders())
	open := requestBody(createBody)
	open.GetRequestBody().EndOfStream = false
	if m := p.ask(open); metadata(m, "decision") != "create" {
		t.Fatalf("got %v", m)
	}
	trailers := &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestTrailers{RequestTrailers: &extprocv3.HttpTrailers{}}}
	if m := p.ask(trailers); m.GetRequestTrailers() == nil || metadata(m, "decision") != "create" {
		t.Errorf("got %v", m)
	}
	p.ask(responseHeaders("201", false))
	rest := responseBody(created1)
	rest.GetResponseBody().EndOfStream = false
	p.ask(rest)
	if rec := r.record(createBody); rec.State != dedup.Open {
		t.Errorf("the record is %s", rec.State)
	}
}

func TestOnMissingRejectNamesTheField(t *testing.T) {
	r := newRig(t, func(r *rig, _ *extproc.Options) { r.rule.RejectMissing = true })
	a := r.proxy().create(`{"cmdb_ci":"db-07"}`).GetImmediateResponse()
	if a.GetStatus().GetCode() != 422 || !strings.Contains(string(a.GetBody()), `"field":"u_check"`) || header(a.GetHeaders(), "content-type") != "application/problem+json" {
		t.Errorf("got %v", a)
	}
}

func TestARuleThatOnlyObservesChangesNothing(t *testing.T) {
	r := newRig(t, func(r *rig, _ *extproc.Options) { r.rule.Action = extproc.Observe })
	for _, want := range []string{"create", "suppress"} {
		p := r.proxy()
		m := p.create(createBody)
		if m.GetRequestBody().GetResponse().GetHeaderMutation() != nil || m.GetRequestBody().GetResponse().GetBodyMutation() != nil {
			t.Fatalf("the request is changed: %v", m)
		}
		if metadata(m, "decision") != want {
			t.Errorf("decision %s, want %s", metadata(m, "decision"), want)
		}
		head, _ := p.answer("201", created1)
		if head.GetResponseHeaders().GetResponse().GetHeaderMutation() != nil {
			t.Errorf("the answer is changed: %v", head)
		}
	}
	if rec := r.record(createBody); !rec.Observed || rec.State != dedup.Open {
		t.Errorf("the record is %+v", rec)
	}
}

func TestARuleThatIsOffPassesAndEndsTheStream(t *testing.T) {
	r := newRig(t, func(r *rig, _ *extproc.Options) { r.rule.Action = extproc.Off })
	m := r.proxy().ask(requestHeaders())
	if m.GetModeOverride().GetResponseHeaderMode() != filterv3.ProcessingMode_SKIP || metadata(m, "reason") != "off" {
		t.Errorf("got %v", m)
	}
}

// TestARequestThatWaitsForItsBodyIsNotDecided: should the filter die before the
// body comes, the proxy lets the create pass unguarded, and its bypass log names
// what has no decision.
func TestARequestThatWaitsForItsBodyIsNotDecided(t *testing.T) {
	p := newRig(t, nil).proxy()
	if m := p.ask(requestHeaders()); metadata(m, "decision") != "" {
		t.Errorf("the headers are answered with a decision: %v", m)
	}
	if m := p.ask(requestBody(createBody)); metadata(m, "decision") != "create" {
		t.Errorf("the body is answered with %v", m)
	}
}
