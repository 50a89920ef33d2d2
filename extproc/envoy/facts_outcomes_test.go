package envoy_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	datav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"

	"oneticket/dedup"
	"oneticket/extproc"
)

// ending is what the messages of an exchange say of its end, as the filter
// reads them.
func ending(k *talk) extproc.Ending {
	m := k.message(respHeaders)
	said := attributes(m)
	e := extproc.Ending{
		Details: said["response.code_details"].GetStringValue(), Flags: uint64(said["response.flags"].GetNumberValue()),
		Attempts: extproc.Unsaid, Says: dedup.SaysUnclear, SafeRetries: true,
		Complete: m.GetResponseHeaders().GetEndOfStream() || k.message(respBody).GetResponseBody().GetEndOfStream(),
	}
	if n, ok := said["upstream.request_attempt_count"]; ok {
		e.Attempts = int(n.GetNumberValue())
	}
	for _, h := range m.GetResponseHeaders().GetHeaders().GetHeaders() {
		switch h.GetKey() {
		case ":status":
			for _, digit := range h.GetRawValue() {
				e.Status = 10*e.Status + int(digit-'0')
			}
		case "retry-after":
			e.RetryAfter = true
		}
	}
	return e
}

// An outcome is one way in which a create ends.
type outcome struct {
	name, backend string
	script        func(net.Conn)

	status   string // that the client gets
	flags    uint64 // that are set among others
	details  string // is contained
	attempts int
	sent     bool // there is a local address, and bytes were sent
	want     dedup.OutcomeKind
}

// started is how Envoy's details begin where no answer came.
const started = "upstream_reset_before_response_started{"

func outcomes() []outcome {
	const never, unknown, refused = dedup.OutcomeNeverSent, dedup.OutcomeUnknown, dedup.OutcomeRefused
	const ok = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}"
	return []outcome{
		{name: "refused", backend: "refused", status: "503", flags: 32, details: started + "remote_connection_failure", attempts: 1, want: never},
		{name: "refused twice", backend: "refused twice", status: "503", flags: 32, details: started + "remote_connection_failure", attempts: 2, want: never},
		{name: "no TLS there", backend: "not TLS", status: "503", flags: 32, details: "TLS_error", attempts: 1, want: never},
		{name: "nobody finishes the handshake", backend: "silent", status: "503", flags: 32, details: started + "connection_timeout", attempts: 1, want: never},
		{name: "no host", backend: "empty", status: "503", flags: 2, details: "no_healthy_upstream", attempts: 1, want: never},
		{name: "no such name", backend: "nameless", status: "503", flags: 2, details: "no_healthy_upstream", attempts: 1, want: never},
		{name: "a full breaker", backend: "full", status: "503", flags: 128, details: started + "overflow", attempts: 1, want: never},
		{name: "too slow", backend: "brief", script: hangs, status: "504", flags: 4, details: "response_timeout", attempts: 1, sent: true, want: unknown},
		{name: "closed after it was read", script: says(""), status: "503", flags: 64, details: "connection_termination", attempts: 1, sent: true, want: unknown},
		{name: "reset after it was read", script: resets, status: "503", flags: 64, details: "connection_termination", attempts: 1, sent: true, want: unknown},
		{name: "garbage", script: says("garbage\r\n\r\n"), status: "502", flags: 1 << 23, details: "protocol_error", attempts: 1, sent: true, want: unknown},
		{name: "an answer", script: says(ok), status: "201", details: "via_upstream", attempts: 1, sent: true, want: unknown},
		{name: "a client's fault", script: says(strings.Replace(ok, "201 Created", "400 Bad", 1)), status: "400", details: "via_upstream", attempts: 1, sent: true, want: refused},
		{name: "its own failure", script: says(strings.Replace(ok, "201 Created", "500 Oops", 1)), status: "500", details: "via_upstream", attempts: 1, sent: true, want: unknown},
		{name: "a 503 of its own", script: says(strings.Replace(ok, "201 Created", "503 Busy", 1)), status: "503", details: "via_upstream", attempts: 1, sent: true, want: unknown},
		{name: "a 503 that says when", script: says(strings.Replace(ok, "201 Created", "503 Busy\r\nRetry-After: 1", 1)), status: "503", details: "via_upstream", attempts: 1, sent: true, want: refused},
	}
}

// hangs says nothing until Envoy hangs up.
func hangs(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// resets hangs up with a reset.
func resets(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}

func factsOfOutcomes(t *testing.T, f *facts) {
	for _, c := range outcomes() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // some take their time
			checkOutcome(t, f, c)
		})
	}
	t.Run("half an answer", func(t *testing.T) { halfAnAnswer(t, f) })
	t.Run("a client that leaves", func(t *testing.T) { clientLeaves(t, f) })
}

func checkOutcome(t *testing.T, f *facts, c outcome) {
	path := "/outcome/" + strings.ReplaceAll(c.name, " ", "-")
	if c.backend == "" {
		c.backend = "open"
	}
	if c.script != nil {
		f.backend.on(path, c.script)
	}
	if a := send(t, f.Addresses[c.backend], post(path, "{}")); a.status() != c.status {
		t.Errorf("the client got %+v", a)
	}
	k := f.probe.talked(t, path)
	e := ending(k)
	if e.Flags&c.flags != c.flags || c.flags == 0 && e.Flags != 0 || !strings.Contains(e.Details, c.details) || e.Attempts != c.attempts {
		t.Errorf("flags %d, want %d; details %q, want %q; attempts %d, want %d", e.Flags, c.flags, e.Details, c.details, e.Attempts, c.attempts)
	}
	if got := e.Outcome(); got != c.want {
		t.Errorf("%+v is judged %s, want %s", e, got, c.want)
	}
	entry := f.probe.logged(t, path).GetCommonProperties()
	if _, there := attributes(k.message(respHeaders))["upstream.local_address"]; there != c.sent {
		t.Errorf("a local address: %t", there)
	}
	if sent := entry.GetUpstreamWireBytesSent() > 0; sent != c.sent {
		t.Errorf("%d bytes were sent", entry.GetUpstreamWireBytesSent())
	}
}

// inParts makes the backend go on after the head of its answer only when the
// filter has that: a message that is followed by the end of its stream at once
// may not arrive.
func (f *facts) inParts(path, head, rest string) {
	known := make(chan struct{})
	f.probe.on(path, func(k *talk) error {
		if err := k.reach(respHeaders); err != nil {
			return err
		}
		close(known)
		return k.goOn(k.last())
	})
	f.backend.on(path, func(c net.Conn) {
		says(head)(c)
		select {
		case <-known:
		case <-time.After(within):
		}
		says(rest)(c)
	})
}

// halfAnAnswer: the status is known, and the body never comes.
func halfAnAnswer(t *testing.T, f *facts) {
	f.inParts("/half", "HTTP/1.1 201 Created\r\nContent-Length: 9\r\n\r\n", "{")
	if a := send(t, f.Addresses["open"], post("/half", "{}")); a.status() != "502" && a.status() != "503" {
		t.Errorf("the client got %+v", a)
	}
	k := f.probe.talked(t, "/half")
	if got := k.sequence(); got != "request headers, request body end, response headers" {
		t.Errorf("got %s", got)
	}
	if e := ending(k); e.Status != 201 || e.Details != "via_upstream" || e.Outcome() != dedup.OutcomeUnknown {
		t.Errorf("got %+v, judged %s", e, e.Outcome())
	}
	if p := f.probe.logged(t, "/half").GetCommonProperties(); p.GetUpstreamWireBytesSent() == 0 || p.GetResponseFlags() == nil {
		t.Errorf("logged %v", p)
	}
}

// clientLeaves: Envoy ends the stream, and hangs up on the backend.
func clientLeaves(t *testing.T, f *facts) {
	hungUp := make(chan struct{})
	f.backend.on("/client-leaves", func(c net.Conn) { hangs(c); close(hungUp) })
	c := dial(t, f.Addresses["open"])
	_, _ = io.WriteString(c, post("/client-leaves", "{}"))
	poll(t, "the create reaches the backend", func() bool { return len(f.backend.got("/client-leaves")) == 1 })
	c.Close()
	if got := f.probe.talked(t, "/client-leaves").sequence(); got != "request headers, request body end" {
		t.Errorf("got %s", got)
	}
	select {
	case <-hungUp:
	case <-time.After(within):
		t.Error("the backend was left waiting")
	}
}

func factsOfAccessLog(t *testing.T, f *facts) {
	t.Run("an answer", func(t *testing.T) {
		e := f.probe.logged(t, "/two")
		p := e.GetCommonProperties()
		if e.GetResponse().GetResponseCode().GetValue() != 201 || e.GetResponse().GetResponseCodeDetails() != "via_upstream" ||
			p.GetUpstreamRequestAttemptCount() != 1 || p.GetRouteName() != "guarded" || p.GetUpstreamWireBytesReceived() == 0 {
			t.Errorf("logged %v", e)
		}
		decisionIs(t, e, "create")
	})
	t.Run("an answer of the filter's own: nothing was sent", func(t *testing.T) {
		e := f.probe.logged(t, "/give/2")
		if n := e.GetCommonProperties().GetUpstreamWireBytesSent(); n != 0 {
			t.Errorf("%d bytes were sent", n)
		}
		decisionIs(t, e, "suppress")
	})
	t.Run("a client that left: something was sent", func(t *testing.T) {
		e := f.probe.logged(t, "/client-leaves")
		if p := e.GetCommonProperties(); p.GetUpstreamWireBytesSent() == 0 || !p.GetResponseFlags().GetDownstreamConnectionTermination() {
			t.Errorf("logged %v", p)
		}
		decisionIs(t, e, "create")
	})
	t.Run("a client that left while the filter held it: nothing was sent", func(t *testing.T) {
		held, over := make(chan struct{}), make(chan time.Duration, 1)
		f.probe.on("/held-left", func(k *talk) error {
			if err := k.reach(reqBody); err != nil {
				return err
			}
			close(held)
			from := time.Now()
			<-k.stream.Context().Done()
			over <- time.Since(from)
			return k.stream.Context().Err()
		})
		c := dial(t, f.Addresses["open"])
		_, _ = io.WriteString(c, post("/held-left", "{}"))
		<-held
		c.Close()
		select {
		case <-over:
		case <-time.After(within):
			t.Fatal("the filter is not told")
		}
		e := f.probe.logged(t, "/held-left")
		if p := e.GetCommonProperties(); p.GetUpstreamWireBytesSent() != 0 || !p.GetResponseFlags().GetDownstreamConnectionTermination() {
			t.Errorf("logged %v", p)
		}
	})
	t.Run("what is not guarded is not logged", func(t *testing.T) {
		send(t, f.Addresses["open"], get("/unguarded"))
		send(t, f.Addresses["open"], post("/guarded-after", "{}"))
		f.probe.logged(t, "/guarded-after")
		f.probe.mu.Lock()
		defer f.probe.mu.Unlock()
		if f.probe.entries["/unguarded"] != nil {
			t.Error("it is")
		}
	})
	t.Run("an exchange ends with its stream, in whatever way", func(t *testing.T) {
		c := dial(t, f.Addresses["open"])
		r := bufio.NewReader(c)
		for _, path := range []string{"/ends/1", "/ends/2"} {
			_, _ = io.WriteString(c, post(path, "{}"))
			if _, err := readMessage(r); err != nil {
				t.Fatal(err)
			}
			if k := f.probe.talked(t, path); k.err == nil { // while the client's connection stays
				t.Error("no end")
			}
		}
	})
}

// decisionIs holds an entry to what the filter decided.
func decisionIs(t *testing.T, e *datav3.HTTPAccessLogEntry, want string) {
	t.Helper()
	got := e.GetCommonProperties().GetMetadata().GetFilterMetadata()["oneticket"].GetFields()["decision"].GetStringValue()
	if got != want {
		t.Errorf("the decision in the log is %q, want %q", got, want)
	}
}
