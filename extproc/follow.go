package extproc

import (
	"context"
	"sync"
	"time"

	"oneticket/dedup"
)

// follows are the creates without a ticket that are gone on with when their
// client has been told, or has gone: the request and its credentials are held
// in memory for that, and for no longer.
type follows struct {
	mu     sync.Mutex
	ended  bool
	count  int
	bytes  int64
	next   int
	cancel map[int]context.CancelFunc
	all    sync.WaitGroup
}

// The bounds of what is held, over all rules. What is beyond them has only its
// dead letter.
const (
	mostFollows     = 1024
	mostFollowBytes = 64 << 20
)

// begin runs f beside the requests; false when the bounds or the end forbid it.
// stop ends its context.
func (f *follows) begin(size int64, run func(context.Context)) (stop func(), ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended || f.count >= mostFollows || f.bytes+size > mostFollowBytes {
		return nil, false
	}
	ctx, cancel := context.WithCancel(context.Background())
	if f.cancel == nil {
		f.cancel = map[int]context.CancelFunc{}
	}
	f.next++
	id := f.next
	f.count, f.bytes, f.cancel[id] = f.count+1, f.bytes+size, cancel
	f.all.Go(func() {
		defer f.finish(id, size)
		run(ctx)
	})
	return cancel, true
}

func (f *follows) finish(id int, size int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cancel[id]()
	delete(f.cancel, id)
	f.count, f.bytes = f.count-1, f.bytes-size
}

// aside runs f beside the requests; the end waits for it.
func (f *follows) aside(run func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.ended {
		f.all.Go(run)
	}
}

// stop ends them all, and lets no new one begin.
func (f *follows) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	for _, cancel := range f.cancel {
		cancel()
	}
}

// wait waits for their end, until ctx is over: a call that has begun is brought
// to its own.
func (f *follows) wait(ctx context.Context) {
	done := make(chan struct{})
	go func() { f.all.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// Following is how many creates without a ticket are gone on with.
func (s *Server) Following() int {
	s.follows.mu.Lock()
	defer s.follows.mu.Unlock()
	return s.follows.count
}

// The pauses before a create is sent again.
const (
	firstResend = 500 * time.Millisecond
	mostResend  = 8 * time.Second
)

// A followUp is one of them, for whoever learns more of it meanwhile.
type followUp struct {
	server  *Server
	hold    *dedup.Hold
	desk    *desk // nil: not begun yet, or over
	counter *counter
	sent    sending

	mu      sync.Mutex
	stop    func()
	ended   chan struct{} // closed when what was begun last has ended
	awaited bool          // the access log may still say that nothing was sent
	never   bool          // it does
	coming  bool          // and neverSent is about to be called
}

// followUp goes on with a create that ended so.
func (x *exchange) followUp(hold *dedup.Hold, kind dedup.OutcomeKind, canLookUp bool) {
	d := x.desk
	if d == nil {
		return
	}
	one := x.following
	one.mu.Lock()
	defer one.mu.Unlock()
	one.server, one.hold, one.desk, one.counter, one.sent = x.server, hold, d, x.counter, x.sending
	one.awaited = kind == dedup.OutcomeUnknown && x.server.accessLog.connected(x.peer)
	if one.never {
		kind = dedup.OutcomeNeverSent
		x.server.undoubt(x.sending)
	}
	pause, _ := pauseOf(x.answered.value("retry-after"), x.server.o.Now())
	one.start(kind, canLookUp, pause)
}

// over lets go of what is held for it. It must be called with the followUp
// locked.
func (f *followUp) over() {
	f.counter.close()
	f.desk, f.stop = nil, nil
}

// start must be called with the followUp locked.
func (f *followUp) start(kind dedup.OutcomeKind, canLookUp bool, pause time.Duration) {
	rule := f.desk.rule
	again := dedup.Resend{Tries: rule.Resend, First: firstResend, Most: mostResend, RetryAfter: min(pause, longestPause)}
	heal := false
	switch kind {
	case dedup.OutcomeNeverSent, dedup.OutcomeRefused:
	case dedup.OutcomeExists: // sent again, it would exist again
		heal, again.Tries = true, 0
	default:
		heal = !f.desk.folds || again.Tries == 0 // else it is sent again at once
	}
	d := f.desk
	run := func(ctx context.Context) { f.run(ctx, d, heal, again) }
	switch {
	case heal && rule.HealWithin > 0 && canLookUp, !heal && again.Tries > 0:
	case heal && again.Tries > 0 && f.awaited:
		run = f.linger
	default:
		f.over()
		return
	}
	d.unsure.Store(heal)
	before, ended := f.ended, make(chan struct{})
	stop, ok := f.server.follows.begin(d.size(), func(ctx context.Context) {
		defer close(ended)
		if before != nil {
			<-before // its look-up, which is brought to its end, holds the record
		}
		run(ctx)
	})
	if !ok {
		f.over()
		f.server.count.Dropped(rule.Name)
		f.server.o.Log.Warn("a create without a ticket is not gone on with: too many are, or the process ends", "rule", rule.Name, "key", f.sent.ref.Key)
		return
	}
	f.stop, f.ended = stop, ended
}

func (f *followUp) run(ctx context.Context, d *desk, heal bool, again dedup.Resend) {
	made := f.hold.Follow(ctx, heal, again)
	f.mu.Lock()
	defer f.mu.Unlock()
	if !made {
		if ctx.Err() == nil && !f.coming { // else it goes on in another way, or the process ends
			f.over()
		}
		return
	}
	if !d.created.Load() {
		f.server.count.Healed(d.rule.Name)
	}
	f.server.o.Log.Info("a create has its ticket after all", "rule", d.rule.Name, "key", f.sent.ref.Key, "sent_again", d.created.Load())
	f.server.unletter(f.sent.ref, f.sent.episode)
	f.over()
}

// linger holds what nobody may send again for as long as the access log may say
// that it was never sent.
func (f *followUp) linger(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(f.server.o.LastWord):
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.coming {
		f.over()
	}
}

// announce is called before the record says that nothing was sent: whoever
// looks at that must not let go of what neverSent goes on with.
func (f *followUp) announce() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.never, f.coming = true, true
}

// neverSent is called when the access log says so after all: nothing is to be
// looked for, and all may be sent again.
func (f *followUp) neverSent() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.coming = false
	if f.server == nil {
		return // it has not begun
	}
	f.server.undoubt(f.sent)
	if f.desk == nil {
		return // it is over
	}
	if f.stop != nil {
		f.stop()
	}
	f.start(dedup.OutcomeNeverSent, false, 0)
}
