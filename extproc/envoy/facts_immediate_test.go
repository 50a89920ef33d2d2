package envoy_test

import (
	"bufio"
	"io"
	"strings"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	ext_procv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// mutation sets header lines "name: value"; one that begins with "+" is added.
func mutation(lines ...string) *ext_procv3.HeaderMutation {
	m := &ext_procv3.HeaderMutation{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		added := strings.HasPrefix(name, "+")
		m.SetHeaders = append(m.SetHeaders, &corev3.HeaderValueOption{
			Header: &corev3.HeaderValue{Key: strings.TrimPrefix(name, "+"), RawValue: []byte(value)},
			//lint:ignore SA1019 Envoy's ext_proc reads append and ignores append_action
			Append: wrapperspb.Bool(added),
		})
	}
	return m
}

// given is an answer of the filter's own.
func given(status int, body string, lines ...string) *ext_procv3.ProcessingResponse {
	return &ext_procv3.ProcessingResponse{
		Response: &ext_procv3.ProcessingResponse_ImmediateResponse{ImmediateResponse: &ext_procv3.ImmediateResponse{
			Status:  &typev3.HttpStatus{Code: typev3.StatusCode(status)},
			Headers: mutation(lines...), Body: []byte(body), Details: "one ticket",
		}},
		DynamicMetadata: metadata("decision", "suppress"),
	}
}

func factsOfImmediate(t *testing.T, f *facts) {
	for _, c := range []struct {
		phase, path string
		called      int
	}{{reqHeaders, "/give/1", 0}, {reqBody, "/give/2", 0}, {respHeaders, "/give/3", 1}, {respBody, "/give/4", 1}} {
		t.Run("at the "+c.phase, func(t *testing.T) {
			f.probe.on(c.path, at(c.phase, given(209, "stored")))
			if a := send(t, f.Addresses["open"], post(c.path, "{}")); a.status() != "209" || a.body != "stored" {
				t.Errorf("got %+v", a)
			}
			if n := len(f.backend.got(c.path)); n != c.called {
				t.Errorf("the backend was called %d times, want %d", n, c.called)
			}
			if got := f.probe.talked(t, c.path).sequence(); !strings.HasSuffix(strings.TrimSuffix(got, " end"), c.phase) {
				t.Errorf("more came: %s", got)
			}
		})
	}
	everything := make([]byte, 256)
	for i := range everything {
		everything[i] = byte(i)
	}
	for _, c := range []struct {
		name, path string
		answer     *ext_procv3.ProcessingResponse
		status     string
		body       string
		want       []string
	}{
		{name: "any bytes, and the length by Envoy", path: "/give/bytes", status: "201", body: string(everything),
			answer: given(201, string(everything), "content-length: 7", "content-type: application/json"),
			want:   []string{"content-length: 256", "content-type: application/json"}},
		{name: "an odd status", path: "/give/599", status: "599", answer: given(599, ""), want: nil},
		{name: "a type where none is given", path: "/give/type", status: "200", body: "x", answer: given(200, "x"), want: []string{"content-type: text/plain"}},
		{name: "a coded body as it is", path: "/give/coded", status: "200", body: "\x1f\x8b",
			answer: given(200, "\x1f\x8b", "content-encoding: gzip"), want: []string{"content-encoding: gzip"}},
		{name: "a header twice", path: "/give/twice", status: "200", answer: given(200, "", "set-cookie: a=1", "+set-cookie: b=2"),
			want: []string{"set-cookie: a=1", "set-cookie: b=2"}},
		{name: "a date that is given", path: "/give/date", status: "200", answer: given(200, "", "date: Thu, 01 Jan 2026 00:00:00 GMT"),
			want: []string{"date: Thu, 01 Jan 2026 00:00:00 GMT"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.probe.on(c.path, at(reqBody, c.answer))
			a := send(t, f.Addresses["open"], post(c.path, "{}"))
			if a.status() != c.status || a.body != c.body {
				t.Errorf("got %+v", a)
			}
			for _, line := range c.want {
				if !a.has(line) {
					t.Errorf("no %q in %q", line, a.header)
				}
			}
		})
	}
	t.Run("without append the last one wins", func(t *testing.T) {
		f.probe.on("/give/last", at(reqBody, given(200, "", "set-cookie: a=1", "set-cookie: b=2")))
		if a := send(t, f.Addresses["open"], post("/give/last", "{}")); a.has("set-cookie: a=1") || !a.has("set-cookie: b=2") {
			t.Errorf("got %q", a.header)
		}
	})
	t.Run("a header that is none is dropped, with all that follow", func(t *testing.T) {
		f.probe.on("/give/bad", at(reqBody, given(209, "x", "x-before: 1", "x-bad: a\nb", "x-after: 1")))
		a := send(t, f.Addresses["open"], post("/give/bad", "{}"))
		_, bad := a.value("x-bad")
		_, after := a.value("x-after")
		if bad || after || !a.has("x-before: 1") || a.status() != "209" || a.body != "x" {
			t.Errorf("got %+v", a)
		}
	})
	t.Run("to HEAD without a body", func(t *testing.T) {
		f.probe.on("/give/head", at(reqHeaders, given(200, "stored")))
		if a := sendHead(t, f.Addresses["open"], "HEAD /give/head HTTP/1.1\r\nHost: x\r\n\r\n"); !a.has("content-length: 6") {
			t.Errorf("got %+v", a)
		}
	})
	t.Run("its details are in the log, with underscores", func(t *testing.T) {
		if got := f.probe.logged(t, "/give/2").GetResponse().GetResponseCodeDetails(); got != "one_ticket" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("the connection goes on", func(t *testing.T) {
		f.probe.on("/give/kept", at(reqBody, given(200, "x")))
		c := dial(t, f.Addresses["open"])
		r := bufio.NewReader(c)
		for _, path := range []string{"/give/kept", "/give/next"} {
			_, _ = io.WriteString(c, post(path, "{}"))
			if a, err := readMessage(r); err != nil || !strings.HasPrefix(a.status(), "20") {
				t.Fatalf("%s: got %+v, %v", path, a, err)
			}
		}
	})
}
