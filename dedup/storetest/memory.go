package storetest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"oneticket/dedup"
)

// Memory is a dedup.Store in a map: the reference that other stores are
// compared with, and a store for tests and simulators. It forgets nothing.
type Memory struct {
	now func() time.Time

	mu      sync.Mutex
	records map[dedup.Ref]stored
	tickets map[ticketKey]indexed
}

var _ dedup.Store = (*Memory)(nil)

type stored struct {
	record dedup.Record
	nonce  string // of the Swap that wrote it
}

type ticketKey struct {
	scope dedup.TicketScope
	id    string
}

type indexed struct {
	ref         dedup.Ref
	heldUntil   time.Time
	closedUntil time.Time
}

// NewMemory returns an empty store with the clock now, which is read in whole
// microseconds.
func NewMemory(now func() time.Time) *Memory {
	return &Memory{
		now:     func() time.Time { return now().Round(0).Truncate(time.Microsecond) },
		records: map[dedup.Ref]stored{},
		tickets: map[ticketKey]indexed{},
	}
}

// Claim is dedup.Store's.
func (m *Memory) Claim(ctx context.Context, ref dedup.Ref, o *dedup.Offer) (dedup.Found, error) {
	if err := ctx.Err(); err != nil {
		return dedup.Found{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	rec := m.records[ref].record
	switch {
	case rec.V > dedup.Format:
		return dedup.Found{Record: dedup.Record{V: rec.V, Version: rec.Version}, Now: now}, nil
	case o == nil:
		return found(rec, now, false), nil
	case rec.State == dedup.Claimed && rec.Holder == o.Holder && now.Before(rec.LeaseUntil):
		return found(rec, now, true), nil
	case !now.Before(rec.FreeAt):
		rec = copied(o.Take(rec, now), sameTime)
		m.records[ref] = stored{record: rec}
		return found(rec, now, true), nil
	}
	if longer, ok := extended(rec, o, now); ok {
		m.records[ref] = stored{record: longer}
		rec = longer
	}
	return found(rec, now, false), nil
}

func found(rec dedup.Record, now time.Time, won bool) dedup.Found {
	return dedup.Found{Record: copied(rec, sameTime), Now: now, Won: won}
}

func sameTime(t time.Time) time.Time { return t }

// extended is the record with the life that a re-fire gives it.
func extended(rec dedup.Record, o *dedup.Offer, now time.Time) (dedup.Record, bool) {
	updating := rec.Update != nil && now.Before(rec.Update.LeaseUntil)
	if rec.State != dedup.Open || updating || !rec.Fingerprint.Known() || rec.Fingerprint != o.Fingerprint {
		return rec, false
	}
	until := now.Add(o.TTL)
	if end := rec.OpenedAt.Add(o.MaxAge); o.MaxAge > 0 && until.After(end) {
		until = end
	}
	if gain := until.Sub(rec.ExpiresAt); gain <= 0 || gain < o.TTL/16 {
		return rec, false
	}
	rec.Version++
	rec.ExpiresAt, rec.FreeAt, rec.SeenAt = until, until, now
	if keep := until.Add(o.KeepOpen); keep.After(rec.KeepUntil) {
		rec.KeepUntil = keep
	}
	return rec, true
}

// Swap is dedup.Store's.
func (m *Memory) Swap(ctx context.Context, ref dedup.Ref, seen int64, next dedup.Record, nonce string) (dedup.Record, error) {
	if err := ctx.Err(); err != nil {
		return dedup.Record{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.records[ref]
	next = copied(next, sameTime)
	next.Version = seen + 1
	if next.V == 0 {
		next.V = dedup.Format
	}
	repeated := nonce != "" && was.nonce == nonce && was.record.Version == next.Version
	switch {
	case repeated:
		return next, nil
	case was.record.Version != seen, was.record.V > dedup.Format:
		return dedup.Record{}, dedup.ErrConflict
	}
	m.records[ref] = stored{record: copied(next, sameTime), nonce: nonce}
	return next, nil
}

// Renew is dedup.Store's.
func (m *Memory) Renew(ctx context.Context, ref dedup.Ref, holder string, lease time.Duration) (renewed bool, err error) {
	return renewed, m.change(ctx, ref, func(rec *dedup.Record) {
		now := m.now()
		if rec.State == dedup.Claimed && rec.Holder == holder && now.Before(rec.LeaseUntil) {
			rec.LeaseUntil, renewed = now.Add(lease), true
		}
		if rec.Update != nil && rec.Update.Holder == holder && now.Before(rec.Update.LeaseUntil) {
			update := *rec.Update
			update.LeaseUntil, renewed = now.Add(lease), true
			rec.Update = &update
		}
	})
}

// MarkSent is dedup.Store's.
func (m *Memory) MarkSent(ctx context.Context, ref dedup.Ref, holder string) error {
	return m.change(ctx, ref, func(rec *dedup.Record) {
		if rec.State == dedup.Claimed && rec.Holder == holder {
			rec.Sent = true
		}
	})
}

// change changes a record of ours that is there, but neither its version nor
// whose write it was.
func (m *Memory) change(ctx context.Context, ref dedup.Ref, how func(*dedup.Record)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	was, ok := m.records[ref]
	if ok && was.record.V <= dedup.Format {
		how(&was.record)
		m.records[ref] = was
	}
	return nil
}

// Ticket is dedup.Store's.
func (m *Memory) Ticket(ctx context.Context, scope dedup.TicketScope, id string, ref dedup.Ref, keep time.Duration) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now, key := m.now(), ticketKey{scope, id}
	entry := m.tickets[key]
	entry.ref, entry.heldUntil = ref, now.Add(keep)
	m.tickets[key] = entry
	return now.Before(entry.closedUntil), nil
}

// KeepClose is dedup.Store's.
func (m *Memory) KeepClose(ctx context.Context, scope dedup.TicketScope, id string, keep time.Duration) (dedup.Ref, bool, error) {
	if err := ctx.Err(); err != nil {
		return dedup.Ref{}, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now, key := m.now(), ticketKey{scope, id}
	entry := m.tickets[key]
	if now.Before(entry.heldUntil) {
		return entry.ref, true, nil
	}
	entry.closedUntil = now.Add(keep)
	m.tickets[key] = entry
	return dedup.Ref{}, false, nil
}

// Get is dedup.Store's.
func (m *Memory) Get(ctx context.Context, ref dedup.Ref) (dedup.Found, error) {
	return m.Claim(ctx, ref, nil)
}

// List is dedup.Store's, in the order of the refs.
func (m *Memory) List(ctx context.Context, rule string, yield func(dedup.Ref, dedup.Record) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	all := maps.Clone(m.records)
	m.mu.Unlock()
	for _, ref := range slices.SortedFunc(maps.Keys(all), compareRefs) {
		rec := all[ref].record
		if rec.State == dedup.None || (rule != "" && rule != ref.Rule) {
			continue
		}
		if !yield(ref, copied(rec, sameTime)) {
			return nil
		}
	}
	return nil
}

func compareRefs(a, b dedup.Ref) int {
	return strings.Compare(a.Rule+"\x00"+a.Scope+"\x00"+string(a.Key), b.Rule+"\x00"+b.Scope+"\x00"+string(b.Key))
}

// Delete is dedup.Store's. A stub that is free at once is left as it is, so
// that the call can be repeated.
func (m *Memory) Delete(ctx context.Context, ref dedup.Ref) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	was, ok := m.records[ref]
	switch {
	case !ok, was.record.State == dedup.None && was.record.FreeAt.IsZero():
		return nil
	case was.record.V > dedup.Format:
		return dedup.ErrConflict
	}
	m.records[ref] = stored{record: dedup.Record{
		V: dedup.Format, State: dedup.None,
		Version: was.record.Version + 1, Episode: was.record.Episode, KeepUntil: was.record.KeepUntil,
	}}
	return nil
}

// Close is dedup.Store's. The data stays, so that one client of a test can go.
func (m *Memory) Close() error { return nil }
