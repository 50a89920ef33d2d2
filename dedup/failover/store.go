package failover

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"oneticket/dedup"
)

// Store is a dedup.Store and a dedup.Journal. It is safe for concurrent use.
type Store struct {
	o       Options
	shared  dedup.Store
	local   dedup.Store
	breaker *gobreaker.CircuitBreaker[struct{}]
	mirror  *mirror

	failing      atomic.Bool  // a call has failed since the last probe
	probesFailed atomic.Int64 // in a row
	doubted      atomic.Bool  // a call has failed since what was acknowledged was last compared

	dirty       dirt         // whether the embedded store has something to reconcile
	flights     flights      // the claims of this process that the shared store holds
	provisional atomic.Int64 // provisional creates that are not reconciled yet
	pending     journaled    // keys with an outcome in the journal
	closes      atomic.Int64 // kept closes, or a guess that is not less

	reconciling chan struct{} // one reconciliation at a time
	asked       map[dedup.Ref]int

	woken  chan struct{} // the prober
	kicked chan struct{} // the reconciler
	beside sync.WaitGroup
	cancel context.CancelFunc
}

var (
	_ dedup.Store   = (*Store)(nil)
	_ dedup.Journal = (*Store)(nil)
)

// New returns a store and begins to watch the shared one. What an earlier
// process left in the embedded store is reconciled from now on.
func New(o Options) *Store {
	o = o.withDefaults()
	ctx, cancel := context.WithCancel(context.Background())
	s := &Store{
		o: o, shared: o.Shared, local: o.Local, cancel: cancel,
		woken: make(chan struct{}, 1), kicked: make(chan struct{}, 1), asked: map[dedup.Ref]int{},
		reconciling: make(chan struct{}, 1),
	}
	s.breaker = s.newBreaker()
	s.mirror = newMirror(s.local, s.kick)
	s.dirty.begin()() // until it was looked at
	s.closes.Store(1)
	s.beside.Go(func() { s.mirror.run(ctx) })
	s.beside.Go(func() { s.probing(ctx) })
	s.beside.Go(func() { s.reconcileForever(ctx) })
	s.kick()
	return s
}

// Close ends what goes on beside the calls, and closes both stores.
func (s *Store) Close() error {
	s.cancel()
	s.beside.Wait()
	return errors.Join(s.shared.Close(), s.local.Close())
}

// Provisional is how many provisional creates are not reconciled yet.
func (s *Store) Provisional() int64 { return s.provisional.Load() }

// decides reports whether the shared store decides on the ref: it is there, and
// the embedded one has nothing of that key that it does not know.
func (s *Store) decides(ctx context.Context, ref dedup.Ref) bool {
	if s.Away() {
		return false
	}
	if plain(ref) || !s.dirty.is() || !s.holds(ctx, ref) {
		return true
	}
	return s.reconcileNow(ctx, ref)
}

// holds reports whether the embedded store has something of the key to be
// reconciled. One that cannot be read has nothing that could be acted on.
func (s *Store) holds(ctx context.Context, ref dedup.Ref) bool {
	if s.pending.has(ref) {
		return true
	}
	found, err := s.local.Get(ctx, named(ownName, ref))
	return err == nil && live(found.Record)
}

// Claim is dedup.Store's. A claim whose reply was lost may hold the shared
// record: that it was never sent is kept for the return, before the embedded
// store decides.
func (s *Store) Claim(ctx context.Context, ref dedup.Ref, offer *dedup.Offer) (found dedup.Found, err error) {
	if offer == nil {
		return s.Get(ctx, ref)
	}
	if !s.decides(ctx, ref) {
		return s.claimLocally(ctx, ref, offer, nil)
	}
	err = s.call(ctx, func(ctx context.Context) (err error) {
		found, err = s.shared.Claim(ctx, ref, offer)
		if err != nil && ctx.Err() == nil { // it knows its own claim again
			found, err = s.shared.Claim(ctx, ref, offer)
		}
		return err
	})
	switch {
	case err == nil:
		s.mirror.saw(ref, found)
		if found.Won && s.mirror.losses.has(ref) {
			return s.claimLost(ctx, ref, offer, found)
		}
		if found.Won {
			s.flights.saw(ref, found.Record, found.Now)
		}
		return found, nil
	case ctx.Err() != nil, errors.Is(err, dedup.ErrConflict):
		return dedup.Found{}, err
	case !refused(err):
		if unkept := s.keepUnsent(ctx, ref, offer.Holder); unkept != nil {
			return dedup.Found{}, errors.Join(err, unkept)
		}
	}
	return s.claimLocally(ctx, ref, offer, err)
}

// Get is dedup.Store's.
func (s *Store) Get(ctx context.Context, ref dedup.Ref) (found dedup.Found, err error) {
	if !s.decides(ctx, ref) {
		return s.getLocally(ctx, ref, nil)
	}
	err = s.read(ctx, func(ctx context.Context) (err error) {
		found, err = s.shared.Get(ctx, ref)
		return err
	})
	switch {
	case err == nil:
		s.mirror.saw(ref, found)
		return found, nil
	case ctx.Err() != nil:
		return dedup.Found{}, err
	}
	return s.getLocally(ctx, ref, err)
}

// Swap is dedup.Store's; it reaches the store whose version was seen, and no
// other. What the shared store may not have taken is mirrored at once: nobody
// knows better what the record is.
func (s *Store) Swap(ctx context.Context, ref dedup.Ref, seen int64, next dedup.Record, nonce string) (dedup.Record, error) {
	if seen&apart != 0 {
		return s.swapLocally(ctx, ref, seen&^apart, next, nonce)
	}
	var written dedup.Record
	err := s.call(ctx, func(ctx context.Context) (err error) {
		written, err = s.shared.Swap(ctx, ref, seen, next, nonce)
		return err
	})
	if err == nil {
		s.mirror.wrote(ref, written)
		s.flights.saw(ref, written, s.mirror.sharedNow())
		return written, nil
	}
	if !errors.Is(err, dedup.ErrConflict) && ctx.Err() == nil && !plain(ref) {
		s.mirror.now(ctx, ref, next)
	}
	return dedup.Record{}, err
}

// Renew is dedup.Store's.
func (s *Store) Renew(ctx context.Context, ref dedup.Ref, holder string, lease time.Duration) (renewed bool, err error) {
	err = s.call(ctx, func(ctx context.Context) (err error) {
		renewed, err = s.shared.Renew(ctx, ref, holder, lease)
		return err
	})
	if renewed {
		s.flights.renewed(ref, holder, s.mirror.sharedNow().Add(lease))
	}
	if renewed || !s.mayHaveLocal() {
		return renewed, err
	}
	return s.local.Renew(ctx, named(ownName, ref), holder, lease)
}

// MarkSent is dedup.Store's.
func (s *Store) MarkSent(ctx context.Context, ref dedup.Ref, holder string) error {
	err := s.call(ctx, func(ctx context.Context) error { return s.shared.MarkSent(ctx, ref, holder) })
	if !s.mayHaveLocal() {
		return err
	}
	return s.local.MarkSent(ctx, named(ownName, ref), holder)
}

func (s *Store) mayHaveLocal() bool { return s.dirty.is() || s.Away() }

// List is dedup.Store's; while the shared store is away, of what this replica
// knows.
func (s *Store) List(ctx context.Context, rule string, yield func(dedup.Ref, dedup.Record) bool) error {
	if s.Away() {
		return s.listLocally(ctx, rule, yield)
	}
	return s.shared.List(ctx, rule, yield)
}

// Delete is dedup.Store's. It needs the shared store.
func (s *Store) Delete(ctx context.Context, ref dedup.Ref) error {
	if err := s.call(ctx, func(ctx context.Context) error { return s.shared.Delete(ctx, ref) }); err != nil {
		return err
	}
	s.mirror.forget(ref)
	return errors.Join(s.local.Delete(ctx, named(mirrorName, ref)), s.local.Delete(ctx, named(ownName, ref)))
}
