package failover

import (
	"context"
	"sync"
	"time"

	"oneticket/dedup"
)

// A mirror keeps in the embedded store what this replica has seen of settled
// shared records. It is written off the path, and what comes faster than it is
// written is dropped.
type mirror struct {
	local dedup.Store
	queue chan mirrored

	losses losses
	lost   func() // told of a new one

	mu    sync.Mutex
	last  map[dedup.Ref]known // what was queued last
	ahead time.Duration       // of our clock, that of the shared store
}

type mirrored struct {
	ref    dedup.Ref
	rec    dedup.Record
	now    time.Time         // the shared store's clock
	scope  dedup.TicketScope // of a ticket that the ref holds, instead of a record
	ticket string
	keep   time.Duration
}

const (
	mirrorQueue = 1024
	mirrorKnown = 1 << 16
)

func newMirror(local dedup.Store, lost func()) *mirror {
	return &mirror{local: local, lost: lost, queue: make(chan mirrored, mirrorQueue), last: map[dedup.Ref]known{}}
}

func (m *mirror) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case item := <-m.queue:
			m.write(ctx, item)
		}
	}
}

// saw is told what the shared store has answered.
func (m *mirror) saw(ref dedup.Ref, found dedup.Found) {
	m.mu.Lock()
	m.ahead = time.Until(found.Now)
	m.mu.Unlock()
	m.put(ref, found.Record, found.Now)
}

// wrote is told what was written in the shared store.
func (m *mirror) wrote(ref dedup.Ref, rec dedup.Record) { m.put(ref, rec, m.sharedNow()) }

func (m *mirror) sharedNow() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Now().Add(m.ahead)
}

func (m *mirror) put(ref dedup.Ref, rec dedup.Record, now time.Time) {
	if m.loses(ref, rec) {
		return
	}
	settled, ok := settledOf(ref, rec)
	if !ok || !m.newer(ref, rec.Version, settled) {
		return
	}
	select {
	case m.queue <- mirrored{ref: ref, rec: settled, now: now}:
	default:
		m.forget(ref)
	}
}

// loses reports whether the record shows that what was known of it is lost. That
// is certain only if no newer answer has overtaken this one.
func (m *mirror) loses(ref dedup.Ref, rec dedup.Record) bool {
	k := m.known(ref)
	if !k.lostIn(rec) {
		return m.losses.has(ref)
	}
	m.losses.add(ref, k)
	m.lost()
	return true
}

func (m *mirror) known(ref dedup.Ref) known {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last[ref]
}

// lostAndFound ends a loss: whatever is seen next is news.
func (m *mirror) lostAndFound(ref dedup.Ref) {
	m.forget(ref)
	m.losses.remove(ref)
}

// newer reports whether the version of the ref was not queued before.
func (m *mirror) newer(ref dedup.Ref, version int64, settled dedup.Record) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if version <= m.last[ref].version {
		return false
	}
	if len(m.last) >= mirrorKnown {
		clear(m.last)
	}
	m.last[ref] = known{version: version, episode: settled.Episode, ticket: settled.Ticket.ID, at: time.Now()}
	return true
}

func (m *mirror) forget(ref dedup.Ref) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.last, ref)
}

// settledOf is what of a shared record can be relied on without its store: while
// a create is under way, the record before it.
func settledOf(ref dedup.Ref, rec dedup.Record) (dedup.Record, bool) {
	switch {
	case rec.V > dedup.Format, rec.Version == 0, rec.Observed:
		return rec, false
	case plain(ref), rec.State == dedup.Open, rec.State == dedup.Closed, rec.State == dedup.None:
		rec.Prior = nil
		return rec, true
	case rec.Prior != nil && rec.Prior.Version > 0:
		return settledOf(ref, *rec.Prior)
	default:
		return rec, false
	}
}

// holds is told that the ref holds a ticket.
func (m *mirror) holds(ref dedup.Ref, scope dedup.TicketScope, id string, keep time.Duration) {
	select {
	case m.queue <- mirrored{ref: ref, scope: scope, ticket: id, keep: keep}:
	default: // a close that comes in an outage is kept, and finds it on return
	}
}

// now mirrors at once what the shared store may not have taken.
func (m *mirror) now(ctx context.Context, ref dedup.Ref, next dedup.Record) {
	if next.State != dedup.Open && next.State != dedup.Closed {
		return
	}
	next.Version = max(next.Version, 1)
	if rec, ok := settledOf(ref, next); ok {
		m.write(ctx, mirrored{ref: ref, rec: rec, now: m.sharedNow()})
		m.forget(ref)
	}
}

// write is best effort: what is not mirrored is not known in an outage.
func (m *mirror) write(ctx context.Context, item mirrored) {
	if item.ticket != "" {
		_, _ = m.local.Ticket(ctx, item.scope, item.ticket, item.ref, item.keep)
		return
	}
	at := named(mirrorName, item.ref)
	for range 2 { // another process may mirror the same
		was, err := m.local.Get(ctx, at)
		if err != nil {
			return
		}
		rec := item.rec.Shifted(was.Now.Sub(item.now))
		if _, err = m.local.Swap(ctx, at, was.Record.Version, rec, ""); err == nil {
			return
		}
	}
}
