package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"google.golang.org/grpc"

	"oneticket/cmd/oneticket/admin"
	"oneticket/dedup"
	"oneticket/extproc"
	"oneticket/extproc/envoy"
)

// newFilter makes the processor of the proxy's stream.
func newFilter(p *process, engine *dedup.Engine, book *ruleBook, px proxy, calls *extproc.Caller, letters *letterBox, m *admin.Metrics, log *slog.Logger) *extproc.Server {
	shoutKeyless(m, log)
	return extproc.New(extproc.Options{
		Decider:  engine,
		Rules:    &book.current,
		Metrics:  m,
		Log:      log,
		By:       p.name,
		Patience: px.patience,
		Calls:    calls,
		Letters:  letters,

		PrincipalTTL: p.config.Principals.TTL,
	})
}

// A socket is the gRPC server that the proxy reaches the filter by.
type socket struct {
	place    string // for a person
	listener net.Listener
	grpc     *grpc.Server
	filter   *extproc.Server
	drain    time.Duration
}

func newSocket(p *process, spec envoy.Spec, px proxy, filter *extproc.Server, control *envoy.Control) (*socket, error) {
	listen, drain := ownSocket(spec.Socket), drainFilter
	if p.serves {
		listen, drain = settingSocket(p.config, spec.Socket), drainAlone
	}
	l, err := listen(p.log)
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	server := grpc.NewServer(append(extproc.ServerOptions(px.bufferLimit), l.options...)...)
	filter.Register(server)
	if control != nil {
		control.Register(server)
	}
	return &socket{place: l.place, listener: l.Listener, grpc: server, filter: filter, drain: drain}, nil
}

func (s *socket) serve() error { return s.grpc.Serve(s.listener) }

// How long creates that are under way may still be settled: when the proxy is
// gone already, and when it is somebody else's and goes on. That one gets no
// answer to new creates meanwhile, and takes them to the next replica or by its
// failure mode.
const (
	drainFilter = 5 * time.Second
	drainAlone  = 25 * time.Second
)

// stop settles what is under way, or leaves it in doubt, and ends the server.
func (s *socket) stop(ctx context.Context) error {
	draining, cancel := context.WithTimeout(ctx, s.drain)
	defer cancel()
	s.filter.Drain(draining)
	s.grpc.Stop()
	return nil
}
