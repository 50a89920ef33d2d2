package envoy_test

import (
	"bufio"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"oneticket/extproc/envoy"
	"oneticket/extproc/envoy/envoytest"
)

// A stand is one Envoy with a deciding filter and a backend behind it.
type stand struct {
	filter  *filter
	backend *backend
	envoy   *envoytest.Running
}

func (s stand) address() string { return s.envoy.Addresses["jira"] }

func TestListener(t *testing.T) {
	tests := map[string]func(*testing.T, stand){
		"a create meets the filter, and its key reaches the backend": createIsFiltered,
		"what is no create opens no stream":                          restIsNotFiltered,
		"the filter is told of the exchange":                         attributesArrive,
		"the backend sees the request as the client wrote it":        requestIsUnchanged,
		"the client sees the answer as the backend wrote it":         answerIsUnchanged,
		"an answer without a date gets one":                          dateIsAdded,
		"the filter's own answer has no marks of Envoy":              immediateAnswer,
		"HTTP/1.0 is served":                                         http10,
		"HTTP/1.0 without a host is served":                          http10WithoutHost,
		"the path stays as it is":                                    pathIsUnchanged,
		"a path in the URL is put before the path":                   pathPrefix,
		"a client cannot ask for retries":                            clientRetriesDropped,
		"a create that the backend hung up on is not sent again":     hangUpIsNotRetried,
		"a body up to the limit passes":                              largeBody,
		"a body over the limit is refused":                           tooLargeBody,
		"a web socket passes without the filter":                     webSocket,
		"an offer of TLS is ignored":                                 upgradeOffer,
		"bad requests get Envoy's answer":                            badRequest,
		"a filter that dies before it decided is logged as a bypass": diesUndecided,
	}
	names := make([]string, 0, len(tests))
	for name := range tests {
		names = append(names, name)
	}
	slices.Sort(names)
	s := newStand(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) { tests[name](t, s) })
	}
	t.Run("what was decided is not logged as a bypass", func(t *testing.T) { onlyBypassesAreLogged(t, s) })
}

func newStand(t *testing.T) stand {
	t.Helper()
	s := stand{backend: startBackend(t, nil)}
	spec := envoytest.Fill(t, envoy.Spec{
		MaxBody:     1 << 20,
		FilterRetry: time.Second,
		Backends: []envoy.Backend{
			{Name: "jira", URL: s.backend.url("http"), Methods: []string{"POST", "PUT"}},
			{Name: "below", URL: s.backend.url("http") + "/context%20path/"},
		},
	})
	s.filter = startFilter(t, spec.Socket)
	s.envoy = envoytest.Start(t, spec)
	return s
}

func createIsFiltered(t *testing.T, s stand) {
	a := send(t, s.address(), post("/issue", `{"a":1}`))
	if a.status() != "201" || a.body != "{}" {
		t.Errorf("the client got %+v", a)
	}
	m := s.backend.only(t, "/issue")
	if m.body != `{"a":1}` || !m.has("Idempotency-Key: idem:1") || !m.has("Content-Length: 7") {
		t.Errorf("the backend got %+v", m)
	}
	if s.filter.seen("/issue") != 1 {
		t.Error("the filter was not asked")
	}
}

func restIsNotFiltered(t *testing.T, s stand) {
	send(t, s.address(), get("/issue/1"))
	send(t, s.address(), strings.Replace(post("/issue/1", "{}"), "POST", "PATCH", 1))
	if got := len(s.backend.got("/issue/1")); got != 2 {
		t.Errorf("the backend got %d requests", got)
	}
	if s.filter.seen("/issue/1") != 0 {
		t.Error("the filter was asked")
	}
}

func attributesArrive(t *testing.T, s stand) {
	send(t, s.address(), strings.Replace(post("/attributes", "{}"), "POST", "PUT", 1))
	got := s.filter.attributes("/attributes").AsMap()
	for name, want := range map[string]any{
		"xds.cluster_name": "jira", "xds.route_name": envoy.GuardedRoute, "request.method": "PUT", "request.host": "127.0.0.1:8081",
	} {
		if got[name] != want {
			t.Errorf("%s: got %v, want %v", name, got[name], want)
		}
	}
}

func requestIsUnchanged(t *testing.T, s stand) {
	sent := []string{"X-CamelCase: 1", "x-lower: 2", "SOAPAction: \"x\"", "X_Under_Score: 3", "Authorization: Basic YTpi", "X-Request-Id: mine"}
	send(t, s.address(), post("/as-it-is", "{}", sent...))
	m := s.backend.only(t, "/as-it-is")
	want := append([]string{"Host: " + s.backend.listener.Addr().String(), "Content-Type: application/json", "Content-Length: 2",
		"Idempotency-Key: idem:1"}, sent...)
	compareHeader(t, m, want)
}

func answerIsUnchanged(t *testing.T, s stand) {
	a := send(t, s.address(), post("/answer", "{}"))
	if a.start != "HTTP/1.1 201 Ticket Made" {
		t.Errorf("status line %q", a.start)
	}
	compareHeader(t, a, []string{"Content-Type: application/json", "X-ServiceNow-ID: INC1", "Date: Thu, 01 Jan 2026 00:00:00 GMT", "Content-Length: 2"})
}

// compareHeader holds a message to exactly these lines, in any order.
func compareHeader(t *testing.T, m message, want []string) {
	t.Helper()
	got := slices.Sorted(slices.Values(m.header))
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("header\n got %q\nwant %q", got, want)
	}
}

func dateIsAdded(t *testing.T, s stand) {
	a := send(t, s.address(), get("/dateless"))
	if len(a.header) != 1 {
		t.Errorf("header %q, want a date alone", a.header)
	}
	if _, ok := a.value("date"); !ok {
		t.Errorf("no date in %q: the package comment says that Envoy adds one", a.header)
	}
}

func immediateAnswer(t *testing.T, s stand) {
	a := send(t, s.address(), post("/answered", "{}"))
	if a.status() != "200" || a.body != "stored" {
		t.Errorf("got %+v", a)
	}
	for _, line := range a.header {
		name, _, _ := strings.Cut(strings.ToLower(line), ":")
		if !slices.Contains([]string{"idempotent-replayed", "content-length", "content-type", "date"}, name) {
			t.Errorf("added: %q", line)
		}
	}
	if len(s.backend.got("/answered")) != 0 {
		t.Error("the backend was called")
	}
}

func http10(t *testing.T, s stand) {
	a := send(t, s.address(), strings.Replace(post("/old", "{}"), "HTTP/1.1", "HTTP/1.0", 1))
	if a.status() != "201" || s.filter.seen("/old") != 1 {
		t.Errorf("got %+v, filter asked %d times", a, s.filter.seen("/old"))
	}
}

func http10WithoutHost(t *testing.T, s stand) {
	a := send(t, s.address(), "POST /older HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}")
	if a.status() != "201" || s.filter.seen("/older") != 1 {
		t.Errorf("got %+v, filter asked %d times", a, s.filter.seen("/older"))
	}
}

func pathIsUnchanged(t *testing.T, s stand) {
	for _, path := range []string{"/a//b/../c", "/a%2Fb%5Cc%2e%2e/", "/UPPER/%c3%a9;v=1", "/tail/.", "/x?q=a%20b+c&&&=#"} {
		path = strings.TrimSuffix(path, "#")
		send(t, s.address(), post(path, "{}"))
		found := false
		for _, m := range s.backend.got(message{start: "POST " + path}.path()) {
			found = found || m.start == "POST "+path+" HTTP/1.1"
		}
		if !found {
			t.Errorf("%s did not reach the backend as it is", path)
		}
	}
}

func pathPrefix(t *testing.T, s stand) {
	send(t, s.envoy.Addresses["below"], post("/rest/issue", "{}"))
	m := s.backend.only(t, "/context%20path/rest/issue")
	if _, added := m.value("x-envoy-original-path"); added {
		t.Errorf("added: %q", m.header)
	}
	if s.filter.seen("/rest/issue") != 1 {
		t.Error("the filter did not see the path that the client asked for")
	}
}

func clientRetriesDropped(t *testing.T, s stand) {
	a := send(t, s.address(), post("/hangs-up", `{"retry":"asked"}`, "X-Envoy-Retry-On: reset,5xx", "X-Envoy-Max-Retries: 3"))
	m := s.backend.got("/hangs-up")
	if a.status() != "503" || len(m) == 0 || m[len(m)-1].body != `{"retry":"asked"}` {
		t.Fatalf("got %+v, backend %+v", a, m)
	}
	n := 0
	for _, m := range m {
		if m.body == `{"retry":"asked"}` {
			n++
		}
	}
	if n != 1 {
		t.Errorf("sent %d times", n)
	}
}

func hangUpIsNotRetried(t *testing.T, s stand) {
	before := len(s.backend.got("/hangs-up"))
	a := send(t, s.address(), post("/hangs-up", "{}"))
	if a.status() != "503" {
		t.Errorf("got %+v", a)
	}
	if n := len(s.backend.got("/hangs-up")) - before; n != 1 {
		t.Errorf("sent %d times, want once: it may have been read", n)
	}
}

func largeBody(t *testing.T, s stand) {
	body := strings.Repeat("x", 3<<20)
	a := send(t, s.address(), post("/large", body))
	if a.status() != "201" || s.backend.only(t, "/large").body != body {
		t.Errorf("got %q", a.start)
	}
}

func tooLargeBody(t *testing.T, s stand) {
	size := int(s.envoy.Spec.BufferLimit()) + 1<<20
	c := dial(t, s.address())
	go func() { _, _ = io.WriteString(c, post("/too-large", strings.Repeat("x", size))) }()
	a, err := readMessage(bufio.NewReader(c))
	if err != nil || a.status() != "413" {
		t.Errorf("got %+v, %v", a, err)
	}
	if n := len(s.backend.got("/too-large")); n != 0 {
		t.Errorf("sent %d times", n)
	}
}

func webSocket(t *testing.T, s stand) {
	c := dial(t, s.address())
	upgrade := get("/websocket", "Connection: Upgrade", "Upgrade: websocket")
	if _, err := io.WriteString(c, upgrade); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	a, err := readMessage(r)
	if err != nil || a.status() != "101" {
		t.Fatalf("got %+v, %v", a, err)
	}
	if _, err := io.WriteString(c, "ping\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := r.ReadString('\n'); line != "ping\n" || err != nil {
		t.Errorf("got %q, %v", line, err)
	}
}

func upgradeOffer(t *testing.T, s stand) {
	for _, offer := range []string{"TLS/1.2", "h2c", "wap/1", "W"} {
		a := send(t, s.address(), post("/offer", "{}", "Connection: Upgrade", "Upgrade: "+offer))
		if a.status() != "201" {
			t.Errorf("%s: got %+v", offer, a)
		}
	}
	if s.filter.seen("/offer") != 4 {
		t.Errorf("the filter was asked %d times", s.filter.seen("/offer"))
	}
}

func badRequest(t *testing.T, s stand) {
	a := send(t, s.address(), "POST /bad HTTP/1.1\r\nHost: x\r\nContent-Length: nonsense\r\n\r\n")
	if a.status() != "400" {
		t.Errorf("got %+v", a)
	}
}

func diesUndecided(t *testing.T, s stand) {
	a := send(t, s.address(), post("/dies?token=hush", "{}"))
	if a.status() != "201" {
		t.Errorf("got %+v", a)
	}
	entry := bypassed(t, s.envoy, "/dies")
	if entry.Method != "POST" || entry.Status != 201 || entry.Sent == 0 || entry.Cluster != "jira" || entry.Route != envoy.GuardedRoute {
		t.Errorf("got %+v", entry)
	}
	if _, err := time.Parse(time.RFC3339Nano, entry.Time); err != nil {
		t.Error(err)
	}
}

func onlyBypassesAreLogged(t *testing.T, s stand) {
	// Entries are written in order: after this one all before it are there.
	send(t, s.address(), post("/dies/last", "{}"))
	bypassed(t, s.envoy, "/dies/last")
	for _, e := range bypasses(t, s.envoy) {
		// A 413 comes before anything is decided, and sends nothing.
		if !strings.HasPrefix(e.Path, "/dies") && !(e.Status == 413 && e.Sent == 0) {
			t.Errorf("logged: %+v", e)
		}
	}
}

// deadPort is an address where nobody listens.
func deadPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
