package extproc_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"oneticket/extproc"
)

// TestABackendThatMeansHarmCostsLittle: whatever it answers, a call ends in
// time, in bounds, and believes nothing that is not whole.
func TestABackendThatMeansHarmCostsLittle(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	zeros := make([]byte, 1<<20)
	for range 512 {
		_, _ = z.Write(zeros)
	}
	_ = z.Close()
	endless := func(w http.ResponseWriter, q *http.Request, chunk []byte, pause time.Duration) {
		for q.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			time.Sleep(pause)
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		sent   extproc.SentKind
	}{
		"10 MB":             {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 10<<20)) }, extproc.CallUnknown},
		"an endless stream": {func(w http.ResponseWriter, q *http.Request) { endless(w, q, zeros, 0) }, extproc.CallUnknown},
		"an endless drip":   {func(w http.ResponseWriter, q *http.Request) { endless(w, q, []byte{' '}, 10*time.Millisecond) }, extproc.CallUnknown},
		"a bomb": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}, extproc.CallUnknown},
		"a coding that it has not": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, `{"list":[]}`)
		}, extproc.CallUnknown},
		"an endless header": {func(w http.ResponseWriter, q *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n")
			for i := 0; ; i++ {
				if _, err := fmt.Fprintf(conn, "x-%d: %s\r\n", i, strings.Repeat("x", 4000)); err != nil {
					return
				}
			}
		}, extproc.CallUnknown},
		"endless promises": {func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			for {
				if _, err := fmt.Fprint(conn, "HTTP/1.1 103 Early Hints\r\n\r\n"); err != nil {
					return
				}
			}
		}, extproc.CallUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			caller := callerTo(t, func(o *extproc.Outlet) { o.Timeout = 2 * time.Second }, c.answer)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := caller.Call(t.Context(), "snow", lookUp, sender)
			runtime.ReadMemStats(&after)
			if r.Sent != c.sent || r.Err == nil {
				t.Errorf("%s, %v", r.Sent, r.Err)
			}
			if grew := int64(after.TotalAlloc) - int64(before.TotalAlloc); grew > 96<<20 {
				t.Errorf("it took %d MB", grew>>20)
			}
		})
	}
}

// TestCredentialsDoNotFollowARedirect, neither elsewhere nor to the same place.
func TestCredentialsDoNotFollowARedirect(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	var here atomic.Int64
	for _, status := range []int{301, 302, 303, 307, 308} {
		caller := callerTo(t, nil, func(w http.ResponseWriter, q *http.Request) {
			here.Add(1)
			http.Redirect(w, q, other.URL, status)
		})
		if r := caller.Call(t.Context(), "snow", lookUp, sender); r.Answer.Status != status {
			t.Errorf("%d: %+v", status, r)
		}
	}
	if elsewhere.Load() != 0 || here.Load() != 5 {
		t.Errorf("%d went elsewhere, %d came", elsewhere.Load(), here.Load())
	}
}

// TestAPauseIsWhatItSaysAndNeverForEver: how long a call has to wait after a
// 429 that says so.
func TestAPauseIsWhatItSaysAndNeverForEver(t *testing.T) {
	date := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
	for name, c := range map[string]struct {
		after       string
		least, most time.Duration
	}{
		"none":                {"", 500 * time.Millisecond, time.Second},
		"nothing":             {"0", 0, 0},
		"seconds":             {"7", 6 * time.Second, 7 * time.Second},
		"a date":              {date(30 * time.Second), 28 * time.Second, 30 * time.Second},
		"a date gone by":      {date(-time.Hour), 0, 0},
		"years":               {"315360000", 4 * time.Minute, 5 * time.Minute},
		"a date in years":     {date(80000 * time.Hour), 4 * time.Minute, 5 * time.Minute},
		"more than there are": {"99999999999999999999", 500 * time.Millisecond, time.Second},
		"negative":            {"-5", 500 * time.Millisecond, time.Second},
		"words":               {"soon", 500 * time.Millisecond, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			caller := callerTo(t, nil, func(w http.ResponseWriter, _ *http.Request) {
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				w.WriteHeader(http.StatusTooManyRequests)
			})
			if r := caller.Call(t.Context(), "snow", lookUp, sender); !r.Later {
				t.Errorf("%+v", r)
			}
			// Who has no time for the pause is told so at once.
			paused := func(patience time.Duration) bool {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				cancel() // it is asked before anybody waits
				return errors.Is(caller.Pace(ctx, "snow"), extproc.ErrPaused)
			}
			if c.least > 0 && !paused(c.least-100*time.Millisecond) {
				t.Errorf("it is not paused for %v", c.least)
			}
			if paused(c.most + 10*time.Second) {
				t.Errorf("it is paused for more than %v", c.most)
			}
		})
	}
}

// TestThousandsBehindAPaceAreBoundedInNumberAndTime, and leave nothing.
func TestThousandsBehindAPaceAreBoundedInNumberAndTime(t *testing.T) {
	var calls atomic.Int64
	caller := callerTo(t, func(o *extproc.Outlet) { o.Rate, o.Per, o.Timeout = 1, time.Hour, 500*time.Millisecond },
		func(http.ResponseWriter, *http.Request) { calls.Add(1) })
	if r := caller.Call(t.Context(), "snow", lookUp, sender); r.Err != nil {
		t.Fatal(r.Err)
	}
	before := runtime.NumGoroutine()
	var all sync.WaitGroup
	var full, late atomic.Int64
	for range 3000 {
		all.Go(func() {
			switch r := caller.Call(t.Context(), "snow", lookUp, sender); {
			case errors.Is(r.Err, extproc.ErrQueue) && r.Later:
				full.Add(1)
			case errors.Is(r.Err, context.DeadlineExceeded) && r.Later && r.Sent == extproc.CallNotSent:
				late.Add(1)
			default:
				t.Errorf("%+v", r)
			}
		})
	}
	all.Wait()
	if full.Load()+late.Load() != 3000 || late.Load() > 300 || calls.Load() != 1 {
		t.Errorf("%d were refused at once, %d waited; %d calls", full.Load(), late.Load(), calls.Load())
	}
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before+2 })
}
