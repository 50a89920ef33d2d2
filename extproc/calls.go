package extproc

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"oneticket/dedup"
)

// callHeader marks an outside call, so that the filter lets it pass by. Its
// value is random and of one process, and perhaps names the exchange after a
// ";"; a backend never sees it.
const callHeader = "oneticket-call"

// An Outlet is the way to one backend for outside calls. The zero values of
// its numbers are the defaults.
type Outlet struct {
	Backend string
	Via     string // base URL: http or https, host, port and perhaps a path
	Host    string // that the calls name, where it is not that of Via

	Rate    int           // calls at most ...
	Per     time.Duration // ... in this time, evenly; Rate 0 is without limit
	Timeout time.Duration // of one call, the answer's body included; default 30 s

	MaxAnswer  int64 // bytes of an answer's body; default 4 MiB
	Concurrent int   // calls at one time; default 16
	Queue      int   // calls that wait for their turn; default 256
}

func (o Outlet) withDefaults() Outlet {
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.MaxAnswer = cmp.Or(o.MaxAnswer, 4<<20)
	o.Concurrent = cmp.Or(o.Concurrent, 16)
	o.Queue = cmp.Or(o.Queue, 256)
	return o
}

// SentKind is what is known of a call's way to the backend.
type SentKind string

const (
	CallNotSent  SentKind = "not_sent" // the backend surely did nothing with it: it never left, or 429
	CallUnknown  SentKind = "unknown"  // something may have left, and no whole answer came
	CallAnswered SentKind = "answered"
)

// A CallResult is how an outside call ended. Through a proxy, a backend that
// could not be reached answers like any other: with the proxy's 502, 503 or
// 504, which do not say whether anything was sent. They are CallAnswered with
// that status, and whoever judges an update by them takes a 5xx for unknown,
// never for not sent.
type CallResult struct {
	Answer dedup.Answer
	Plain  []byte // the answer's body as it came, without its content coding
	Sent   SentKind
	Later  bool  // with CallNotSent: for lack of a turn or of a way, or because the backend said 429; it can be made later
	Err    error // nil exactly when Sent is CallAnswered, or for a 429
}

// Errors of a call that was not sent.
var (
	ErrNoOutlet = errors.New("no way to the backend is known")
	ErrQueue    = errors.New("too many outside calls wait for their turn")
	ErrPaused   = errors.New("the backend has asked for a pause that is longer than there is time")
)

// ErrAnswerTooLarge: a call that was sent had an answer over Outlet.MaxAnswer.
var ErrAnswerTooLarge = errors.New("the answer is larger than can be read")

// A Caller makes outside calls: look-ups, reads, updates. It is safe for
// concurrent use. The calls of a backend are paced, and never on the path of
// another request.
type Caller struct {
	mark   string
	client *http.Client
	log    *slog.Logger
	roads  atomic.Pointer[map[string]*road]
	using  sync.Mutex // orders Use and Close
	ended  bool
}

// NewCaller returns a Caller without outlets. log may be nil.
func NewCaller(log *slog.Logger) *Caller {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	transport := &http.Transport{
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     30 * time.Second,
		DisableCompression:  true, // what is read is decoded with the rest of the bodies

		MaxResponseHeaderBytes: 256 << 10, // with those of all 1xx answers; Envoy takes 60 KiB of its own
	}
	c := &Caller{mark: rand.Text(), log: log, client: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	c.roads.Store(&map[string]*road{})
	return c
}

// Use replaces the outlets. One that has not changed keeps its pace.
func (c *Caller) Use(outlets []Outlet) {
	c.using.Lock()
	defer c.using.Unlock()
	old := *c.roads.Load()
	next := make(map[string]*road, len(outlets))
	for _, o := range outlets {
		o = o.withDefaults()
		r := old[o.Backend]
		if r == nil || r.outlet != o || c.ended {
			r = newRoad(o, c.ended)
		}
		next[o.Backend] = r
	}
	c.roads.Store(&next)
	for name, r := range old {
		if next[name] != r {
			r.close()
		}
	}
}

// Close ends the pacing; calls that wait end as not sent.
func (c *Caller) Close() {
	c.using.Lock()
	defer c.using.Unlock()
	c.ended = true
	for _, r := range *c.roads.Load() {
		r.close()
	}
	c.client.CloseIdleConnections()
}

// own reports whether a request is a call of this process.
func (c *Caller) own(h *head) bool {
	if c == nil {
		return false
	}
	mark, _, _ := strings.Cut(h.value(callHeader), ";")
	return mark != "" && subtle.ConstantTimeCompare([]byte(mark), []byte(c.mark)) == 1
}

// Call sends the call to the backend, with the credentials of whoever it is
// made for. It waits for its turn, and for a pause that the backend has asked
// for, at most until ctx ends.
func (c *Caller) Call(ctx context.Context, backend string, call dedup.Call, as Credentials) CallResult {
	return c.named(ctx, backend, call, as, "")
}

// Pace waits for a turn of the backend, as a call of ours has to, for somebody
// who sends by another way; at most until ctx ends. A backend without an outlet
// has no pace.
func (c *Caller) Pace(ctx context.Context, backend string) error {
	r := (*c.roads.Load())[backend]
	if r == nil {
		return nil
	}
	if err := r.turn(ctx); err != nil {
		return fmt.Errorf("turn at %s: %w", backend, err)
	}
	r.done() // what is sent may need calls of its own
	return nil
}

// named is Call; the entry of the proxy's access log has the id, if there is one.
func (c *Caller) named(ctx context.Context, backend string, call dedup.Call, as Credentials, id string) CallResult {
	r := (*c.roads.Load())[backend]
	if r == nil {
		// A proxy of ours takes requests a moment before its ways are known.
		return CallResult{Sent: CallNotSent, Later: true, Err: fmt.Errorf("call of %s: %w", backend, ErrNoOutlet)}
	}
	ctx, cancel := context.WithTimeout(ctx, r.outlet.Timeout)
	defer cancel()
	request, err := c.request(ctx, &r.outlet, call, as)
	if err != nil {
		return CallResult{Sent: CallNotSent, Err: fmt.Errorf("call of %s: %w", backend, err)}
	}
	if err := r.turn(ctx); err != nil {
		return CallResult{Sent: CallNotSent, Later: !errors.Is(err, errClosed), Err: fmt.Errorf("call of %s: %w", backend, err)}
	}
	defer r.done()
	if id != "" {
		request.Header.Set(callHeader, c.mark+";"+id)
	}
	result := c.exchange(request, r)
	if result.Err != nil {
		result.Err = fmt.Errorf("call of %s: %w", backend, withoutURL(result.Err))
	}
	c.log.Debug("outside call", "backend", backend, "method", call.Method, "status", result.Answer.Status, "sent", result.Sent, "error", result.Err)
	return result
}

// withoutURL: the URL of an error may hold what is nobody's to log.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

func (c *Caller) request(ctx context.Context, o *Outlet, call dedup.Call, as Credentials) (*http.Request, error) {
	if !strings.HasPrefix(call.Path, "/") {
		return nil, errors.New("its path does not begin with a slash")
	}
	var body io.Reader
	if call.Body != nil {
		body = bytes.NewReader(call.Body)
	}
	request, err := http.NewRequestWithContext(ctx, call.Method, strings.TrimRight(o.Via, "/")+as.target(call.Path), body)
	if err != nil {
		return nil, withoutURL(err)
	}
	if o.Host != "" {
		request.Host = o.Host
	}
	for _, f := range call.Header {
		request.Header.Add(f.Name, f.Value)
	}
	setDefault(request.Header, "User-Agent", "oneticket")
	setDefault(request.Header, "Accept-Encoding", "gzip")
	as.put(request.Header)
	request.Header.Set(callHeader, c.mark)
	return request, nil
}

func setDefault(header http.Header, name, value string) {
	if _, given := header[name]; !given {
		header.Set(name, value)
	}
}

// Mark is the header by which a Server with this Caller knows a request of this
// process. It is a secret.
func (c *Caller) Mark() dedup.HeaderField { return dedup.HeaderField{Name: callHeader, Value: c.mark} }

// exchange sends the request and reads the answer.
func (c *Caller) exchange(request *http.Request, r *road) CallResult {
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	request = request.WithContext(httptrace.WithClientTrace(request.Context(), trace))
	response, err := c.client.Do(request)
	if err != nil {
		if connected.Load() {
			return CallResult{Sent: CallUnknown, Err: err}
		}
		return CallResult{Sent: CallNotSent, Later: true, Err: err}
	}
	defer response.Body.Close()
	r.heed(response.StatusCode, response.Header.Get("retry-after"))
	answer, plain, err := answerOf(response, r.outlet.MaxAnswer)
	result := CallResult{Answer: answer, Plain: plain, Sent: CallAnswered}
	switch {
	case err != nil:
		result.Sent, result.Err = CallUnknown, err
	case response.StatusCode == http.StatusTooManyRequests:
		result.Sent, result.Later = CallNotSent, true
	}
	return result
}
