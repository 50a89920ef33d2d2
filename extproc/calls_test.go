package extproc_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/extproc"
)

// callerTo is a Caller with one outlet, to the handler.
func callerTo(t *testing.T, change func(*extproc.Outlet), handler http.HandlerFunc) *extproc.Caller {
	t.Helper()
	s := httptest.NewServer(handler)
	o := extproc.Outlet{Backend: "snow", Via: s.URL + "/itsm"}
	if change != nil {
		change(&o)
	}
	c := extproc.NewCaller(nil)
	c.Use([]extproc.Outlet{o})
	t.Cleanup(func() {
		c.Close()
		s.CloseClientConnections()
		s.Close()
	})
	return c
}

var (
	lookUp = dedup.Call{Method: "GET", Path: "/api/now/table/incident?sysparm_query=correlation_id%3Didem%3A1"}
	change = dedup.Call{
		Method: "PATCH", Path: "/api/now/table/incident/0001", Body: []byte(`{"impact":"1"}`),
		Header: []dedup.HeaderField{{Name: "content-type", Value: "application/json"}, {Name: "x-user", Value: "of the call"}},
	}
	sender = extproc.CredentialsOf(
		dedup.HeaderField{Name: "authorization", Value: "Basic Ym90OnMzY3JldA=="},
		dedup.HeaderField{Name: "cookie", Value: "a=1"}, dedup.HeaderField{Name: "cookie", Value: "b=2"},
		dedup.HeaderField{Name: "x-user", Value: "of the client"},
	)
)

func TestACallIsWhatTheRuleWroteWithTheSendersCredentials(t *testing.T) {
	var got *http.Request
	var body []byte
	c := callerTo(t, func(o *extproc.Outlet) { o.Host = "snow.example.test" }, func(w http.ResponseWriter, q *http.Request) {
		got = q
		body, _ = io.ReadAll(q.Body)
		w.Header().Add("Content-Encoding", "gzip")
		w.Header().Add("X-Note", "one")
		w.Header().Add("X-Note", "two")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, `{"result":{"sys_id":"0001"}}`)
		_ = z.Close()
	})
	r := c.Call(t.Context(), "snow", change, sender)
	if r.Err != nil || r.Sent != extproc.CallAnswered || r.Answer.Status != 200 {
		t.Fatalf("%+v", r)
	}
	if id := r.Answer.Body.Member("result").Member("sys_id").Literal; id != "0001" || string(r.Answer.Raw) != `{"result":{"sys_id":"0001"}}` {
		t.Errorf("the answer is %s", r.Answer.Raw)
	}
	var notes []string
	for _, f := range r.Answer.Header {
		if f.Name == "x-note" {
			notes = append(notes, f.Value)
		}
	}
	if fmt.Sprint(notes) != "[one two]" {
		t.Errorf("the answer's header has %v", notes)
	}
	if got.Method != "PATCH" || got.RequestURI != "/itsm/api/now/table/incident/0001" || got.Host != "snow.example.test" || string(body) != `{"impact":"1"}` {
		t.Errorf("%s %s %s %s", got.Method, got.Host, got.RequestURI, body)
	}
	for name, want := range map[string]string{
		"authorization": "[Basic Ym90OnMzY3JldA==]", "cookie": "[a=1 b=2]", "x-user": "[of the call]",
		"content-type": "[application/json]", "user-agent": "[oneticket]",
	} {
		if value := fmt.Sprint(got.Header.Values(name)); value != want {
			t.Errorf("%s is %s, want %s", name, value, want)
		}
	}
	if len(got.Header.Get(extproc.CallHeader)) < 20 {
		t.Errorf("the mark is %q", got.Header.Get(extproc.CallHeader))
	}
}

func TestAQueryIsSentAsItWasWritten(t *testing.T) {
	uri := ""
	c := callerTo(t, nil, func(_ http.ResponseWriter, q *http.Request) { uri = q.RequestURI })
	if r := c.Call(t.Context(), "snow", lookUp, extproc.Credentials{}); r.Err != nil || uri != "/itsm"+lookUp.Path {
		t.Errorf("%s, %v", uri, r.Err)
	}
}

func TestWhatIsKnownOfACallsWay(t *testing.T) {
	for name, c := range map[string]struct {
		outlet func(*extproc.Outlet)
		answer http.HandlerFunc
		sent   extproc.SentKind
		status int
		err    error // nil: any, if it was not answered
	}{
		"applied":        {answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, sent: extproc.CallAnswered, status: 204},
		"refused":        {answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, sent: extproc.CallAnswered, status: 403},
		"too many":       {answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, sent: extproc.CallNotSent, status: 429},
		"a proxy's 503":  {answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, sent: extproc.CallAnswered, status: 503},
		"sent elsewhere": {answer: func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, "/login", http.StatusFound) }, sent: extproc.CallAnswered, status: 302},
		"nobody listens": {outlet: func(o *extproc.Outlet) { o.Via = "http://" + nobody() }, sent: extproc.CallNotSent},
		"hangs up":       {answer: func(w http.ResponseWriter, _ *http.Request) { hangUp(w, "") }, sent: extproc.CallUnknown},
		"half an answer": {answer: func(w http.ResponseWriter, _ *http.Request) {
			hangUp(w, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")
		}, sent: extproc.CallUnknown, status: 200},
		"never answers":   {outlet: func(o *extproc.Outlet) { o.Timeout = 50 * time.Millisecond }, answer: func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() }, sent: extproc.CallUnknown, err: context.DeadlineExceeded},
		"an endless one":  {outlet: func(o *extproc.Outlet) { o.MaxAnswer = 10 }, answer: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", 11)) }, sent: extproc.CallUnknown, status: 200, err: extproc.ErrAnswerTooLarge},
		"another backend": {outlet: func(o *extproc.Outlet) { o.Backend = "jira" }, sent: extproc.CallNotSent, err: extproc.ErrNoOutlet},
	} {
		t.Run(name, func(t *testing.T) {
			caller := callerTo(t, c.outlet, func(w http.ResponseWriter, q *http.Request) {
				_, _ = io.Copy(io.Discard, q.Body)
				c.answer(w, q)
			})
			r := caller.Call(t.Context(), "snow", change, sender)
			if r.Sent != c.sent || r.Answer.Status != c.status {
				t.Errorf("%s with status %d, want %s with %d: %v", r.Sent, r.Answer.Status, c.sent, c.status, r.Err)
			}
			if whole := r.Sent == extproc.CallAnswered || c.status == 429; whole != (r.Err == nil) {
				t.Errorf("the error is %v", r.Err)
			}
			if c.err != nil && !errors.Is(r.Err, c.err) {
				t.Errorf("the error is %v, want %v", r.Err, c.err)
			}
			if r.Err != nil && strings.Contains(r.Err.Error(), "incident") {
				t.Errorf("the error tells the path: %v", r.Err)
			}
		})
	}
}

// nobody is an address where nobody listens.
func nobody() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err.Error()
	}
	defer l.Close()
	return l.Addr().String()
}

func hangUp(w http.ResponseWriter, after string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(conn, after)
	conn.Close()
}

func TestCallsAreNotMoreThanTheRate(t *testing.T) {
	var mu sync.Mutex
	var at []time.Time
	const gap = 50 * time.Millisecond
	c := callerTo(t, func(o *extproc.Outlet) { o.Rate, o.Per = 20, time.Second }, func(http.ResponseWriter, *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		at = append(at, time.Now())
	})
	var all sync.WaitGroup
	began := time.Now()
	for range 6 {
		all.Go(func() {
			if r := c.Call(t.Context(), "snow", lookUp, sender); r.Err != nil {
				t.Error(r.Err)
			}
		})
	}
	all.Wait()
	if len(at) != 6 || time.Since(began) < 5*gap {
		t.Errorf("%d calls in %v", len(at), time.Since(began))
	}
}

func TestACallThatHasGoneLeavesItsTurnToTheNext(t *testing.T) {
	var calls atomic.Int64
	c := callerTo(t, func(o *extproc.Outlet) { o.Rate, o.Per = 1, 300*time.Millisecond }, func(http.ResponseWriter, *http.Request) { calls.Add(1) })
	c.Call(t.Context(), "snow", lookUp, sender) // takes the first turn
	gone, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if r := c.Call(gone, "snow", lookUp, sender); r.Sent != extproc.CallNotSent || !errors.Is(r.Err, context.Canceled) {
				t.Errorf("%+v", r)
			}
		})
	}
	cancel()
	all.Wait()
	began := time.Now()
	if r := c.Call(t.Context(), "snow", lookUp, sender); r.Err != nil {
		t.Error(r.Err)
	}
	if calls.Load() != 2 {
		t.Errorf("%d calls were sent, want 2", calls.Load())
	}
	if waited := time.Since(began); waited > 20*time.Second { // a hundred lost turns are half a minute
		t.Errorf("the last one waited for %v", waited)
	}
}

func TestAPauseThatTheBackendAsksForHoldsItsCalls(t *testing.T) {
	for name, c := range map[string]struct {
		status     int
		retryAfter string
		pauses     bool
	}{
		"429 with seconds":    {429, "60", true},
		"503 with seconds":    {503, "60", true},
		"503 with a date":     {503, time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), true},
		"429 that says none":  {429, "", true},
		"503 that says none":  {503, "", false},
		"503 with nonsense":   {503, "soon", false},
		"202 with seconds":    {202, "60", false},
		"503 of the past":     {503, "Thu, 01 Jan 2026 00:00:00 GMT", false},
		"429 without a pause": {429, "0", false},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			caller := callerTo(t, nil, func(w http.ResponseWriter, _ *http.Request) {
				if calls.Add(1) == 1 {
					if c.retryAfter != "" {
						w.Header().Set("Retry-After", c.retryAfter)
					}
					w.WriteHeader(c.status)
				}
			})
			caller.Call(t.Context(), "snow", lookUp, sender)
			within := 900 * time.Millisecond // less than the shortest pause
			if !c.pauses {
				within = 20 * time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			r := caller.Call(ctx, "snow", lookUp, sender)
			if paused := errors.Is(r.Err, extproc.ErrPaused); paused != c.pauses || r.Err != nil && r.Sent != extproc.CallNotSent {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestOneBackendsPauseIsNotAnothers(t *testing.T) {
	answer := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(status)
		}
	}
	slow, quick := httptest.NewServer(answer(429)), httptest.NewServer(answer(200))
	defer slow.Close()
	defer quick.Close()
	c := extproc.NewCaller(nil)
	defer c.Close()
	outlets := []extproc.Outlet{{Backend: "slow", Via: slow.URL}, {Backend: "quick", Via: quick.URL}}
	c.Use(outlets)
	c.Call(t.Context(), "slow", lookUp, sender)
	if r := c.Call(t.Context(), "quick", lookUp, sender); r.Err != nil {
		t.Error(r.Err)
	}
	c.Use(append(outlets, extproc.Outlet{Backend: "third", Via: quick.URL})) // a reload forgets no pause
	if r := c.Call(t.Context(), "slow", lookUp, sender); !errors.Is(r.Err, extproc.ErrPaused) {
		t.Errorf("after a reload: %+v", r)
	}
}

func TestCallsAtOneTimeAreBounded(t *testing.T) {
	var running, most atomic.Int64
	c := callerTo(t, func(o *extproc.Outlet) { o.Concurrent = 3 }, func(http.ResponseWriter, *http.Request) {
		n := running.Add(1)
		defer running.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(2 * time.Millisecond) // so that more would be seen
	})
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			if r := c.Call(t.Context(), "snow", lookUp, sender); r.Err != nil {
				t.Error(r.Err)
			}
		})
	}
	all.Wait()
	if most.Load() > 3 {
		t.Errorf("%d at one time", most.Load())
	}
}

func TestAFullQueueRefusesAtOnce(t *testing.T) {
	held := make(chan struct{})
	c := callerTo(t, func(o *extproc.Outlet) { o.Concurrent, o.Queue = 1, 1 }, func(http.ResponseWriter, *http.Request) { <-held })
	var full atomic.Int64
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			switch r := c.Call(t.Context(), "snow", lookUp, sender); {
			case errors.Is(r.Err, extproc.ErrQueue) && r.Sent == extproc.CallNotSent:
				full.Add(1)
			case r.Err != nil:
				t.Error(r.Err)
			}
		})
	}
	// One runs, one is about to, and one waits: the others are refused.
	poll(t, "nobody is refused", func() bool { return full.Load() >= 7 })
	close(held)
	all.Wait()
}

func TestClosingEndsWhoWaits(t *testing.T) {
	held := make(chan struct{})
	c := callerTo(t, func(o *extproc.Outlet) { o.Concurrent = 1 }, func(http.ResponseWriter, *http.Request) { <-held })
	results := make(chan extproc.CallResult, 2)
	for range 2 {
		go func() { results <- c.Call(t.Context(), "snow", lookUp, sender) }()
	}
	c.Close()
	if r := <-results; r.Err == nil || r.Sent != extproc.CallNotSent {
		t.Errorf("who waits gets %+v", r)
	}
	close(held)
	<-results
	if r := c.Call(t.Context(), "snow", lookUp, sender); r.Err == nil || r.Sent != extproc.CallNotSent {
		t.Errorf("who comes later gets %+v", r)
	}
}

func TestCredentialsPrintNothing(t *testing.T) {
	var log logged
	slog.New(&log).Info("call", "as", sender)
	for what, text := range map[string]string{"%v": fmt.Sprintf("%v", sender), "%+v": fmt.Sprintf("%+v", sender), "%#v": fmt.Sprintf("%#v", sender), "the log": log.text(slog.LevelDebug)} {
		if strings.Contains(text, "Ym90") {
			t.Errorf("%s shows %s", what, text)
		}
	}
}

func TestAnOutsideCallPassesTheFilterByWithoutItsMark(t *testing.T) {
	caller := extproc.NewCaller(nil)
	mark := ""
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { mark = q.Header.Get(extproc.CallHeader) }))
	defer s.Close()
	caller.Use([]extproc.Outlet{{Backend: "snow", Via: s.URL}})
	defer caller.Close()
	caller.Call(t.Context(), "snow", lookUp, sender)

	r := newRig(t, func(_ *rig, o *extproc.Options) { o.Calls = caller })
	m := r.proxy().ask(requestHeaders(append([]string{extproc.CallHeader, mark}, bearer...)...))
	if metadata(m, "decision") != "pass" || metadata(m, "reason") != "own_call" || m.GetModeOverride() == nil {
		t.Errorf("an own call gets %v", m)
	}
	if removed := m.GetRequestHeaders().GetResponse().GetHeaderMutation().GetRemoveHeaders(); len(removed) != 1 || removed[0] != extproc.CallHeader {
		t.Errorf("the backend does not lose %v", removed)
	}
	for _, guess := range []string{"", "x", mark[:len(mark)-1], mark + "x"} {
		if m := r.proxy().ask(requestHeaders(append([]string{extproc.CallHeader, guess}, bearer...)...)); metadata(m, "reason") == "own_call" {
			t.Errorf("a client that says %q passes by", guess)
		}
	}
}
