package extproc

import (
	"context"
	"time"
)

// A stay is how long the proxy waits for our answer to one message. It can be
// made longer once: the proxy grants one wish in a phase.
type stay struct {
	ask    func(time.Duration)
	more   time.Duration // the timeout to wish for; 0: the proxy grants none
	until  time.Time     // when we have to be done
	asked  bool
	longer func(time.Time) // told of the new until; may be nil
}

// callWithin bounds one outside call while a request waits for it, and is far
// less than a lease.
const callWithin = 10 * time.Second

// createWithin is how long one create of the rule may take at the backend.
func (r *Rule) createWithin() time.Duration {
	if r.Timeout <= 0 {
		return callWithin
	}
	return r.Timeout
}

// callsWithin is what the outside calls of one decision may take together.
const callsWithin = 2 * callWithin

// stays begins to count now: the message has just come. want is how long it may
// be that we need beside the time that the proxy gives anyway.
func (x *exchange) stays(want time.Duration) *stay {
	p := x.server.o.Patience
	_, more := p.plan(want)
	return &stay{ask: x.ask, more: more, until: time.Now().Add(p.decide())}
}

// prolong wishes for more time, if that has not been done.
func (s *stay) prolong() {
	if s.asked || s.more <= 0 {
		return
	}
	s.asked = true
	s.until = time.Now().Add(s.more - margin(s.more)/2)
	s.ask(s.more)
	if s.longer != nil {
		s.longer(s.until)
	}
}

// left is how long a call may take that the message waits for: what comes of it
// is still to be written.
func (s *stay) left() time.Duration {
	s.prolong()
	left := time.Until(s.until)
	return left - min(left/8, time.Second)
}

type stayKey struct{}

// in lets the calls that are made with the context belong to the stay. The
// context must not reach another goroutine.
func (s *stay) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, stayKey{}, s)
}

// stayOf is nil where no message waits.
func stayOf(ctx context.Context) *stay {
	s, _ := ctx.Value(stayKey{}).(*stay)
	return s
}
