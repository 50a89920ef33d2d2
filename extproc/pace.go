package extproc

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.uber.org/ratelimit"
)

// A road is an outlet with its pace. Whoever wants to call waits in a queue
// for the turn that one goroutine gives: taking from the limiter blocks and
// knows no context, so that it is done there and nowhere else.
type road struct {
	outlet Outlet
	queue  chan *turn
	slots  chan struct{} // one for each call that runs
	closed chan struct{}
	close  func()

	mu     sync.Mutex
	paused time.Time
}

// A turn is one call that waits.
type turn struct {
	ctx   context.Context
	given chan struct{} // without a buffer: a turn is taken, or goes to the next
}

var errClosed = errors.New("the process ends")

func newRoad(o Outlet, closed bool) *road {
	r := &road{
		outlet: o, queue: make(chan *turn, o.Queue), slots: make(chan struct{}, o.Concurrent), closed: make(chan struct{}),
	}
	r.close = sync.OnceFunc(func() { close(r.closed) })
	if closed {
		r.close()
		return r
	}
	go r.pace(o.limiter())
	return r
}

func (o *Outlet) limiter() ratelimit.Limiter {
	if o.Rate <= 0 || o.Per <= 0 {
		return ratelimit.NewUnlimited()
	}
	return ratelimit.New(o.Rate, ratelimit.Per(o.Per), ratelimit.WithoutSlack)
}

// turn waits until the call may be made. done must be called after it.
func (r *road) turn(ctx context.Context) error {
	if until, ends := ctx.Deadline(); ends && r.pausedUntil().After(until) {
		return ErrPaused
	}
	t := &turn{ctx, make(chan struct{})}
	select {
	case r.queue <- t:
	case <-r.closed:
		return errClosed
	default:
		return ErrQueue
	}
	select {
	case <-t.given:
		return nil
	case <-r.closed:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *road) done() { <-r.slots }

// pace gives one turn after the other.
func (r *road) pace(limiter ratelimit.Limiter) {
	for {
		t := r.next()
		if t == nil || !r.enter() {
			return
		}
		limiter.Take()
		for r.rest(); !r.give(t); {
			if t = r.next(); t == nil {
				return
			}
		}
	}
}

// next is the first call that still waits; nil when there will be none.
func (r *road) next() *turn {
	for {
		select {
		case t := <-r.queue:
			if t.ctx.Err() == nil {
				return t
			}
		case <-r.closed:
			return nil
		}
	}
}

// enter waits until one call less than Outlet.Concurrent runs.
func (r *road) enter() bool {
	select {
	case r.slots <- struct{}{}:
		return true
	case <-r.closed:
		return false
	}
}

// rest waits out a pause, and the longer one that was asked for meanwhile.
func (r *road) rest() {
	for {
		left := time.Until(r.pausedUntil())
		if left <= 0 {
			return
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-r.closed:
			timer.Stop()
			return
		}
	}
}

// give hands the turn over, unless its call has gone.
func (r *road) give(t *turn) bool {
	select {
	case t.given <- struct{}{}:
		return true
	case <-t.ctx.Done():
		return false
	case <-r.closed:
		return false
	}
}

func (r *road) pausedUntil() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.paused
}

const (
	// shortPause follows a 429 that asks for none.
	shortPause = time.Second
	// longestPause is the most that a backend gets: a header may hold nonsense.
	longestPause = 5 * time.Minute
)

// heed pauses the calls of the backend when it asks for that.
func (r *road) heed(status int, retryAfter string) {
	pause, asked := pauseOf(retryAfter, time.Now())
	switch {
	case status == http.StatusTooManyRequests && !asked:
		pause = shortPause
	case status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable, !asked:
		return
	}
	until := time.Now().Add(min(pause, longestPause))
	r.mu.Lock()
	defer r.mu.Unlock()
	if until.After(r.paused) {
		r.paused = until
	}
}

// pauseOf reads a Retry-After: whole seconds or a date.
func pauseOf(retryAfter string, now time.Time) (time.Duration, bool) {
	retryAfter = strings.TrimSpace(retryAfter)
	if seconds, err := strconv.ParseUint(retryAfter, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(retryAfter); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}
