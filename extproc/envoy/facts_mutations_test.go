package envoy_test

import (
	"strings"
	"testing"

	ext_procv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
)

// changed goes on with other headers, and perhaps with another body.
func changed(body string, lines ...string) *ext_procv3.CommonResponse {
	c := &ext_procv3.CommonResponse{HeaderMutation: mutation(lines...)}
	if body != "" {
		c.BodyMutation = &ext_procv3.BodyMutation{Mutation: &ext_procv3.BodyMutation_Body{Body: []byte(body)}}
	}
	return c
}

func factsOfMutations(t *testing.T, f *facts) {
	for _, c := range []struct {
		name, path string
		lines      []string
		want, not  []string
	}{
		{name: "a header that is new", path: "/set/new", lines: []string{"Idempotency-Key: k"}, want: []string{"Idempotency-Key: k"}},
		{name: "a header that was there", path: "/set/old", lines: []string{"x-old: 2"}, want: []string{"X-Old: 2"}, not: []string{"X-Old: 1"}},
		{name: "a header beside one that was there", path: "/set/more", lines: []string{"+x-old: 2"}, want: []string{"X-Old: 1"}},
		{name: "the host stays", path: "/set/host", lines: []string{"host: evil", ":authority: evil"}, not: []string{"Host: evil"}},
		{name: "x-envoy stays away", path: "/set/envoy", lines: []string{"x-envoy-retry-on: 5xx"}, not: []string{"x-envoy-retry-on: 5xx", "X-Envoy-Retry-On: 5xx"}},
		{name: "the method stays", path: "/set/method", lines: []string{":method: PUT"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.probe.on(c.path, at(reqBody, continued(reqBody, changed("", c.lines...))))
			if a := send(t, f.Addresses["open"], post(c.path, "{}", "X-Old: 1")); a.status() != "201" {
				t.Fatalf("got %+v", a)
			}
			m := f.backend.only(t, c.path)
			if !strings.HasPrefix(m.start, "POST ") {
				t.Errorf("got %q", m.start)
			}
			for _, line := range c.want {
				if !m.has(line) {
					t.Errorf("no %q in %q", line, m.header)
				}
			}
			for _, line := range c.not {
				if m.has(line) {
					t.Errorf("%q in %q", line, m.header)
				}
			}
		})
	}
	t.Run("append true adds a line", func(t *testing.T) {
		if got := strings.Join(f.backend.only(t, "/set/more").header, "\n"); strings.Count(strings.ToLower(got), "x-old:") != 2 {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a header can be taken off", func(t *testing.T) {
		m := &ext_procv3.CommonResponse{HeaderMutation: &ext_procv3.HeaderMutation{RemoveHeaders: []string{"x-old"}}}
		f.probe.on("/set/off", at(reqBody, continued(reqBody, m)))
		send(t, f.Addresses["open"], post("/set/off", "{}", "X-Old: 1"))
		if _, there := f.backend.only(t, "/set/off").value("x-old"); there {
			t.Error("it is there")
		}
	})
	t.Run("set with the header and with the body, the last wins", func(t *testing.T) {
		f.probe.on("/set/both", func(k *talk) error {
			if err := k.stream.Send(continued(reqHeaders, changed("", "x-new: 1"))); err != nil {
				return err
			}
			if _, err := k.next(); err != nil {
				return err
			}
			if err := k.stream.Send(continued(reqBody, changed("", "x-new: 2"))); err != nil {
				return err
			}
			return k.rest()
		})
		send(t, f.Addresses["open"], post("/set/both", "{}"))
		if v, _ := f.backend.only(t, "/set/both").value("x-new"); v != "2" {
			t.Errorf("got %q", v)
		}
	})
	t.Run("a header of the answer", func(t *testing.T) {
		f.probe.on("/set/answer", at(respHeaders, continued(respHeaders, changed("", "oneticket-decision: create"))))
		if a := send(t, f.Addresses["open"], post("/set/answer", "{}")); a.status() != "201" || !a.has("Oneticket-Decision: create") {
			t.Errorf("got %+v", a)
		}
	})
	t.Run("a value with a line feed is an error, and nothing is sent", func(t *testing.T) {
		f.probe.on("/set/bad", at(reqBody, continued(reqBody, changed("", "x-bad: a\nb"))))
		if a := send(t, f.Addresses["closed"], post("/set/bad", "{}")); !strings.HasPrefix(a.status(), "5") || len(f.backend.got("/set/bad")) != 0 {
			t.Errorf("got %+v", a)
		}
	})
}

// factsOfBodies: an error is a 503 because of status_on_error, whatever the
// failure mode says.
func factsOfBodies(t *testing.T, f *facts) {
	chunked := "POST /body/chunked HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
	removed := changed(`{"a":1}`)
	removed.HeaderMutation.RemoveHeaders = []string{"content-length"}
	for _, c := range []struct {
		name, path, request string
		change              *ext_procv3.CommonResponse
		status              string
		body                string // that reaches the backend; none: it is not called
		length              string
	}{
		{name: "with its length", path: "/body/length", change: changed(`{"a":1}`, "content-length: 7"), status: "201", body: `{"a":1}`, length: "7"},
		{name: "with the old length: an error, and nothing is sent", path: "/body/old", change: changed(`{"a":1}`), status: "503"},
		{name: "with a wrong length: an error, and nothing is sent", path: "/body/wrong", change: changed(`{"a":1}`, "content-length: 8"), status: "503"},
		{name: "without a length it goes in chunks", path: "/body/removed", change: removed, status: "201", body: `{"a":1}`},
		{name: "of a request in chunks", path: "/body/chunked", request: chunked, change: changed(`{"a":1}`), status: "201", body: `{"a":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.probe.on(c.path, at(reqBody, continued(reqBody, c.change)))
			if c.request == "" {
				c.request = post(c.path, "{}")
			}
			if a := send(t, f.Addresses["open"], c.request); a.status() != c.status {
				t.Errorf("the client got %+v", a)
			}
			if c.body == "" {
				if len(f.backend.got(c.path)) != 0 {
					t.Error("the backend was called")
				}
				return
			}
			m := f.backend.only(t, c.path)
			if v, _ := m.value("content-length"); m.body != c.body || v != c.length {
				t.Errorf("the backend got %+v", m)
			}
		})
	}
	t.Run("of the answer, with the old length: an error after the backend was called", func(t *testing.T) {
		f.probe.on("/body/answer", at(respBody, continued(respBody, changed(`{"a":1}`))))
		if a := send(t, f.Addresses["open"], post("/body/answer", "{}")); a.status() != "503" || len(f.backend.got("/body/answer")) != 1 {
			t.Errorf("got %+v", a)
		}
	})
}
