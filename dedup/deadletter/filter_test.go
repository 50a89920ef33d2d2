package deadletter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/deadletter"
	"oneticket/dedup/storetest"
)

// A desk is a ticket system. answers are what it says to the creates that
// come; when they are used up it makes tickets.
type desk struct {
	mu      sync.Mutex
	answers []int // a status; 0 = the connection is refused, 504 = a ticket is not made and nobody says so
	seen    []*http.Request
	bodies  []string
	tickets int
}

func (d *desk) take(r *http.Request, body []byte) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	status := 201
	if len(d.answers) > 0 {
		status, d.answers = d.answers[0], d.answers[1:]
	}
	if status == 0 {
		return 0
	}
	if d.seen, d.bodies = append(d.seen, r), append(d.bodies, string(body)); status == 201 {
		d.tickets++
	}
	return status
}

// A filter is the part of the stream that a replay meets, over the real
// engine: what doc.go asks of it, and what puts letters and takes them out.
type filter struct {
	t      testing.TB
	store  dedup.Store
	engine *dedup.Engine
	box    *deadletter.Box
	desk   *desk
	asleep bool // the proxy lets requests pass
}

const markName, markValue = "oneticket-outside", "5ec7e7"

var policy = &dedup.Policy{TTL: time.Hour, Remember: 24 * time.Hour, Settle: 5 * time.Second, Lease: time.Minute}

func newFilter(t testing.TB) *filter {
	f := &filter{t: t, store: storetest.NewMemory(time.Now), desk: &desk{}}
	f.engine = dedup.NewEngine(dedup.EngineOptions{Store: f.store})
	f.box = open(t, deadletter.Options{})
	return f
}

func (f *filter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		f.t.Error(err)
	}
	episode, id, replay := deadletter.ParseReplayMark(r.Header.Get(deadletter.ReplayHeader))
	replay = replay && r.Header.Get(markName) == markValue
	r.Header.Del(deadletter.ReplayHeader)
	r.Header.Del(markName)
	if f.asleep {
		w.WriteHeader(f.desk.take(r, body))
		return
	}
	ref := refOf(body)
	if replay && !f.alive(r.Context(), ref, episode, id) {
		f.answer(w, 409, "pass")
		return
	}
	claim := dedup.Claim{
		Fault: dedup.Fault{Ref: ref, Backend: "servicenow"}, Policy: policy, Wait: time.Second, Exchange: time.Second,
	}
	v, err := f.engine.Decide(r.Context(), claim)
	switch {
	case err != nil:
		f.t.Error(err)
	case v.Kind == dedup.Busy:
		w.Header().Set("Retry-After", fmt.Sprint(int(v.RetryAfter.Seconds())))
		f.answer(w, 503, "busy")
	case v.Kind != dedup.Create:
		f.answer(w, 201, "suppress")
	case replay && v.Record.Episode != episode:
		if err := v.Hold.Release(r.Context()); err != nil {
			f.t.Error(err)
		}
		f.answer(w, 409, "pass")
	default:
		f.create(w, r, body, ref, v)
	}
}

func refOf(body []byte) dedup.Ref {
	var fault struct {
		CI string `json:"cmdb_ci"`
	}
	_ = json.Unmarshal(body, &fault) // then all such bodies have one key
	return dedup.Ref{Rule: "network_faults", Scope: "desk", Key: dedup.KeyOf("ci=" + fault.CI)}
}

func (f *filter) answer(w http.ResponseWriter, status int, decision string) {
	w.Header().Set("Oneticket-Decision", decision)
	w.WriteHeader(status)
}

func (f *filter) alive(ctx context.Context, ref dedup.Ref, episode int64, id string) bool {
	l, err := f.box.Get(ctx, id)
	if err != nil || l.Ref != ref {
		return false
	}
	found, err := f.store.Get(ctx, ref)
	if err != nil {
		f.t.Error(err)
	}
	standing := deadletter.StandingOf(found, episode, l.Doubt)
	return standing == deadletter.Alive || standing == deadletter.Running
}

// create lets the create go and settles it; without a ticket it becomes a
// letter.
func (f *filter) create(w http.ResponseWriter, r *http.Request, body []byte, ref dedup.Ref, v dedup.Verdict) {
	v.Hold.MarkSent()
	status := f.desk.take(r, body)
	outcome := dedup.Outcome{Kind: dedup.OutcomeUnknown}
	l := deadletter.Letter{Ref: ref, Backend: "servicenow", Episode: v.Record.Episode, Token: v.Record.Token,
		Why: deadletter.Unknown, Status: status, Method: r.Method, Path: r.URL.RequestURI(), Body: body}
	switch status {
	case 0:
		outcome.Kind, l.Why, status = dedup.OutcomeNeverSent, deadletter.NeverSent, 503
	case 201:
		outcome.Kind = dedup.OutcomeCreated
		outcome.Ticket = dedup.Ticket{ID: fmt.Sprintf("INC%d", f.desk.tickets)}
		outcome.Response = &dedup.Response{Status: 201}
	case 429:
		outcome.Kind, l.Why = dedup.OutcomeRefused, deadletter.Refused
	}
	if _, err := v.Hold.Settle(context.WithoutCancel(r.Context()), outcome); err != nil {
		f.t.Error(err)
	}
	if outcome.Kind != dedup.OutcomeCreated {
		for name, values := range r.Header {
			l.Header = append(l.Header, dedup.HeaderField{Name: name, Value: values[0]})
		}
		if _, err := f.box.Put(r.Context(), deadletter.Clean(l, nil, deadletter.Secrets{Body: []string{"routing_key"}})); err != nil {
			f.t.Error(err)
		}
	}
	f.answer(w, status, "create")
}

// clientBody is what the automation sends.
const clientBody = `{"cmdb_ci":"core-7","routing_key":"hunter2"}`

// post is the automation: it sends, and does not try again.
func (f *filter) post() int {
	r := httptest.NewRequest("POST", "/api/incident?api_key=hunter2", bytes.NewReader([]byte(clientBody)))
	r.Header.Set("Authorization", "Basic hunter2")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "nagios/4")
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w.Code
}

// RoundTrip makes the filter reachable without a network, for tests whose
// clock is not the real one.
func (f *filter) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w.Result(), nil
}

func (f *filter) sender() *deadletter.HTTPSender {
	return &deadletter.HTTPSender{
		Client:   &http.Client{Transport: f},
		Listener: func(string) (string, error) { return "http://127.0.0.1:8081", nil },
		Credentials: func(string) map[string]string {
			return map[string]string{"Authorization": "Basic ours", "body.routing_key": `our "key"`}
		},
		Marks: []dedup.HeaderField{{Name: markName, Value: markValue}},
	}
}

func (f *filter) replayer() *deadletter.Replayer {
	return &deadletter.Replayer{Box: f.box, Records: f.store, Sender: f.sender(), Log: slog.New(slog.DiscardHandler)}
}
