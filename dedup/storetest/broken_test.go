package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"oneticket/dedup"
)

// TestBrokenStoresAreRefused shows that the suite refuses stores of which each
// breaks the contract in one way, and by which story.
func TestBrokenStoresAreRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		breaks func(*Memory) dedup.Store
		story  string
		says   string
	}{
		{
			"a claim that reads, then writes",
			func(m *Memory) dedup.Store { return &readThenWrite{Memory: m, readers: newGate(racers)} },
			"of many claims at once exactly one wins", "claims won",
		},
		{
			"a claim that does not know its holder",
			func(m *Memory) dedup.Store { return &forgetful{Memory: m} },
			"a claim repeated after a lost reply has won", "lost to",
		},
		{
			"a swap without a nonce",
			func(m *Memory) dedup.Store { return &noNonce{Memory: m} },
			"a swap repeated after a lost reply has succeeded", dedup.ErrConflict.Error(),
		},
		{
			"a swap that knows its nonce for ever",
			func(m *Memory) dedup.Store { return &everNonce{Memory: m} },
			"a swap repeated after somebody else wrote is refused", "want a conflict",
		},
		{
			"a renewal that is a write like others",
			func(m *Memory) dedup.Store { return &countedRenewal{Memory: m} },
			"a renewal moves a running lease and no version", "Version",
		},
		{
			"a delete that forgets the number",
			func(m *Memory) dedup.Store { return &trueDelete{Memory: m} },
			"what is deleted keeps its number", "Version",
		},
		{
			"a close that does not look for its ticket",
			func(m *Memory) dedup.Store { return &blindClose{Memory: m} },
			"a close after its ticket is told whose it is", "close of",
		},
		{
			"a list of one batch",
			func(m *Memory) dedup.Store { return &shortList{Memory: m} },
			"a list shows every record, also beyond one batch", "is not listed",
		},
		{
			"a body that is empty or not there",
			func(m *Memory) dedup.Store { return &noEmptyBody{Memory: m} },
			"no response, no body and an empty body are three things", "Response",
		},
		{
			"a program that takes what it cannot read",
			func(m *Memory) dedup.Store { return &fearless{Memory: m} },
			"a record of a newer format is left alone", "won",
		},
		{
			"a life that every re-fire writes",
			func(m *Memory) dedup.Store { return &eagerLife{Memory: m} },
			"random calls do what the reference store does", SeedVariable,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			said := tellTo(t, c.story, c.breaks)
			if !strings.Contains(said, c.says) {
				t.Fatalf("the story %q says %q, want %q in it", c.story, said, c.says)
			}
		})
	}
}

// tellTo tells one story to a broken store, and returns what it says.
func tellTo(t *testing.T, name string, breaks func(*Memory) dedup.Store) string {
	t.Helper()
	var offset atomic.Int64
	store := breaks(NewMemory(func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }))
	r := &recorder{TB: t}
	scene := &scene{TB: r, ctx: t.Context(), one: store, two: store, data: Data{
		Forward: func(d time.Duration) { offset.Add(int64(d)) },
	}}
	for _, s := range stories {
		if s.name != name {
			continue
		}
		ended := make(chan struct{})
		go func() { defer close(ended); s.tell(scene) }()
		<-ended
		return strings.Join(r.said, "\n")
	}
	t.Fatalf("there is no story %q", name)
	return ""
}

// A recorder is a test that may fail.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

// A gate opens when so many have come.
type gate struct {
	left atomic.Int64
	open chan struct{}
	once sync.Once
}

func newGate(n int64) *gate {
	g := &gate{open: make(chan struct{})}
	g.left.Store(n)
	return g
}

func (g *gate) pass() {
	if g.left.Add(-1) <= 0 {
		g.once.Do(func() { close(g.open) })
	}
	<-g.open
}

type readThenWrite struct {
	*Memory
	readers *gate
}

func (b *readThenWrite) Claim(ctx context.Context, ref dedup.Ref, o *dedup.Offer) (dedup.Found, error) {
	found, err := b.Get(ctx, ref)
	if err != nil || o == nil || found.Now.Before(found.Record.FreeAt) {
		return found, err
	}
	b.readers.pass() // all have read before the first writes
	b.mu.Lock()
	defer b.mu.Unlock()
	found.Record, found.Won = o.Take(found.Record, found.Now), true
	b.records[ref] = stored{record: found.Record}
	return found, nil
}

type forgetful struct{ *Memory }

func (b *forgetful) Claim(ctx context.Context, ref dedup.Ref, o *dedup.Offer) (dedup.Found, error) {
	found, err := b.Get(ctx, ref)
	if err == nil && found.Record.State == dedup.Claimed {
		return found, nil
	}
	return b.Memory.Claim(ctx, ref, o)
}

type noNonce struct{ *Memory }

func (b *noNonce) Swap(ctx context.Context, ref dedup.Ref, seen int64, next dedup.Record, _ string) (dedup.Record, error) {
	return b.Memory.Swap(ctx, ref, seen, next, "")
}

type everNonce struct {
	*Memory
	written sync.Map
}

func (b *everNonce) Swap(ctx context.Context, ref dedup.Ref, seen int64, next dedup.Record, nonce string) (dedup.Record, error) {
	written, err := b.Memory.Swap(ctx, ref, seen, next, nonce)
	if errors.Is(err, dedup.ErrConflict) {
		if old, ok := b.written.Load(nonce); ok {
			return old.(dedup.Record), nil
		}
	}
	b.written.Store(nonce, written)
	return written, err
}

type countedRenewal struct{ *Memory }

func (b *countedRenewal) Renew(ctx context.Context, ref dedup.Ref, holder string, lease time.Duration) (bool, error) {
	renewed, err := b.Memory.Renew(ctx, ref, holder, lease)
	_ = b.change(ctx, ref, func(rec *dedup.Record) { rec.Version++ })
	return renewed, err
}

type trueDelete struct{ *Memory }

func (b *trueDelete) Delete(_ context.Context, ref dedup.Ref) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.records, ref)
	return nil
}

type blindClose struct{ *Memory }

func (b *blindClose) KeepClose(context.Context, dedup.TicketScope, string, time.Duration) (dedup.Ref, bool, error) {
	return dedup.Ref{}, false, nil
}

type shortList struct{ *Memory }

func (b *shortList) List(ctx context.Context, rule string, yield func(dedup.Ref, dedup.Record) bool) error {
	n := 0
	return b.Memory.List(ctx, rule, func(ref dedup.Ref, rec dedup.Record) bool {
		n++
		return n <= 100 && yield(ref, rec)
	})
}

type noEmptyBody struct{ *Memory }

func (b *noEmptyBody) Get(ctx context.Context, ref dedup.Ref) (dedup.Found, error) {
	found, err := b.Memory.Get(ctx, ref)
	if r := found.Record.Response; r != nil && len(r.Body) == 0 {
		r.Body = nil
	}
	return found, err
}

type fearless struct{ *Memory }

func (b *fearless) Claim(ctx context.Context, ref dedup.Ref, o *dedup.Offer) (dedup.Found, error) {
	b.takeNewer(ref)
	return b.Memory.Claim(ctx, ref, o)
}

func (b *fearless) takeNewer(ref dedup.Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if was := b.records[ref]; was.record.V > dedup.Format {
		was.record.V = dedup.Format
		b.records[ref] = was
	}
}

type eagerLife struct{ *Memory }

func (b *eagerLife) Claim(ctx context.Context, ref dedup.Ref, o *dedup.Offer) (dedup.Found, error) {
	found, err := b.Memory.Claim(ctx, ref, o)
	if err == nil && o != nil && found.Record.State == dedup.Open {
		_ = b.change(ctx, ref, func(rec *dedup.Record) { rec.SeenAt = found.Now })
	}
	return found, err
}
