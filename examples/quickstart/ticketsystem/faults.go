package main

import (
	"context"
	"sync/atomic"
	"time"
)

// faults is how the ticket system misbehaves at the moment.
type faults struct {
	delay atomic.Int64 // of a create, nanoseconds
	lose  atomic.Int64 // so many of the next creates are committed, and their answers lost
}

func (f *faults) setDelay(d time.Duration) { f.delay.Store(int64(d)) }

func (f *faults) setLose(n int64) { f.lose.Store(n) }

// hold waits for the delay, or until the client has gone.
func (f *faults) hold(ctx context.Context) {
	d := time.Duration(f.delay.Load())
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// loses reports whether this answer is one to lose.
func (f *faults) loses() bool {
	for {
		n := f.lose.Load()
		if n <= 0 {
			return false
		}
		if f.lose.CompareAndSwap(n, n-1) {
			return true
		}
	}
}
