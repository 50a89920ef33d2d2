package dedup

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"
)

// An Engine is the thin shell around the pure functions: it calls the store,
// decides, writes, waits for those who are at it, and hands back a Verdict.
// It is safe for concurrent use.
type Engine struct {
	store  Store
	room   *waitingRoom
	poll   time.Duration
	report func(Report)
	lost   func() bool
	beside sync.WaitGroup // work off the path: marks, ticket index

	mu      sync.Mutex
	closed  bool
	closing chan struct{}           // closed by Close: what goes on beside comes to an end
	late    map[lateClose]time.Time // until when each is tried again
}

// EngineOptions are what an Engine is made of.
type EngineOptions struct {
	Store Store

	// Poll is how often the first of the waiters of a key looks whether another
	// process has settled it; default 100 ms.
	Poll time.Duration

	// Report is told what nobody asked for but somebody must know.
	Report func(Report)

	// Forgotten reports whether the store has lost what it knew of open tickets;
	// nil is never. It is called for every claim and must be cheap.
	Forgotten func() bool
}

// A Report names what may be open in a backend beside the record's ticket, or
// may be nowhere.
type Report struct {
	Ref        Ref
	Duplicates []Ticket
	Uncertain  string // a token that may have made a ticket
	DeadLetter bool   // the create may have made no ticket
	Suspect    bool   // so many titles were seen under the key that its identity may be too broad; once an episode
}

// NewEngine returns an engine over the store.
func NewEngine(o EngineOptions) *Engine {
	if o.Poll <= 0 {
		o.Poll = 100 * time.Millisecond
	}
	if o.Report == nil {
		o.Report = func(Report) {}
	}
	if o.Forgotten == nil {
		o.Forgotten = func() bool { return false }
	}
	return &Engine{store: o.Store, room: newWaitingRoom(), poll: o.Poll, report: o.Report, lost: o.Forgotten, closing: make(chan struct{}), late: map[lateClose]time.Time{}}
}

// Close waits for the work that goes on beside the requests.
func (e *Engine) Close() {
	e.mu.Lock()
	if !e.closed {
		e.closed = true
		close(e.closing)
	}
	e.mu.Unlock()
	e.beside.Wait()
}

// aside runs f beside the requests; not at all once the engine is closed.
func (e *Engine) aside(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.beside.Go(f)
	}
}

// Waiting returns how many requests wait for another one.
func (e *Engine) Waiting() int { return e.room.size() }

// A Verdict is what is to be done with one request.
type Verdict struct {
	Kind       Kind // Create, Suppress, Update (answered from the record), Pass or Busy
	Reason     Reason
	Record     Record        // as it is after the decision
	RetryAfter time.Duration // of Busy
	Refusal    *Response     // the winner's refusal (of Busy) or the update's own answer (of Update), to be given as it is
	Forward    bool          // of Suppress: sent on with the record's token instead of answered
	Hold       *Hold         // of Create: it must be settled
	Waited     bool
	WhyPass    string // of Pass: a Why constant, or empty where there is a Reason

	Was          Fingerprint // of Update: what the ticket had before
	UpdateFailed bool        // a change did not reach its ticket
}

// newHolder is a value that nobody else has.
func newHolder() string { return rand.Text() }

// maxRounds bounds how often a request is decided anew because others write
// the same record; far beyond what a race can need.
const maxRounds = 64

// Decide claims and decides. It blocks while the first of duplicates is under
// way, for Claim.Wait at most, and returns early with ctx's error when the
// client goes. Any other error means that no store could decide; the caller
// then sends the request on untouched. Claim.Holder is set by Decide.
func (e *Engine) Decide(ctx context.Context, c Claim) (Verdict, error) {
	c.Holder, c.forgotten = newHolder(), e.lost()
	if c.Policy.Observe {
		v, err := e.observe(ctx, c)
		if err == nil {
			e.witness(c, v)
		}
		return v, err
	}
	w := &waiter{ref: c.Fault.Ref}
	defer e.room.leave(w)
	left := decidedAnew
	for range maxRounds {
		v, done, err := e.round(ctx, &c, w)
		if err != nil && left > 0 && e.unwritten(ctx, &c, err) {
			left--
			continue
		}
		if done && err == nil {
			e.witness(c, v)
		}
		if done || err != nil {
			return v, err
		}
	}
	return Verdict{Kind: Busy, Reason: IsBusy, RetryAfter: time.Second, Waited: c.Waited}, nil
}

// round is one claim, one decision, and what it asks for.
func (e *Engine) round(ctx context.Context, c *Claim, w *waiter) (v Verdict, done bool, err error) {
	before := time.Now()
	c.undecided()
	found, err := e.claim(ctx, c)
	if err != nil {
		return v, false, err
	}
	c.decidedBy(found)
	d := Decide(found.Record, *c, found.Now)
	decided, err := e.ask(ctx, c, &found, &d, &before)
	if err != nil || !decided {
		return v, false, err
	}
	switch {
	case d.Kind == Wait:
		return e.wait(ctx, c, w, found, d)
	case d.Kind == Update && !d.NoCall:
		return e.update(ctx, c, found, d, before)
	case d.NoCall && c.Policy.OnUpdateFailed == "forward" && c.worse(found.Record.Fingerprint.Severity):
		return e.escalate(ctx, c, found, before) // a ticket that cannot be told is no reason to keep quiet
	}
	v, err = e.conclude(ctx, c, found, d, before)
	return v, true, err
}

// conclude makes the verdict. A create is handed out also when ctx is over:
// the proxy may have given up waiting and let the request go, so its holder
// settles it as what it then is, in doubt.
func (e *Engine) conclude(ctx context.Context, c *Claim, found Found, d Decision, before time.Time) (Verdict, error) {
	v := c.verdict(found, d)
	if d.Kind != Create {
		return v, ctx.Err()
	}
	if c.mayDouble(v.Reason) {
		e.tell(c.Fault.Ref, Decision{Uncertain: v.Record.Token})
	}
	v.Hold = e.hold(c, found, before, v.Reason)
	return v, nil
}

// mayDouble reports whether a create for that reason may be the second one of a
// backend that knows no token again, and can either not be asked for the first
// or would not find it: that may have gone out without the token.
func (c *Claim) mayDouble(reason Reason) bool {
	return c.Policy.Memory == NoMemory && (reason == Retried && !c.Policy.CanLookUp || reason == RetriedBlind)
}

func (c *Claim) verdict(found Found, d Decision) Verdict {
	v := Verdict{Kind: d.Kind, Reason: d.Reason, Record: found.Record, Forward: d.Forward, Waited: c.Waited, UpdateFailed: d.NoCall || d.Paced}
	switch d.Kind {
	case Busy, Wait, LookUp, Read:
		v.Kind, v.Reason = Busy, IsBusy
		v.RetryAfter = retryAfter(d.Until.Sub(found.Now))
	case Pass:
		if d.Reason == "" {
			v.WhyPass = WhyNewer
		}
	}
	return v
}

// retryAfter keeps what a client is told within what clients obey.
func retryAfter(d time.Duration) time.Duration { return min(max(d, time.Second), 30*time.Second) }

// claim repeats a call whose reply was lost: the store recognises the holder.
func (e *Engine) claim(ctx context.Context, c *Claim) (Found, error) {
	offer := c.Offer()
	found, err := e.store.Claim(ctx, c.Fault.Ref, offer)
	if err != nil && ctx.Err() == nil {
		found, err = e.store.Claim(ctx, c.Fault.Ref, offer)
	}
	if err != nil && ctx.Err() != nil && offer != nil {
		e.abandon(*c)
	}
	return found, err
}

// swap repeats a call whose reply was lost: the store recognises the nonce.
func (e *Engine) swap(ctx context.Context, ref Ref, seen int64, next Record) (Record, error) {
	nonce := rand.Text()
	written, err := e.store.Swap(ctx, ref, seen, next, nonce)
	if err != nil && !errors.Is(err, ErrConflict) && ctx.Err() == nil {
		written, err = e.store.Swap(ctx, ref, seen, next, nonce)
	}
	return written, err
}

func (e *Engine) tell(ref Ref, d Decision) {
	if len(d.Duplicates) > 0 || d.Uncertain != "" || d.DeadLetter {
		e.report(Report{Ref: ref, Duplicates: d.Duplicates, Uncertain: d.Uncertain, DeadLetter: d.DeadLetter})
	}
}

// wait until somebody settles, the time is over, or the client goes.
func (e *Engine) wait(ctx context.Context, c *Claim, w *waiter, found Found, d Decision) (Verdict, bool, error) {
	if !c.Waited {
		c.Waited = true
		c.Met, c.apart = found.Record.Episode, found.Provisional
		w.until = time.Now().Add(c.Wait)
		w.caller = c.caller()
		if c.OnWait != nil {
			c.OnWait(c.Wait)
		}
	}
	if refusal := e.room.wait(ctx, w, e.poll, func() bool { return e.moved(ctx, c, found) }); refusal != nil {
		return Verdict{Kind: Busy, Reason: IsBusy, Refusal: refusal, Record: found.Record, Waited: true}, true, nil
	}
	if err := ctx.Err(); err != nil {
		return Verdict{}, false, err
	}
	if !time.Now().Before(w.until) {
		left := min(d.Until.Sub(found.Now), 5*time.Second)
		return Verdict{Kind: Busy, Reason: IsBusy, Record: found.Record, RetryAfter: retryAfter(left), Waited: true}, true, nil
	}
	return Verdict{}, false, nil
}

// moved reports whether the record is another than the one that was waited
// on, or its lease is over. A store that does not answer has not moved.
func (e *Engine) moved(ctx context.Context, c *Claim, seen Found) bool {
	now, err := e.store.Get(ctx, c.Fault.Ref)
	if err != nil {
		return false
	}
	return now.Record.Version != seen.Record.Version || !now.Now.Before(leaseEnd(now.Record))
}

func leaseEnd(rec Record) time.Time {
	if rec.Update != nil {
		return rec.Update.LeaseUntil
	}
	return rec.LeaseUntil
}
