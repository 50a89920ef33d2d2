package dedup

import (
	"context"
	"time"
)

// How an outcome is written that the store did not take at once.
const (
	latePause   = 250 * time.Millisecond
	longestLate = 10 * time.Second
	lateFor     = 10 * time.Minute // of an outage; after it the record is what the end of its lease has made of it
)

// settleLater goes on writing an outcome that the store did not take: a ticket
// that is known must not be opened once more because a file was locked for a
// moment. An outcome that comes late is judged as any other late answer. When
// the engine is closed it is tried a last time.
func (h *Hold) settleLater(o Outcome) {
	e, until := h.engine, time.Now().Add(lateFor)
	for pause := latePause; ; pause = min(2*pause, longestLate) {
		last := !e.sleep(pause) || time.Now().After(until)
		ctx, cancel := settling(context.Background())
		st, err := h.settle(ctx, o)
		cancel()
		if err == nil || h.keep(context.Background(), st, o) {
			h.settled(st, o)
			return
		}
		if last {
			return
		}
	}
}

// sleep reports false when the engine was closed meanwhile.
func (e *Engine) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-e.closing:
		return false
	}
}

// untilClosed is for what may be cut short by the end of the engine.
func (e *Engine) untilClosed(within time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	go func() {
		select {
		case <-e.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// abandon ends a claim whose reply was lost with the client that went away in
// the middle of it: if it was won, it would be in everybody's way until its
// lease is over. The proxy may have let the request go without us, so it is in
// doubt.
func (e *Engine) abandon(c Claim) {
	e.aside(func() {
		ctx, cancel := settling(context.Background())
		defer cancel()
		before := time.Now()
		found, err := e.store.Get(ctx, c.Fault.Ref)
		if err != nil || found.Record.State != Claimed || found.Record.Holder != c.Holder || found.Record.Looking {
			return
		}
		found.Won = true
		_, _ = e.hold(&c, found, before, found.Record.createReason()).Settle(ctx, Outcome{Kind: OutcomeUnknown})
	})
}
