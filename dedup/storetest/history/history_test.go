package history_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
	"oneticket/dedup/storetest/history"
)

func four(store dedup.Store) []dedup.Store { return []dedup.Store{store, store, store, store} }

func TestTheReferenceStoreIsLinearizable(t *testing.T) {
	history.Run(t, history.Options{Clients: four(storetest.NewMemory(time.Now))})
}

// Calls that fail before they are applied, or after, are of unknown outcome.
func TestUnknownOutcomesAreAllowed(t *testing.T) {
	var calls int
	var mu sync.Mutex
	sometimes := func(string) error {
		mu.Lock()
		defer mu.Unlock()
		if calls++; calls%40 == 0 {
			return storetest.ErrLost
		}
		return nil
	}
	store := &storetest.Faulty{Store: storetest.NewMemory(time.Now), Before: sometimes, After: sometimes}
	history.Run(t, history.Options{Clients: four(store), Calls: 400})
}

// The check must refuse stores that break the contract only when clients
// meet, or only when a reply is lost.
func TestBrokenStoresAreRefused(t *testing.T) {
	for name, broken := range map[string]func() dedup.Store{
		"it reads, then writes":       func() dedup.Store { return &readThenWrite{Memory: storetest.NewMemory(time.Now)} },
		"it forgets what was deleted": func() dedup.Store { return &forgetful{Memory: storetest.NewMemory(time.Now)} },
		"it answers from an old copy": func() dedup.Store {
			return &stale{Memory: storetest.NewMemory(time.Now), old: map[dedup.Ref]dedup.Found{}}
		},
		"it says what it did not write": func() dedup.Store { return &liar{Memory: storetest.NewMemory(time.Now)} },
		"an acknowledged write is lost": func() dedup.Store { return &lossy{Memory: storetest.NewMemory(time.Now)} },
	} {
		t.Run(name, func(t *testing.T) {
			h, err := history.Record(t.Context(), history.Options{Clients: four(broken()), Keys: 2})
			if err != nil {
				t.Fatal(err)
			}
			if err := h.Check(t.TempDir()); err == nil {
				t.Errorf("seed %d: it passes", h.Seed)
			}
		})
	}
}

// readThenWrite decides on a record that it has read before.
type readThenWrite struct{ *storetest.Memory }

func (s *readThenWrite) Swap(ctx context.Context, ref dedup.Ref, seen int64, next dedup.Record, nonce string) (dedup.Record, error) {
	was, err := s.Get(ctx, ref)
	if err != nil {
		return next, err
	}
	if was.Record.Version != seen {
		return dedup.Record{}, dedup.ErrConflict
	}
	for range 10 {
		runtime.Gosched()
	}
	for {
		now, err := s.Get(ctx, ref)
		if err != nil {
			return next, err
		}
		if rec, err := s.Memory.Swap(ctx, ref, now.Record.Version, next, nonce); err == nil {
			return rec, nil
		}
	}
}

// forgetful makes a stub that has no number of the episode.
type forgetful struct{ *storetest.Memory }

func (s *forgetful) Delete(ctx context.Context, ref dedup.Ref) error {
	found, err := s.Get(ctx, ref)
	if err != nil || found.Record.Version == 0 {
		return err
	}
	_, err = s.Memory.Swap(ctx, ref, found.Record.Version, dedup.Record{State: dedup.None}, "")
	return err
}

// stale answers a read with what an earlier one found.
type stale struct {
	*storetest.Memory
	mu  sync.Mutex
	old map[dedup.Ref]dedup.Found
}

func (s *stale) Get(ctx context.Context, ref dedup.Ref) (dedup.Found, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.Memory.Get(ctx, ref)
	before, ok := s.old[ref]
	s.old[ref] = found
	if ok {
		found = before
	}
	return found, err
}

// liar says that it has written what it has not.
type liar struct {
	*storetest.Memory
	mu    sync.Mutex
	calls int
}

func (s *liar) Swap(ctx context.Context, ref dedup.Ref, seen int64, next dedup.Record, nonce string) (dedup.Record, error) {
	rec, err := s.Memory.Swap(ctx, ref, seen, next, nonce)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls++; s.calls%5 == 0 {
		return rec, nil
	}
	return rec, err
}

// lossy loses a write some time after it was acknowledged.
type lossy struct {
	*storetest.Memory
	mu    sync.Mutex
	calls int
}

func (s *lossy) Claim(ctx context.Context, ref dedup.Ref, o *dedup.Offer) (dedup.Found, error) {
	s.mu.Lock()
	s.calls++
	lost := s.calls%20 == 0
	s.mu.Unlock()
	found, err := s.Memory.Claim(ctx, ref, o)
	if lost && found.Won && found.Record.Prior != nil {
		_, _ = s.Memory.Swap(ctx, ref, found.Record.Version, *found.Record.Prior, "")
	}
	return found, err
}
