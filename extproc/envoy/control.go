package envoy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/log"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/config"
	"github.com/envoyproxy/go-control-plane/pkg/server/sotw/v3"
	"google.golang.org/grpc"
)

// A Control tells running Envoys what their configuration is, by xDS: those
// that were started with DynamicBootstrap. It is safe for concurrent use.
//
// An update drops no request. Clusters come before what names them, and go
// after it. A change of a backend's methods or retries touches its routes
// alone; a change of a listener keeps its socket, also one of port 0, which
// stays what it was; connections that are open are served under the old
// configuration until they end, at most for Options.DrainTime.
type Control struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
	log    *slog.Logger
	board  *board
	server sotw.Server

	setting sync.Mutex // held by the one Set that runs

	mu       sync.Mutex
	peers    map[int64]*peer
	good     *snapshot     // what all peers took last, nil before
	rejected error         // of the last Set
	changed  chan struct{} // closed and made anew whenever one of these changes
}

// NewControl returns a Control that publishes nothing yet.
func NewControl(logger *slog.Logger) *Control {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	c := &Control{log: logger, board: newBoard(), peers: map[int64]*peer{}, changed: make(chan struct{})}
	c.server = sotw.NewServer(context.Background(), c.board, callbacks{c},
		sotw.WithOrderedADS(), func(o *config.Opts) { o.Logger = log.LoggerFuncs{} },
		// An Envoy whose listener came to nothing asks for no route, not for all.
		sotw.DeactivateLegacyWildcardForTypes([]string{resource.RouteType}))
	return c
}

// Register puts the discovery service on the gRPC server, which may be that of
// the filter. Envoy keeps one stream open for as long as it is connected:
// GracefulStop waits for it.
func (c *Control) Register(g *grpc.Server) {
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(g, c)
}

// StreamAggregatedResources serves one Envoy.
func (c *Control) StreamAggregatedResources(stream discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesServer) error {
	return c.server.StreamHandler(stream, resource.AnyType)
}

// setWithin bounds how long the Envoys may take for one Set.
const setWithin = 20 * time.Second

var errRejected = errors.New("envoy refused")

// Set publishes the configuration of spec and waits until every connected
// Envoy has taken it; with none connected it returns at once, and Wait and
// Status tell the rest. The error names the mistakes in spec, or says with
// Envoy's own words what it refused, or that it did not answer until ctx or 20
// seconds were over: then the last configuration that all had taken is back in
// force, whole. Of spec, Socket, Admin and MaxWaiters have no effect on an
// Envoy that runs.
func (c *Control) Set(ctx context.Context, spec Spec) error {
	next, err := snapshotOf(spec)
	if err != nil {
		return err
	}
	c.setting.Lock()
	defer c.setting.Unlock()
	ctx, cancel := context.WithTimeout(ctx, setWithin)
	defer cancel()
	for _, s := range c.way(next) {
		if err := c.put(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// way is the steps to next; one where nobody looks.
func (c *Control) way(next *snapshot) []*snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	// From a configuration that nobody has taken there is no gentle way.
	if now := c.board.current(); len(c.peers) > 0 && c.good != nil && c.good.equal(now) {
		return steps(now, next)
	}
	return []*snapshot{next}
}

// put publishes s and waits until all have it.
func (c *Control) put(ctx context.Context, s *snapshot) error {
	c.mu.Lock()
	c.board.publish(s, c.rejected != nil) // what was refused may be taken now: a port is free again
	c.rejected = nil
	c.mu.Unlock()
	err := c.until(ctx, func() bool { return c.all(s) })
	if err != nil && !errors.Is(err, errRejected) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.rejected = err
		c.restore()
	}
	return err
}

// Wait waits until at least one Envoy is connected, and every one that is has
// taken what was Set. The error is that of Set.
func (c *Control) Wait(ctx context.Context) error {
	return c.until(ctx, func() bool { return len(c.peers) > 0 && c.board.current() != nil && c.all(c.board.current()) })
}

// until waits for what holds under mu, or for a refusal.
func (c *Control) until(ctx context.Context, holds func() bool) error {
	for {
		c.mu.Lock()
		done, rejected, changed := holds(), c.rejected, c.changed
		c.mu.Unlock()
		switch {
		case rejected != nil:
			return rejected
		case done:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("envoy did not take its configuration: %w", context.Cause(ctx))
		}
	}
}

// all reports whether every connected Envoy has s.
func (c *Control) all(s *snapshot) bool {
	for _, p := range c.peers {
		if !p.has(s) {
			return false
		}
	}
	return true
}

// restore goes back to the last good configuration. Where there is none, what
// was published stays: the refusing Envoy keeps what it has and is sent
// nothing more, and a new one may do better.
func (c *Control) restore() {
	if c.good != nil && c.board.current() != c.good {
		c.board.publish(c.good, false)
	}
}

// A Status is what a Control knows of its Envoys.
type Status struct {
	Envoys   int    // that are connected
	Version  string // of what is published; empty before the first Set
	Taken    bool   // all of them have it
	Rejected error  // why the last Set is not in force; nil when it is
}

// Status is for reports of readiness.
func (c *Control) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.board.current()
	return Status{
		Envoys: len(c.peers), Version: now.version(), Rejected: c.rejected,
		Taken: len(c.peers) > 0 && now != nil && c.all(now),
	}
}

// callbacks are what the discovery server tells a Control.
type callbacks struct{ c *Control }

func (b callbacks) OnStreamOpen(_ context.Context, id int64, _ string) error {
	return b.c.update(func() { b.c.peers[id] = &peer{kinds: map[string]*progress{}} })
}

func (b callbacks) OnStreamClosed(id int64, _ *corev3.Node) {
	_ = b.c.update(func() { delete(b.c.peers, id) })
}

func (b callbacks) OnStreamRequest(id int64, r *discoveryv3.DiscoveryRequest) error {
	return b.c.update(func() {
		if p := b.c.peers[id]; p != nil {
			b.c.heard(p, r)
			// The server would pass over a request that does not answer its last
			// response. But Envoy drops a response that comes when it has just
			// unsubscribed, and never answers it. Reading each request is safe,
			// since the board sends nothing twice.
			r.ResponseNonce = p.of(r.GetTypeUrl()).nonce
		}
	})
}

func (b callbacks) OnStreamResponse(_ context.Context, id int64, to *discoveryv3.DiscoveryRequest, r *discoveryv3.DiscoveryResponse) {
	_ = b.c.update(func() {
		if p := b.c.peers[id]; p != nil {
			p.sends(r, to.GetResourceNames())
		}
	})
}

func (c *Control) update(change func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
	return nil
}

// heard takes what one Envoy says of what it was sent.
func (c *Control) heard(p *peer, r *discoveryv3.DiscoveryRequest) {
	refused, now := p.hears(r), c.board.current()
	if refused == "" {
		if now != nil && !now.step && c.all(now) {
			c.good = now
		}
		return
	}
	kind := kindNames[r.GetTypeUrl()]
	said := shorten([]string{r.GetErrorDetail().GetMessage()})
	c.log.Error("envoy refused its configuration", "kind", kind, "said", said)
	if now != nil && now != c.good && now.kinds[r.GetTypeUrl()].version == refused {
		c.rejected = fmt.Errorf("%w its %s: %s", errRejected, kind, said)
		c.restore()
	}
}
