package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"oneticket/cmd/oneticket/admin"
	"oneticket/dedup"
)

// A laterStore is an embedded store whose file could not be opened. Its calls
// fail, so that creates pass untouched, until the file can be.
type laterStore struct {
	name    string
	open    func(context.Context) (dedup.Store, error)
	metrics *admin.Metrics
	log     *slog.Logger

	opened atomic.Pointer[dedup.Store] // nil: not yet
	cancel context.CancelFunc
	beside sync.WaitGroup
}

var errNotOpen = errors.New("the file of the store could not be opened yet")

// openAgain is how often it is tried.
const openAgain = 5 * time.Second

// openLater says why the store cannot be opened, and tries it again from now on.
func openLater(name string, open func(context.Context) (dedup.Store, error), why error, m *admin.Metrics, log *slog.Logger) *laterStore {
	log.Error("the file of the store cannot be opened: creates pass untouched where it would decide; it is tried again every "+openAgain.String(), "store", name, "error", why)
	ctx, cancel := context.WithCancel(context.Background())
	s := &laterStore{name: name, open: open, metrics: m, log: log, cancel: cancel}
	s.say(why)
	s.beside.Go(func() { s.opening(ctx) })
	return s
}

// isLater reports whether the store is one, as newStore returns it.
func isLater(store dedup.Store) bool {
	metered, _ := store.(meteredStore)
	_, is := metered.Store.(*laterStore)
	return is
}

func (s *laterStore) say(why error) {
	s.metrics.StoreTrouble(s.name, fmt.Sprintf("the file of the store cannot be opened, and is tried again every %s (%v)", openAgain, why))
}

func (s *laterStore) opening(ctx context.Context) {
	tick := time.NewTicker(openAgain)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		store, err := s.open(ctx)
		if err != nil {
			s.say(err)
			continue
		}
		s.opened.Store(&store)
		s.metrics.StoreTrouble(s.name, "")
		s.log.Info("the file of the store is open now", "store", s.name)
		return
	}
}

// Close is dedup.Store's.
func (s *laterStore) Close() error {
	s.cancel()
	s.beside.Wait()
	if store := s.opened.Load(); store != nil {
		return (*store).Close()
	}
	return nil
}

func (s *laterStore) now() (dedup.Store, error) {
	if store := s.opened.Load(); store != nil {
		return *store, nil
	}
	return nil, errNotOpen
}

func (s *laterStore) Claim(ctx context.Context, ref dedup.Ref, offer *dedup.Offer) (dedup.Found, error) {
	store, err := s.now()
	if err != nil {
		return dedup.Found{}, err
	}
	return store.Claim(ctx, ref, offer)
}

func (s *laterStore) Swap(ctx context.Context, ref dedup.Ref, seen int64, next dedup.Record, nonce string) (dedup.Record, error) {
	store, err := s.now()
	if err != nil {
		return dedup.Record{}, err
	}
	return store.Swap(ctx, ref, seen, next, nonce)
}

func (s *laterStore) Renew(ctx context.Context, ref dedup.Ref, holder string, lease time.Duration) (bool, error) {
	store, err := s.now()
	if err != nil {
		return false, err
	}
	return store.Renew(ctx, ref, holder, lease)
}

func (s *laterStore) MarkSent(ctx context.Context, ref dedup.Ref, holder string) error {
	store, err := s.now()
	if err != nil {
		return err
	}
	return store.MarkSent(ctx, ref, holder)
}

func (s *laterStore) Ticket(ctx context.Context, scope dedup.TicketScope, id string, ref dedup.Ref, keep time.Duration) (bool, error) {
	store, err := s.now()
	if err != nil {
		return false, err
	}
	return store.Ticket(ctx, scope, id, ref, keep)
}

func (s *laterStore) KeepClose(ctx context.Context, scope dedup.TicketScope, id string, keep time.Duration) (dedup.Ref, bool, error) {
	store, err := s.now()
	if err != nil {
		return dedup.Ref{}, false, err
	}
	return store.KeepClose(ctx, scope, id, keep)
}

func (s *laterStore) Get(ctx context.Context, ref dedup.Ref) (dedup.Found, error) {
	store, err := s.now()
	if err != nil {
		return dedup.Found{}, err
	}
	return store.Get(ctx, ref)
}

func (s *laterStore) List(ctx context.Context, rule string, yield func(dedup.Ref, dedup.Record) bool) error {
	store, err := s.now()
	if err != nil {
		return err
	}
	return store.List(ctx, rule, yield)
}

func (s *laterStore) Delete(ctx context.Context, ref dedup.Ref) error {
	store, err := s.now()
	if err != nil {
		return err
	}
	return store.Delete(ctx, ref)
}
