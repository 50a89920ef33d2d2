package dedup

import (
	"context"
	"sync"
	"time"
)

// MergerOptions are what a Merger is made of. All are required but Pause.
type MergerOptions struct {
	Engine *Engine // whose store has the records
	// Rule says how the doubles of a rule are merged; false: they are not. It is
	// asked for each try, so that a reload is obeyed.
	Rule func(rule string) (MergeRule, bool)
	Done func(Merge, MergeResult) // told of the end of each merge, its survivor included
	// Pause is before the first try; doubled up to a minute. Default 1 s: the
	// record of a double is often about to get its ticket.
	Pause time.Duration
}

// A Merger merges doubles beside the requests, with bounded queue and tries.
// Nothing of it outlives the process: a double that is not merged has been
// reported, and is open still. It is safe for concurrent use.
type Merger struct {
	o     MergerOptions
	slots chan struct{} // one for each merge that calls the backend

	mu      sync.Mutex
	pending map[Merge]bool
}

// How much a Merger does.
const (
	maxMerges    = 256 // that wait or run
	mergesAtOnce = 4
	mergeTries   = 12          // for about seven minutes
	longestMerge = time.Minute // one try, the wait for its turn included
)

// NewMerger returns a Merger, which ends with its engine.
func NewMerger(o MergerOptions) *Merger {
	if o.Pause <= 0 {
		o.Pause = time.Second
	}
	return &Merger{o: o, slots: make(chan struct{}, mergesAtOnce), pending: map[Merge]bool{}}
}

// Offer merges beside the requests, where the rule wants that. One that is
// offered twice is merged once.
func (m *Merger) Offer(one Merge) {
	if _, merges := m.o.Rule(one.Ref.Rule); !merges || one.Duplicate.ID == "" {
		return
	}
	one.Duplicate.Location, one.Survivor.Location = "", "" // of the same ticket as without
	m.mu.Lock()
	full, twice := len(m.pending) >= maxMerges, m.pending[one]
	if !full && !twice {
		m.pending[one] = true
	}
	m.mu.Unlock()
	switch {
	case twice:
	case full:
		m.o.Done(one, MergeDropped)
	default:
		m.o.Engine.aside(func() { m.follow(one) })
	}
}

// follow tries until it is known what becomes of it. The end of the engine is
// its end too.
func (m *Merger) follow(one Merge) {
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.pending, one)
	}()
	done := one
	for try, pause := 0, m.o.Pause; m.o.Engine.sleep(pause); try, pause = try+1, min(2*pause, longestMerge) {
		result := MergeGivenUp
		if try < mergeTries {
			done.Survivor, result = m.once(one)
		}
		if result != MergeAgain {
			m.o.Done(done, result)
			return
		}
	}
}

func (m *Merger) once(one Merge) (Ticket, MergeResult) {
	ctx, cancel := m.o.Engine.untilClosed(longestMerge)
	defer cancel()
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
		return m.Merge(ctx, one)
	case <-ctx.Done():
		return Ticket{}, MergeAgain
	}
}

// Merge is one try, for whoever waits for it: MergeAgain is worth another one.
// It returns the ticket that stays; with the result MergeNoSurvivor there may be
// none.
func (m *Merger) Merge(ctx context.Context, one Merge) (Ticket, MergeResult) {
	rule, merges := m.o.Rule(one.Ref.Rule)
	if !merges {
		return Ticket{}, MergeRefused
	}
	return m.o.Engine.merge(ctx, one, rule)
}
