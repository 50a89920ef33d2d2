package extproc_test

import (
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/extproc"
)

func TestWhichHeadersOfAnAnswerAreGivenAgain(t *testing.T) {
	rule := &extproc.Rule{ReplayHeaders: []string{"x-ticket-token", "transfer-encoding", "date"}, DropHeaders: []string{"x-internal", "etag"}}
	for name, want := range map[string]bool{
		"content-type": true, "location": true, "link": true, "x-note": true, "content-disposition": true,
		"expires": true, "x-correlation-display": true, "retry-after": true, "cache-control": true, "vary": true,
		"x-ticket-token": true, "date": true,

		"x-internal": false, "etag": false,
		"connection": false, "keep-alive": false, "transfer-encoding": false, "te": false, "trailer": false, "upgrade": false,
		"proxy-connection": false, "proxy-authenticate": false,
		"content-length": false, "content-encoding": false, "age": false, "server": false,
		"x-envoy-upstream-service-time": false, ":status": false,
		"x-request-id": false, "request-id": false, "x-arequestid": false, "x-amzn-requestid": false, "x-amzn-trace-id": false,
		"x-b3-traceid": false, "traceparent": false, "x-correlation-id": false,
		"x-ratelimit-remaining": false, "ratelimit-reset": false, "x-rate-limit": false,
		"set-cookie": false, "set-cookie2": false, "www-authenticate": false, "authorization": false, "x-auth": false,
		"x-csrf": false, "x-usertoken": false, "x-session-id": false, "x-is-secret": false,
		"oneticket-decision": false, "idempotent-replayed": false,
	} {
		if got := rule.Replayed(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestWhatADuplicateGets(t *testing.T) {
	rule := &extproc.Rule{}
	lines := []dedup.HeaderField{{Name: "x-note", Value: "one, two"}, {Name: "x-note", Value: "three"}, {Name: "location", Value: "/7"}}
	for name, c := range map[string]struct {
		record  dedup.Record
		status  int
		body    string
		headers int
	}{
		"the stored answer": {dedup.Record{Response: &dedup.Response{Status: 201, Header: lines, Body: []byte("{}")}}, 201, "{}", 4},
		"204 has no body":   {dedup.Record{Response: &dedup.Response{Status: 204, Header: lines, Body: []byte("{}")}}, 204, "", 4},
		"cut":               {dedup.Record{Ticket: dedup.Ticket{ID: "7"}, Response: &dedup.Response{Status: 201, Header: lines[2:], Cut: true}}, 201, `{"id":"7","location":"/7"}`, 3},
		"cut without place": {dedup.Record{Ticket: dedup.Ticket{ID: "7"}, Response: &dedup.Response{Status: 202, Cut: true}}, 202, `{"id":"7"}`, 2},
		"nothing was kept":  {dedup.Record{Ticket: dedup.Ticket{ID: "7", Location: "/7"}}, 200, `{"id":"7","location":"/7"}`, 3},
	} {
		t.Run(name, func(t *testing.T) {
			got := rule.Replay(&c.record)
			if got.Status != c.status || string(got.Body) != c.body || len(got.Header) != c.headers {
				t.Errorf("got %d %s %v", got.Status, got.Body, got.Header)
			}
			if last := got.Header[len(got.Header)-1]; last.Name != "idempotent-replayed" {
				t.Errorf("the last header is %v", last)
			}
		})
	}
}

func TestHowLongTheProxyCanBeKeptWaiting(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		patience             extproc.Patience
		want, wait, override time.Duration
	}{
		"a long timeout needs no wish":   {extproc.Patience{Message: 30 * s}, 20 * s, 20 * s, 0},
		"a long timeout, a longer wait":  {extproc.Patience{Message: 8 * s}, 20 * s, 7 * s, 0},
		"200 ms and a wish":              {extproc.Patience{Message: s / 5, Most: 60 * s}, 3 * s, 3 * s, 34 * s},
		"200 ms and a wish cut short":    {extproc.Patience{Message: s / 5, Most: 10 * s}, 20 * s, 9 * s, 10 * s},
		"200 ms and no wish":             {extproc.Patience{Message: s / 5}, 20 * s, 0, 0},
		"nothing known":                  {extproc.Patience{}, 20 * s, 0, 0},
		"a wish of no use":               {extproc.Patience{Message: 8 * s, Most: s}, 20 * s, 7 * s, 0},
		"a rule that does not wait":      {extproc.Patience{Message: 8 * s, Most: 60 * s}, 0, 0, 0},
		"a short wait, and more of it":   {extproc.Patience{Message: 8 * s, Most: 60 * s}, 3 * s, 3 * s, 34 * s},
		"a long timeout, and more of it": {extproc.Patience{Message: 8 * s, Most: 60 * s}, 20 * s, 20 * s, 51 * s},
	} {
		t.Run(name, func(t *testing.T) {
			if wait, override := c.patience.Plan(c.want); wait != c.wait || override != c.override {
				t.Errorf("wait %s, override %s; want %s, %s", wait, override, c.wait, c.override)
			}
		})
	}
}

func TestTheHostARequestIsSentOnTo(t *testing.T) {
	for name, c := range map[string]struct{ scheme, authority, want string }{
		"capitals":            {"https", "Snow.Example.TEST", "snow.example.test"},
		"the default port":    {"https", "snow.example.test:443", "snow.example.test"},
		"the default of http": {"http", "snow.example.test:80", "snow.example.test"},
		"another port":        {"https", "snow.example.test:80", "snow.example.test:80"},
		"an address":          {"http", "[2001:DB8::1]:80", "[2001:db8::1]"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := extproc.RequestOf("POST", c.scheme, c.authority, "/", nil).Host; got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestAQueryIsReadInOrder(t *testing.T) {
	got := extproc.RequestOf("POST", "https", "x", "/a%20b+c?x=1+2&&y&x=%zz", nil)
	want := []dedup.HeaderField{{Name: "x", Value: "1 2"}, {Name: "y"}, {Name: "x", Value: "%zz"}}
	if got.Path != "/a b+c" || len(got.Query) != len(want) {
		t.Fatalf("got %q %v", got.Path, got.Query)
	}
	for i := range want {
		if got.Query[i] != want[i] {
			t.Errorf("query %d is %v, want %v", i, got.Query[i], want[i])
		}
	}
}
