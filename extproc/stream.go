package extproc

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
	"time"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Process answers one stream, which is one HTTP exchange: one answer for every
// message, and beside it at most one wish for more time in a phase. It returns
// without an error only after the proxy has ended the stream, because the
// proxy takes a clean end of ours for leave to go on without us.
func (s *Server) Process(stream extprocv3.ExternalProcessor_ProcessServer) (err error) {
	if !s.begin() {
		return status.Error(codes.Unavailable, "draining")
	}
	defer s.finish()
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	answers := &answers{stream: stream}
	x := &exchange{server: s, rules: s.o.Rules.Load(), peer: peerHost(ctx), ask: answers.ask}
	defer s.close(ctx, x, &err)

	over := make(chan struct{})
	defer close(over)
	messages := receive(stream, cancel, over)
	for {
		select {
		case m := <-messages:
			if errors.Is(m.err, io.EOF) {
				return nil
			}
			if m.err != nil {
				return m.err
			}
			if err := answers.to(ctx, x, m.request); err != nil {
				return err
			}
		case <-s.cut:
			return status.Error(codes.Unavailable, "draining")
		}
	}
}

// answers is the one sender of a stream.
type answers struct {
	stream extprocv3.ExternalProcessor_ProcessServer
	phase  phase // of the message that is being answered
	asked  [responseTrailers + 1]bool
	err    error // of a wish for more time
}

// to answers one message.
func (a *answers) to(ctx context.Context, x *exchange, m *extprocv3.ProcessingRequest) error {
	e, ok := eventOf(m)
	if !ok {
		return status.Error(codes.InvalidArgument, "a message of no phase")
	}
	a.phase = e.phase
	r := x.on(ctx, e)
	r.note.exchange = x.exchange
	err := a.err
	if err == nil {
		err = a.stream.Send(messageOf(e.phase, r))
	}
	x.delivered(err)
	return err
}

// ask wishes for more time; the proxy grants one wish in a phase.
func (a *answers) ask(d time.Duration) {
	if a.asked[a.phase] {
		return
	}
	a.asked[a.phase] = true
	a.err = a.stream.Send(moreTime(d))
}

// close settles what the exchange leaves open, also after a panic, which
// becomes the stream's error: the proxy's failure mode decides.
func (s *Server) close(ctx context.Context, x *exchange, err *error) {
	internal := func(p any) {
		s.o.Log.Error("panic in an exchange", "panic", p, "rule", x.note.rule, "key", x.note.key, "stack", string(debug.Stack()))
		*err = status.Error(codes.Internal, "internal error")
	}
	if p := recover(); p != nil {
		internal(p)
	}
	defer func() {
		if p := recover(); p != nil {
			internal(p)
		}
	}()
	x.end(ctx)
}

// A received is one message, or the error that ends the stream.
type received struct {
	request *extprocv3.ProcessingRequest
	err     error
}

// receive reads the stream beside the exchange, so that a client that goes is
// noticed while the exchange waits: gone is called as soon as the stream ends.
func receive(stream extprocv3.ExternalProcessor_ProcessServer, gone func(), over <-chan struct{}) <-chan received {
	out := make(chan received)
	go func() {
		for {
			m, err := stream.Recv()
			if err != nil {
				gone()
			}
			select {
			case out <- received{m, err}:
			case <-over:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}
