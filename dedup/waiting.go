package dedup

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A waitingRoom holds the requests of this process that wait for a create or
// an update in progress, by record and in order of arrival.
type waitingRoom struct {
	mu    sync.Mutex
	queue map[Ref][]*waiter
	count int
}

// A waiter is one request; it is in the room from its first wait until it is
// decided, so that it keeps its place when it has to wait again.
type waiter struct {
	ref    Ref
	caller string
	until  time.Time

	in      bool // in the room; guarded by the room
	woken   chan struct{}
	refusal *Response // set before woken is signalled
}

func newWaitingRoom() *waitingRoom { return &waitingRoom{queue: map[Ref][]*waiter{}} }

func (r *waitingRoom) size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}

// wait blocks until w is woken, w.until is reached, or ctx ends. The first of
// the queue calls moved every poll, for the settles of other processes, and
// wakes all when it returns true. It returns the refusal that was handed over.
func (r *waitingRoom) wait(ctx context.Context, w *waiter, poll time.Duration, moved func() bool) *Response {
	r.enter(w)
	deadline := time.NewTimer(time.Until(w.until))
	defer deadline.Stop()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-w.woken:
			return w.refusal
		case <-ctx.Done():
			return nil
		case <-deadline.C:
			return nil
		case <-tick.C:
			if r.first(w) && moved() {
				r.wakeAll(w.ref)
			}
		}
	}
}

func (r *waitingRoom) enter(w *waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.in {
		return
	}
	w.in = true
	w.woken = make(chan struct{}, 1)
	r.queue[w.ref] = append(r.queue[w.ref], w)
	r.count++
}

func (r *waitingRoom) first(w *waiter) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	queue := r.queue[w.ref]
	return len(queue) > 0 && queue[0] == w
}

// leave takes w out. Whoever is the first then is woken, so that a place in the
// queue that is given up is not a queue that stands still. That somebody left
// from the middle of it is no news: a queue of many who go away one by one
// would be as many rounds for the first.
func (r *waitingRoom) leave(w *waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !w.in {
		return
	}
	w.in = false
	r.count--
	queue := r.queue[w.ref]
	wasFirst := queue[0] == w
	rest := slices.DeleteFunc(queue, func(o *waiter) bool { return o == w })
	if len(rest) == 0 {
		delete(r.queue, w.ref)
		return
	}
	r.queue[w.ref] = rest
	if wasFirst {
		rest[0].wake()
	}
}

// wake must be called with the room locked.
func (w *waiter) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

func (r *waitingRoom) wakeAll(ref Ref) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.queue[ref] {
		w.wake()
	}
}

// refused hands the refusal to the waiters with an equal caller, and lets the
// first of the others try.
func (r *waitingRoom) refused(ref Ref, caller string, refusal *Response) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := false
	for _, w := range r.queue[ref] {
		switch {
		case refusal != nil && caller != "" && w.caller == caller:
			w.refusal = refusal
			w.wake()
		case !next:
			next = true
			w.wake()
		}
	}
}
