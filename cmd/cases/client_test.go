package main

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestRequestsGoOutByteForByte(t *testing.T) {
	for name, tc := range map[string]struct{ block, want string }{
		"length": {"### send 1\nPOST /a%2Fb?x HTTP/1.1\nhOST: h\nX-A: 1\n\nab\n",
			"POST /a%2Fb?x HTTP/1.1\r\nhOST: h\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nab"},
		"own length": {"### send 1\nPOST / HTTP/1.1\nContent-Length: 1\n\nab\n",
			"POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\nab"},
		"chunks and a trailer": {"### send 1 framing=chunked:2 trailer=X-Sum:9\nPOST / HTTP/1.1\nTrailer: X-Sum\n\nabc\n",
			"POST / HTTP/1.1\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\nX-Sum: 9\r\n\r\n"},
		"old protocol": {"### send 1 http=1.0\nPOST / HTTP/1.1\n\n",
			"POST / HTTP/1.0\r\nContent-Length: 0\r\n\r\n"},
		"get": {"### send 1\nGET / HTTP/1.1\nHost: h\n\n", "GET / HTTP/1.1\r\nHost: h\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c := parsed(t, "case: C1\nprofile: snow\n"+tc.block)
			head, body := c.Steps[0].Send.bytes()
			if got := string(head) + string(body); got != tc.want {
				t.Errorf("sent %q, want %q", got, tc.want)
			}
		})
	}
}

func TestAClientThatWaitsForContinueGetsIt(t *testing.T) {
	_, do := stand(t, snow{}, &testCase{})
	for range 2 {
		a, err := do("POST /api/now/table/incident", "{}", "Expect", "100-continue")
		if a = must(t, a, err); a.Status != 201 {
			t.Errorf("status %d", a.Status)
		}
	}
}

func TestAClientThatAbortsLeaves(t *testing.T) {
	b, _ := stand(t, snow{}, &testCase{Create: []*script{{Number: 1, Commit: "yes", Delay: 500 * time.Millisecond}}})
	p := &port{backend: b}
	if err := p.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	s := &send{Line: "POST /api/now/table/incident HTTP/1.1", Header: []headerLine{{"Host", "h"}}, Abort: 30 * time.Millisecond}
	if _, err := (&client{}).do(p.addr, s); !errors.Is(err, errAborted) {
		t.Errorf("error %v", err)
	}
}

func TestAWantTellsWhatItSaw(t *testing.T) {
	a := &answer{Status: 201, Header: []headerLine{{"X-A", "1"}, {"Idempotent-Replayed", "true"}}, Body: []byte(`{"result":{"sys_id":"` + snow{}.id(2) + `"}}`)}
	arrived := []arrival{{kind: create, line: "POST /x"}}
	for line, want := range map[string]string{
		"status: 200 | 201":         "",
		"status: 200":               "wanted status 200, saw 201",
		"ticket: T2":                "",
		"ticket: T1 | T2":           "",
		"ticket: T1":                "wanted ticket T1, saw " + snow{}.id(2),
		"ticket: T2 T2":             "wanted ticket T2 T2",
		"backend: yes":              "",
		"backend: no":               "saw at the backend POST /x",
		"backend: lookup":           "wanted backend: lookup",
		"replayed: yes":             "",
		"replayed: no":              "wanted replayed: no",
		"header: X-A: 1":            "",
		"header: X-A: *":            "",
		"header: X-A: 2":            "wanted header X-A: 2",
		"header-absent: Set-Cookie": "",
		"header-absent: x-a":        "wanted no header x-a",
		"body-has: sys_id":          "",
		"body-lacks: sys_id":        "a body without",
		"within: 1s":                "",
		"within: 1ms":               "within 1ms",
	} {
		w, err := parseWant(line)
		if err != nil {
			t.Fatal(err)
		}
		found := w.check(&seen{send: &send{Number: 1}, answer: a, arrived: arrived, took: 50 * time.Millisecond}, snow{})
		switch {
		case want == "" && len(found) > 0:
			t.Errorf("%s: %v", line, found)
		case want != "" && (len(found) != 1 || !strings.Contains(found[0].String(), want)):
			t.Errorf("%s: %v, want %q", line, found, want)
		}
	}
}

func TestATicketMayBeNamedAnywhereInARebuiltAnswer(t *testing.T) {
	w := &want{Tickets: []string{"T1"}}
	for body, want := range map[string]bool{
		"ticket " + snow{}.id(1):       true,
		"ticket " + snow{}.id(1) + "7": false,
		"none":                         false,
	} {
		if got := w.hasTicket(&answer{Status: 200, Body: []byte(body)}, snow{}); got != want {
			t.Errorf("%q: %v", body, got)
		}
	}
}
