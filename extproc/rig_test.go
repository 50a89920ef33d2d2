package extproc_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
	"oneticket/extproc"
)

// A rig is a server on the real engine over the reference store, and a gRPC
// client in Envoy's place.
type rig struct {
	t      *testing.T
	rule   *extproc.Rule
	rules  *atomic.Pointer[extproc.Rules]
	store  *storetest.Memory
	engine *dedup.Engine
	server *extproc.Server
	count  *counts
	log    *logged
	client extprocv3.ExternalProcessorClient
	conn   *grpc.ClientConn
}

// ruleOf is a rule as the preset of a ticket system without native idempotency
// has it.
func ruleOf() *extproc.Rule {
	policy := &dedup.Policy{
		TTL: time.Hour, MaxAge: 24 * time.Hour, Remember: 24 * time.Hour,
		Settle: 15 * time.Second, Lease: 70 * time.Second,
	}
	return &extproc.Rule{
		Name: "faults", Backend: "snow", Action: extproc.Enforce,
		Match: func(r *dedup.Request) bool {
			return r.Method == "POST" && r.Path == "/api/now/table/incident"
		},
		Fault:       faultOf,
		Judge:       judge,
		Policy:      func(string) *dedup.Policy { return policy },
		TokenHeader: "idempotency-key",
		TokenField:  []string{"correlation_id"},
		Wait:        20 * time.Second, Timeout: 60 * time.Second,
		MaxBody: 1 << 20, MaxAnswer: 1 << 10,
	}
}

func faultOf(r *dedup.Request) (dedup.Fault, error) {
	if kind, ok := dedup.TextOf(r.Body.Member("kind").Literal); ok && kind == "comment" {
		return dedup.Fault{}, dedup.ErrNoMatch
	}
	var fields []dedup.Field
	for _, name := range []string{"cmdb_ci", "u_check"} {
		v := r.Body.Member(name)
		if v.Kind != dedup.StringValue && v.Kind != dedup.NumberValue {
			return dedup.Fault{}, &dedup.Unkeyed{Why: dedup.WhyMissing, Field: name}
		}
		fields = append(fields, dedup.Field{Name: name, Value: v.Literal})
	}
	identity := dedup.Canonical(fields)
	token, _ := r.HeaderValue("idempotency-key")
	severity := r.Body.Member("impact").Literal
	if severity == "" {
		severity = dedup.NoSeverity
	}
	return dedup.Fault{
		Ref: dedup.Ref{Rule: "faults", Scope: r.Host, Key: dedup.KeyOf(identity)}, Backend: "snow",
		Identity: identity, Fingerprint: dedup.Fingerprint{Severity: severity}, ClientToken: token,
	}, nil
}

func judge(_ *dedup.Request, a *dedup.Answer) dedup.Judgement {
	id := a.Body.Member("result").Member("sys_id").Literal
	for _, f := range a.Header {
		if id == "" && f.Name == "location" {
			id = f.Value[strings.LastIndexByte(f.Value, '/')+1:]
		}
	}
	switch {
	case a.Status == 201 && id != "":
		return dedup.Judgement{Says: dedup.SaysCreated, Ticket: dedup.Ticket{ID: id}}
	case a.Status == 201 && strings.Contains(string(a.Raw), "mandatory field missing"):
		return dedup.Judgement{Says: dedup.SaysRefused}
	default:
		return dedup.Judgement{Says: dedup.SaysUnclear}
	}
}

// newRig starts a server; change may change what it is made of.
func newRig(t *testing.T, change func(*rig, *extproc.Options)) *rig {
	t.Helper()
	r := &rig{t: t, rule: ruleOf(), store: storetest.NewMemory(time.Now), count: &counts{n: map[string]int{}}, log: &logged{}}
	r.engine = dedup.NewEngine(dedup.EngineOptions{Store: r.store, Poll: 5 * time.Millisecond})
	o := extproc.Options{
		Decider: r.engine, Metrics: r.count, Log: slog.New(r.log),
		Patience: extproc.Patience{Message: 30 * time.Second},
		// A race detector on a busy machine is slow; the budget is tested by itself.
		Budget: time.Minute,
	}
	if change != nil {
		change(r, &o)
	}
	if o.Rules == nil {
		o.Rules = &atomic.Pointer[extproc.Rules]{}
		o.Rules.Store(&extproc.Rules{
			Config: "c1", Rules: []*extproc.Rule{r.rule}, Hosts: map[string]string{"snow": "snow.example.test"},
		})
	}
	r.rules = o.Rules
	r.server = extproc.New(o)
	r.serve()
	return r
}

func (r *rig) serve() {
	listener := bufconn.Listen(1 << 20)
	g := grpc.NewServer(extproc.ServerOptions(8 << 20)...)
	r.server.Register(g)
	served := make(chan error, 1)
	go func() { served <- g.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///rig",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		r.t.Fatal(err)
	}
	r.client, r.conn = extprocv3.NewExternalProcessorClient(conn), conn
	r.t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			r.t.Error(err)
		}
		g.Stop()
		if err := <-served; err != nil {
			r.t.Error(err)
		}
		ending, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		r.server.Drain(ending)
		r.engine.Close()
	})
}

// record is the one that the store has for the fault of createBody.
func (r *rig) record(body string) dedup.Record {
	r.t.Helper()
	v, err := dedup.ReadJSON([]byte(body), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	fault, err := faultOf(&dedup.Request{Host: "snow.example.test", Body: v})
	if err != nil {
		r.t.Fatal(err)
	}
	found, err := r.store.Get(context.Background(), fault.Ref)
	if err != nil {
		r.t.Fatal(err)
	}
	return found.Record
}

// eventually polls until the record is in the state.
func (r *rig) eventually(body string, state dedup.State) dedup.Record {
	r.t.Helper()
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		rec := r.record(body)
		if rec.State == state {
			return rec
		}
		if time.Now().After(until) {
			r.t.Fatalf("the record is %s, want %s", rec.State, state)
		}
	}
}

// A proxy is Envoy's end of one stream.
type proxy struct {
	t      *testing.T
	stream extprocv3.ExternalProcessor_ProcessClient
	gone   context.CancelFunc
}

func (r *rig) proxy() *proxy {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	r.t.Cleanup(cancel)
	stream, err := r.client.Process(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	return &proxy{r.t, stream, cancel}
}

func (p *proxy) send(m *extprocv3.ProcessingRequest) {
	p.t.Helper()
	if err := p.stream.Send(m); err != nil {
		p.t.Fatal(err)
	}
}

func (p *proxy) receive() *extprocv3.ProcessingResponse {
	p.t.Helper()
	m, err := p.stream.Recv()
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

func (p *proxy) ask(m *extprocv3.ProcessingRequest) *extprocv3.ProcessingResponse {
	p.t.Helper()
	p.send(m)
	return p.receive()
}

// create sends a whole request and returns what its body is answered with.
func (p *proxy) create(body string, header ...string) *extprocv3.ProcessingResponse {
	p.t.Helper()
	if m := p.ask(requestHeaders(header...)); m.GetRequestHeaders() == nil || m.GetModeOverride() != nil {
		p.t.Fatalf("the request's headers were answered with %v", m)
	}
	return p.ask(requestBody(body))
}

// answer sends a whole answer and returns the two replies.
func (p *proxy) answer(status, body string, header ...string) (head, rest *extprocv3.ProcessingResponse) {
	p.t.Helper()
	head = p.ask(responseHeaders(status, false, header...))
	return head, p.ask(responseBody(body))
}

const createBody = `{"cmdb_ci":"db-07","u_check":"ping","impact":"2"}`
const created1 = `{"result":{"sys_id":"0001","number":"INC0000001"}}`

var bearer = []string{"authorization", "Basic Ym90OnMzY3JldA==", "content-type", "application/json"}

// counts are Metrics.
type counts struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counts) add(n int, what ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[strings.Join(what, " ")] += n
}

func (c *counts) of(what ...string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[strings.Join(what, " ")]
}

func (c *counts) Decision(rule string, kind dedup.Kind, reason string, _ time.Duration) {
	c.add(1, "decision", rule, string(kind), reason)
}
func (c *counts) Outcome(rule string, kind dedup.OutcomeKind) {
	c.add(1, "outcome", rule, string(kind))
}
func (c *counts) Unkeyed(rule, why string)   { c.add(1, "unkeyed", rule, why) }
func (c *counts) Conflict(rule, kind string) { c.add(1, "conflict", rule, kind) }
func (c *counts) Waiting(n int)              { c.add(n, "waiting") }
func (c *counts) Corrected(rule string, kind dedup.OutcomeKind) {
	c.add(1, "corrected", rule, string(kind))
}

func (c *counts) LookedUp(backend, result string) { c.add(1, "looked up", backend, result) }
func (c *counts) Verified(backend, result string) { c.add(1, "verified", backend, result) }
func (c *counts) Healed(rule string)              { c.add(1, "healed", rule) }
func (c *counts) Resent(rule string, o dedup.OutcomeKind) {
	c.add(1, "resent", rule, string(o))
}
func (c *counts) NotFollowed(rule string) { c.add(1, "not followed", rule) }
func (c *counts) DeadLetter(rule string, kept bool) {
	c.add(1, "letter", rule, fmt.Sprint(kept))
}
func (c *counts) UpdateFailed(rule string) { c.add(1, "update failed", rule) }

// logged keeps the log.
type logged struct {
	mu    sync.Mutex
	lines []slog.Record
}

func (l *logged) Enabled(context.Context, slog.Level) bool { return true }
func (l *logged) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, r)
	return nil
}
func (l *logged) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *logged) WithGroup(string) slog.Handler      { return l }

// text is every line of at least the level.
func (l *logged) text(least slog.Level) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	for _, r := range l.lines {
		if r.Level < least {
			continue
		}
		b.WriteString(r.Level.String() + " " + r.Message)
		r.Attrs(func(a slog.Attr) bool {
			b.WriteString(" " + a.String())
			return true
		})
		b.WriteByte('\n')
	}
	return b.String()
}
