package extproc

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"oneticket/dedup"
)

// An accessLog takes the proxy's access log, which has the last word on
// exchanges that ended where the stream could not see it.
type accessLog struct {
	accesslogv3.UnimplementedAccessLogServiceServer
	server *Server
	book   followedBook

	mu      sync.Mutex
	streams map[string]int // open ones, by the host of the proxy
}

// StreamAccessLogs takes entries until the proxy or the server ends.
func (l *accessLog) StreamAccessLogs(stream accesslogv3.AccessLogService_StreamAccessLogsServer) error {
	host := peerHost(stream.Context())
	l.opened(host, 1)
	defer l.opened(host, -1)
	ended := make(chan error, 1)
	go func() { ended <- l.read(stream) }()
	select {
	case err := <-ended:
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(&accesslogv3.StreamAccessLogsResponse{})
		}
		return err
	case <-l.server.idle: // the last exchange has ended, and with it what an entry can tell
		return status.Error(codes.Unavailable, "draining")
	}
}

func (l *accessLog) read(stream accesslogv3.AccessLogService_StreamAccessLogsServer) error {
	var corrections sync.WaitGroup
	defer corrections.Wait()
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		for _, line := range m.GetHttpLogs().GetLogEntry() {
			e, ok := entryOf(line)
			if !ok {
				continue
			}
			if correct := l.book.take(e, e.lastWord(), l.server.o.Now()); correct != nil {
				corrections.Go(correct)
			}
		}
	}
}

func (l *accessLog) opened(host string, change int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.streams == nil {
		l.streams = map[string]int{}
	}
	if l.streams[host] += change; l.streams[host] == 0 {
		delete(l.streams, host)
	}
}

// connected reports whether the proxy on the host sends its access log; without
// a host, whether any does.
func (l *accessLog) connected(host string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.streams[host] > 0 || host == "" && len(l.streams) > 0
}

// await is what the entry says that is looked for. Where it is expected it is
// waited for, but not for long.
func (l *accessLog) await(f *followed, expected bool) word {
	if expected {
		timer := time.NewTimer(l.server.o.LastWord)
		defer timer.Stop()
		select {
		case <-f.came:
		case <-timer.C:
		case <-l.server.cut:
		}
	}
	return l.book.wordOf(f)
}

// peerHost is where the other end of a stream is; several proxies may use one
// server, and some may send no access log.
func peerHost(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok || p.Addr == nil {
		return ""
	}
	if host, _, err := net.SplitHostPort(p.Addr.String()); err == nil {
		return host
	}
	return p.Addr.Network()
}

// follow makes the access log's entry of this exchange one that is looked for.
func (x *exchange) follow() {
	x.followed = x.server.accessLog.book.follow(x.exchange, x.head.value("x-request-id"), x.asked.text("request.time"))
}

// lastWord is the outcome of a create whose stream has ended without one: in
// doubt, unless the access log says that nothing was sent. It is waited for,
// but not for long, and only where it can be expected.
func (x *exchange) lastWord() dedup.OutcomeKind {
	f := x.followed
	if f == nil {
		return dedup.OutcomeUnknown
	}
	log := &x.server.accessLog
	if log.await(f, log.connected(x.peer)) == neverSent {
		return dedup.OutcomeNeverSent
	}
	return dedup.OutcomeUnknown
}

// unfollow ends the interest in the entry of an exchange with this outcome:
// one in doubt may still be corrected.
func (x *exchange) unfollow(hold *dedup.Hold, kind dedup.OutcomeKind) {
	var corrections []func()
	if kind == dedup.OutcomeUnknown {
		corrections = append(corrections, x.correction(hold))
	}
	x.unfollowAll(corrections)
}

// unfollowAll is unfollow for the creates of one request that are in doubt.
func (x *exchange) unfollowAll(corrections []func()) {
	f, book := x.followed, &x.server.accessLog.book
	x.followed = nil
	switch {
	case f == nil:
		return
	case len(corrections) == 0:
		book.forget(f)
		return
	}
	correct := func() {
		for _, one := range corrections {
			one()
		}
	}
	if book.later(f, correct, x.server.o.Now()) {
		correct()
	}
}

// correction is what is done when the access log says of a create in doubt that
// nothing was sent.
func (x *exchange) correction(hold *dedup.Hold) func() {
	s, rule, following := x.server, x.rule, x.following
	return func() {
		following.announce()
		defer following.neverSent()
		ctx, cancel := s.settling(context.Background())
		defer cancel()
		if err := hold.Correct(ctx, dedup.OutcomeNeverSent); err != nil {
			s.o.Log.Warn("an outcome could not be corrected", "rule", rule.Name, "key", hold.Key(), "error", err)
			return
		}
		s.o.Log.Info("outcome", "rule", rule.Name, "key", hold.Key(), "outcome", dedup.OutcomeNeverSent, "by", "access log")
		if m, ok := s.o.Metrics.(CorrectionMetrics); ok {
			m.Corrected(rule.Name, dedup.OutcomeNeverSent)
		}
	}
}

// CorrectionMetrics is what a Metrics may have beside: an outcome that was
// counted as unknown is known now.
type CorrectionMetrics interface {
	Corrected(rule string, kind dedup.OutcomeKind)
}
