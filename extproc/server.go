package extproc

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"

	"oneticket/dedup"
	"oneticket/extproc/body"
)

// A Decider says what is to be done with a request: the engine of dedup. It
// calls Claim.OnWait on the goroutine that called Decide.
type Decider interface {
	Decide(context.Context, dedup.Claim) (dedup.Verdict, error)
}

// Options are what a Server is made of. Decider and Rules are required.
type Options struct {
	Decider  Decider
	Rules    *atomic.Pointer[Rules] // swapped as a whole; an exchange ends under the rules it began with
	Metrics  Metrics
	Log      *slog.Logger
	Now      func() time.Time
	By       string        // name of the replica, for the trail of a record
	Patience Patience      // of the proxy
	Settle   time.Duration // how long the answer of a create may be held back until its outcome is written; default 2 s
	LastWord time.Duration // how long a create whose stream ended early waits for the proxy's access log; default 1 s
	Calls    *Caller       // makes outside calls, which pass the filter by; nil: none are made
	Letters  Letters       // keeps the creates that have not become a ticket; nil: nobody does
	// PrincipalTTL is principals.ttl: how long an accepted credential is
	// believed; default 1 h.
	PrincipalTTL time.Duration
	Budget       time.Duration // of decoding one request's body; default 50 ms
}

// A Server is Envoy's external processor. It is safe for concurrent use.
type Server struct {
	extprocv3.UnimplementedExternalProcessorServer
	o        Options
	caller   callerKey
	health   *health.Server
	degraded degraded
	waiting  atomic.Int64

	accessLog  accessLog
	principals principals
	count      counting
	flights    flights
	follows    follows
	puts       chan struct{} // one for each letter that is being written
	seen       *sightings
	shown      accepted // tickets that a read has shown to be closed, by backend and id

	mu       sync.Mutex
	draining bool
	running  int
	idle     chan struct{} // closed when draining and nothing runs
	cut      chan struct{} // closed when what still runs is to end
}

// New returns a Server.
func New(o Options) *Server {
	if o.Metrics == nil {
		o.Metrics = noMetrics{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Settle <= 0 {
		o.Settle = 2 * time.Second
	}
	if o.LastWord <= 0 {
		o.LastWord = time.Second
	}
	if o.PrincipalTTL <= 0 {
		o.PrincipalTTL = time.Hour
	}
	s := &Server{o: o, caller: newCallerKey(), health: health.NewServer(), idle: make(chan struct{}), cut: make(chan struct{}), puts: make(chan struct{}, mostPuts)}
	s.accessLog.server = s
	s.count = countingOf(o.Metrics)
	s.seen = newSightings(o.Now())
	s.principals.use(o)
	return s
}

// Register puts the processor, the access-log service and a health service on
// the gRPC server.
func (s *Server) Register(g *grpc.Server) {
	extprocv3.RegisterExternalProcessorServer(g, s)
	accesslogv3.RegisterAccessLogServiceServer(g, &s.accessLog)
	healthv1.RegisterHealthServer(g, s.health)
	s.health.SetServingStatus(extprocv3.ExternalProcessor_ServiceDesc.ServiceName, healthv1.HealthCheckResponse_SERVING)
}

// messageSlack is what a message may have beside a body: headers, attributes
// and frames.
const messageSlack = 4 << 20

// ServerOptions are those of a gRPC server for a proxy that buffers bodies of
// at most so many bytes.
func ServerOptions(largest int64) []grpc.ServerOption {
	return []grpc.ServerOption{
		lenientCodec(),
		grpc.MaxRecvMsgSize(int(largest) + messageSlack),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: time.Minute, Timeout: 20 * time.Second}),
	}
}

// Degraded says, in sentences, why requests that match a rule are not guarded
// although everything runs. It is empty when all is well.
func (s *Server) Degraded() []string { return s.degraded.list(s.o.Now()) }

// Waiting is how many requests wait for another one.
func (s *Server) Waiting() int { return int(s.waiting.Load()) }

// Drain lets no new exchange begin and waits for those that run, until ctx is
// over; the creates that are under way then are in doubt. New streams are told
// that the server is unavailable, so that the proxy tries the next one. What
// goes on beside the exchanges ends with them, and what it holds is let go.
func (s *Server) Drain(ctx context.Context) {
	s.health.Shutdown()
	s.follows.stop()
	s.drain(ctx)
	s.follows.wait(ctx)
	s.waitForPuts(ctx)
}

func (s *Server) drain(ctx context.Context) {
	s.mu.Lock()
	if !s.draining {
		s.draining = true
		if s.running == 0 {
			close(s.idle)
		}
	}
	s.mu.Unlock()
	select {
	case <-s.idle:
		return
	case <-ctx.Done():
	}
	s.mu.Lock()
	select {
	case <-s.cut:
	default:
		close(s.cut)
	}
	s.mu.Unlock()
	<-s.idle // a settle is bounded by Options.Settle
}

// begin counts a stream in; false when the server drains.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	s.running++
	return true
}

func (s *Server) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running--; s.running == 0 && s.draining {
		close(s.idle)
	}
}

// defaultMaxWaiters is in_flight.max_waiters where a rule says nothing.
const defaultMaxWaiters = 4096

// enterWait counts a waiter in; false when there are too many.
func (s *Server) enterWait(r *Rule) bool {
	limit := int64(r.MaxWaiters)
	if limit <= 0 {
		limit = defaultMaxWaiters
	}
	s.o.Metrics.Waiting(1)
	return s.waiting.Add(1) <= limit
}

func (s *Server) leaveWait() {
	s.waiting.Add(-1)
	s.o.Metrics.Waiting(-1)
}

func (s *Server) limits(r *Rule) body.Limits {
	return body.Limits{Size: r.maxBody(), Budget: s.o.Budget}
}

// settling outlives the stream, but not for long.
func (s *Server) settling(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), s.o.Settle)
}

// logDecision says of a rule that only observes that it does: what it decides
// happens to nobody.
func (s *Server) logDecision(n note, action Action) {
	level := slog.LevelDebug
	if n.kind == dedup.Create || n.kind == dedup.Update {
		level = slog.LevelInfo
	}
	if !s.o.Log.Enabled(context.Background(), level) { // a re-fire makes no arguments for nothing
		return
	}
	fields := []any{"rule", n.rule, "reason", n.reason, "key", n.key}
	if action == Observe {
		fields = append(fields, "action", action)
	}
	s.o.Log.Log(context.Background(), level, string(n.kind), fields...)
}

func (s *Server) logOutcome(n note, o dedup.Outcome, e Ending) {
	level := slog.LevelInfo
	if o.Kind != dedup.OutcomeCreated && o.Kind != dedup.OutcomeRefused {
		level = slog.LevelWarn
	}
	s.o.Log.Log(context.Background(), level, "outcome", "rule", n.rule, "key", n.key, "outcome", o.Kind,
		"ticket", o.Ticket.ID, "status", e.Status, "details", e.Details, "attempts", e.Attempts)
}
