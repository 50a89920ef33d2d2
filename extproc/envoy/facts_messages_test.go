package envoy_test

import (
	"bufio"
	"io"
	"strings"
	"testing"

	ext_procfilterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	ext_procv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"oneticket/extproc/envoy"
)

func factsOfMessages(t *testing.T, f *facts) {
	const (
		head = "request headers, request body end, response headers end"
		ok   = "HTTP/1.1 201 Created\r\n"
	)
	for _, c := range []struct {
		name, path, request, answer, want string
	}{
		{name: "two bodies", path: "/two", request: post("/two", "{}"), want: all},
		{name: "a request without a body", path: "/none", request: post("/none", ""),
			want: "request headers end, response headers, response body end"},
		{name: "an answer of 204", path: "/204", request: post("/204", "{}"), answer: "HTTP/1.1 204 No Content\r\n\r\n", want: head},
		{name: "an empty answer", path: "/empty", request: post("/empty", "{}"), answer: ok + "Content-Length: 0\r\n\r\n", want: head},
		{name: "an empty answer in chunks", path: "/chunks", request: post("/chunks", "{}"),
			answer: ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", want: all},
		{name: "an answer until the end of the connection", path: "/close", request: post("/close", "{}"),
			answer: ok + "Connection: close\r\n\r\n{}", want: all},
		{name: "a hint before the answer", path: "/103", request: post("/103", "{}"),
			answer: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok + "Content-Length: 2\r\n\r\n{}", want: all},
		{name: "a request in chunks", path: "/parts",
			request: "POST /parts HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n", want: all},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.answer != "" {
				f.backend.on(c.path, says(c.answer))
			}
			if a := send(t, f.Addresses["open"], c.request); !strings.HasPrefix(a.status(), "20") {
				t.Errorf("the client got %+v", a)
			}
			if got := f.probe.talked(t, c.path).sequence(); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
	t.Run("the answer to HEAD", func(t *testing.T) {
		f.backend.on("/head", says(ok+"Content-Length: 2\r\n\r\n"))
		sendHead(t, f.Addresses["open"], "HEAD /head HTTP/1.1\r\nHost: x\r\n\r\n")
		if got := f.probe.talked(t, "/head").sequence(); got != "request headers end, response headers end" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a body has its length, one in chunks has none", func(t *testing.T) {
		if m := f.backend.only(t, "/two"); !m.has("Content-Length: 2") {
			t.Errorf("got %+v", m)
		}
		parts := f.probe.talked(t, "/parts")
		if v := header(parts.message(reqHeaders).GetRequestHeaders().GetHeaders(), "content-length"); v != "" {
			t.Errorf("a length %s of chunks", v)
		}
		if b := parts.message(reqBody).GetRequestBody().GetBody(); string(b) != "{}" {
			t.Errorf("got the body %q", b)
		}
	})
	t.Run("a coded body comes as it was sent", func(t *testing.T) {
		const coded = "\x1f\x8b\x08\x00\r\n\x00"
		send(t, f.Addresses["open"], post("/coded", coded, "Content-Encoding: gzip"))
		k := f.probe.talked(t, "/coded")
		if b := k.message(reqBody).GetRequestBody().GetBody(); string(b) != coded {
			t.Errorf("got %q", b)
		}
	})
	t.Run("only the first message tells the modes", func(t *testing.T) {
		const buffered = ext_procfilterv3.ProcessingMode_BUFFERED
		for i, m := range f.probe.talked(t, "/two").messages {
			c := m.GetProtocolConfig()
			if told := c != nil; told != (i == 0) || told && (c.GetRequestBodyMode() != buffered || c.GetResponseBodyMode() != buffered) {
				t.Errorf("message %d: %v", i, c)
			}
		}
	})
	t.Run("a client that leaves while it sends", func(t *testing.T) { leavesWhileItSends(t, f) })
	t.Run("a request over the limit", func(t *testing.T) { requestOverTheLimit(t, f) })
	t.Run("an answer over the limit", func(t *testing.T) { answerOverTheLimit(t, f) })
	t.Run("Expect: 100-continue is answered before the filter has decided", func(t *testing.T) { expectContinue(t, f) })
}

// sendHead reads an answer that has no body whatever its header says.
func sendHead(t *testing.T, address, request string) message {
	t.Helper()
	c := dial(t, address)
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	var m message
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "":
			return m
		case m.start == "":
			m.start = line
		default:
			m.header = append(m.header, line)
		}
	}
}

func leavesWhileItSends(t *testing.T, f *facts) {
	c := dial(t, f.Addresses["open"])
	if _, err := io.WriteString(c, "POST /leaves HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	poll(t, "the filter has the header", func() bool {
		f.probe.mu.Lock()
		defer f.probe.mu.Unlock()
		return f.probe.talks["/leaves"] != nil
	})
	c.Close()
	if got := f.probe.talked(t, "/leaves").sequence(); got != reqHeaders {
		t.Errorf("got %s", got)
	}
	if len(f.backend.got("/leaves")) != 0 {
		t.Error("the backend was called")
	}
}

func requestOverTheLimit(t *testing.T, f *facts) {
	c := dial(t, f.Addresses["small"])
	go func() { _, _ = io.WriteString(c, post("/over", strings.Repeat("x", 1<<20))) }()
	if a, err := readMessage(bufio.NewReader(c)); err != nil || a.status() != "413" {
		t.Errorf("got %+v, %v", a, err)
	}
	k := f.probe.talked(t, "/over")
	if got := k.sequence(); !strings.HasPrefix(got, "request headers, response headers") {
		t.Errorf("got %s", got)
	}
	if got := attributes(k.message(respHeaders))["response.code_details"].GetStringValue(); got != "request_payload_too_large" {
		t.Errorf("details %q", got)
	}
	if len(f.backend.got("/over")) != 0 {
		t.Error("the backend was called")
	}
}

func answerOverTheLimit(t *testing.T, f *facts) {
	f.inParts("/large-answer", "HTTP/1.1 201 Created\r\nContent-Length: 1048576\r\n\r\n", strings.Repeat("x", 1<<20))
	if a := send(t, f.Addresses["small"], post("/large-answer", "{}")); a.status() != "500" {
		t.Errorf("got %+v", a.start)
	}
	k := f.probe.talked(t, "/large-answer")
	if got := k.sequence(); got != "request headers, request body end, response headers" {
		t.Errorf("got %s", got)
	}
	if got := header(k.message(respHeaders).GetResponseHeaders().GetHeaders(), ":status"); got != "201" {
		t.Errorf("the filter saw the status %s", got)
	}
}

func expectContinue(t *testing.T, f *facts) {
	decide := make(chan struct{})
	f.probe.on("/expect", func(k *talk) error {
		<-decide
		return k.goOn(k.last())
	})
	c := dial(t, f.Addresses["open"])
	_, _ = io.WriteString(c, "POST /expect HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
	r := bufio.NewReader(c)
	if a, err := readMessage(r); err != nil || a.status() != "100" {
		t.Fatalf("got %+v, %v", a, err)
	}
	close(decide)
	_, _ = io.WriteString(c, "{}")
	if a, err := readMessage(r); err != nil || a.status() != "201" {
		t.Fatalf("got %+v, %v", a, err)
	}
	if _, ok := f.backend.only(t, "/expect").value("expect"); ok {
		t.Error("the backend was asked to expect")
	}
}

func factsOfAttributes(t *testing.T, f *facts) {
	send(t, f.Addresses["open"], post("/attributed", "{}"))
	k := f.probe.talked(t, "/attributed")
	for _, c := range []struct {
		phase string
		want  []string
	}{
		{reqHeaders, envoy.RequestAttributes},
		{reqBody, nil},
		// What went wrong is absent where nothing did.
		{respHeaders, []string{"response.code", "response.code_details", "response.flags", "upstream.request_attempt_count",
			"upstream.local_address", "upstream.address"}},
		{respBody, nil},
	} {
		t.Run(c.phase, func(t *testing.T) {
			got := attributes(k.message(c.phase))
			for _, name := range c.want {
				if _, ok := got[name]; !ok && name != "request.id" {
					t.Errorf("%s is missing", name)
				}
			}
			if len(c.want) == 0 && len(got) != 0 {
				t.Errorf("got %v", got)
			}
		})
	}
	t.Run("numbers are numbers", func(t *testing.T) {
		got := attributes(k.message(respHeaders))
		for name, want := range map[string]float64{"response.code": 201, "response.flags": 0, "upstream.request_attempt_count": 1} {
			if got[name].GetNumberValue() != want {
				t.Errorf("%s: got %v, want %v", name, got[name], want)
			}
		}
	})
}

// sending is what the filter tells Envoy to send of an exchange.
func sending(reqBody, respBody ext_procfilterv3.ProcessingMode_BodySendMode, respHeader ext_procfilterv3.ProcessingMode_HeaderSendMode) *ext_procfilterv3.ProcessingMode {
	return &ext_procfilterv3.ProcessingMode{
		RequestHeaderMode: ext_procfilterv3.ProcessingMode_SEND, RequestBodyMode: reqBody,
		ResponseHeaderMode: respHeader, ResponseBodyMode: respBody,
		RequestTrailerMode: ext_procfilterv3.ProcessingMode_SKIP, ResponseTrailerMode: ext_procfilterv3.ProcessingMode_SKIP,
	}
}

func factsOfOverride(t *testing.T, f *facts) {
	const (
		none, buffered = ext_procfilterv3.ProcessingMode_NONE, ext_procfilterv3.ProcessingMode_BUFFERED
		skip, say      = ext_procfilterv3.ProcessingMode_SKIP, ext_procfilterv3.ProcessingMode_SEND
	)
	for _, c := range []struct {
		name, path, at string
		mode           *ext_procfilterv3.ProcessingMode
		want           string
	}{
		{"nothing more", "/nothing", reqHeaders, sending(none, none, skip), "request headers"},
		{"only the header of the answer", "/header", reqHeaders, sending(none, none, say), "request headers, response headers"},
		{"the body of the request alone", "/request", reqHeaders, sending(buffered, none, skip), "request headers, request body end"},
		{"a body mode that is left out is none", "/left-out", reqHeaders,
			&ext_procfilterv3.ProcessingMode{ResponseHeaderMode: say}, "request headers, response headers"},
		{"in the answer to a body it is ignored", "/late", reqBody, sending(none, none, skip), all},
		{"at the answer's header", "/answer-header", respHeaders, sending(buffered, none, say), "request headers, request body end, response headers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := continued(c.at, nil)
			r.ModeOverride = c.mode
			f.probe.on(c.path, at(c.at, r))
			if a := send(t, f.Addresses["open"], post(c.path, "{}")); a.status() != "201" {
				t.Errorf("the client got %+v", a)
			}
			if got := f.probe.talked(t, c.path).sequence(); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
	t.Run("a body over the limit streams past", func(t *testing.T) { streamsPast(t, f) })
	t.Run("the first message asks for no more when it goes on with everything", func(t *testing.T) {
		f.probe.on("/plain", at(reqHeaders, &ext_procv3.ProcessingResponse{Response: continued(reqHeaders, nil).Response}))
		send(t, f.Addresses["open"], post("/plain", "{}"))
		if got := f.probe.talked(t, "/plain").sequence(); got != all {
			t.Errorf("got %s", got)
		}
	})
}

// streamsPast: what comes before the filter has answered counts against the
// limit, what comes after does not.
func streamsPast(t *testing.T, f *facts) {
	const none, skip = ext_procfilterv3.ProcessingMode_NONE, ext_procfilterv3.ProcessingMode_SKIP
	r := continued(reqHeaders, nil)
	r.ModeOverride = sending(none, none, skip)
	f.probe.on("/past", at(reqHeaders, r))
	body := strings.Repeat("x", 1<<20)
	request := post("/past", body)
	cut := strings.Index(request, body)
	c := dial(t, f.Addresses["small"])
	_, _ = io.WriteString(c, request[:cut])
	f.probe.talked(t, "/past")
	go func() { _, _ = io.WriteString(c, request[cut:]) }()
	if a, err := readMessage(bufio.NewReader(c)); err != nil || a.status() != "201" {
		t.Errorf("got %+v, %v", a, err)
	}
	if m := f.backend.only(t, "/past"); m.body != body {
		t.Errorf("%d bytes came", len(m.body))
	}
}
