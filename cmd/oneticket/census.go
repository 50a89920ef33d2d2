package main

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"oneticket/cmd/oneticket/admin"
	"oneticket/dedup"
	"oneticket/extproc"
)

// A census looks through the store now and then, beside the requests, and asks
// the backends that can be asked how many tickets they have open: what the
// metrics compare. Each replica takes its own, of the same store.
type census struct {
	store   dedup.Store
	calls   *extproc.Caller
	metrics *admin.Metrics
	log     *slog.Logger
	now     *inForce

	most  int             // records that a pass looks at
	asked time.Time       // when the backends were asked last
	quiet map[string]bool // backends whose silence was told; owned by the loop
	cut   bool            // that a pass ended early was told

	stop context.CancelFunc
	done sync.WaitGroup
}

// How a census is paced: a pass is followed by a rest of many times its own
// length, and looks at so many records at most, with a pause between parts of
// them; the backends' APIs have limits, and are asked less often.
const (
	censusFirst = time.Second
	censusRest  = 10 * time.Second
	censusShare = 10 // of its time, a census works one part
	censusMost  = 200_000
	censusPart  = 256
	censusPause = 10 * time.Millisecond
	censusAsks  = time.Minute
)

func newCensus(now *inForce, store dedup.Store, calls *extproc.Caller, m *admin.Metrics, log *slog.Logger) *census {
	return &census{now: now, store: store, calls: calls, metrics: m, log: log, most: censusMost, quiet: map[string]bool{}}
}

func (c *census) start() {
	ctx, cancel := context.WithCancel(context.Background())
	c.stop = cancel
	c.done.Go(func() { c.run(ctx) })
}

func (c *census) close() {
	if c.stop != nil {
		c.stop()
		c.done.Wait()
	}
}

func (c *census) run(ctx context.Context) {
	for rest := censusFirst; sleeps(ctx, rest); {
		began := time.Now()
		c.pass(ctx)
		rest = max(censusRest, censusShare*time.Since(began))
		if began.Sub(c.asked) >= censusAsks {
			c.asked = began
			c.askAll(ctx)
		}
		rest += time.Duration(rand.Int64N(int64(rest / 4))) // replicas that began together part
	}
}

// sleeps reports false when ctx ends first.
func sleeps(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// pass looks through the store once. A store that does not answer has no
// census: what it had before is nothing to go by.
func (c *census) pass(ctx context.Context) {
	clock, err := c.store.Get(ctx, dedup.Ref{Scope: "oneticket", Key: "clock"}) // which is not there; the answer has the time
	if err != nil {
		c.metrics.Counted(nil)
		return
	}
	t := newTally(c.now.config().Rules, clock.Now)
	err = c.store.List(ctx, "", func(ref dedup.Ref, rec dedup.Record) bool {
		t.add(ref.Rule, &rec)
		if t.seen >= c.most {
			return false
		}
		return t.seen%censusPart != 0 || sleeps(ctx, censusPause)
	})
	switch {
	case ctx.Err() != nil:
	case err != nil:
		c.metrics.Counted(nil)
	default:
		c.metrics.Counted(&t.Census)
		c.tellCut(t.seen >= c.most)
	}
}

func (c *census) tellCut(cut bool) {
	if cut && !c.cut {
		c.log.Warn("the store has more records than are counted: oneticket_live_keys and its like are less than what there is", "counted", c.most)
	}
	c.cut = cut
}
