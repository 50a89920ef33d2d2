package failover

import (
	"cmp"
	"context"
	"errors"
	"time"

	"oneticket/dedup"
)

// kick has the reconciler look at once.
func (s *Store) kick() {
	select {
	case s.kicked <- struct{}{}:
	default:
	}
}

// reconcileForever reconciles whenever there is something and the shared store
// is there.
func (s *Store) reconcileForever(ctx context.Context) {
	if s.o.Ready != nil {
		select {
		case <-ctx.Done():
			return
		case <-s.o.Ready:
		}
	}
	told := "" // the trouble that was told last: an embedded store may stay damaged
	for {
		again := s.o.Again
		if s.dirty.is() || s.mayHaveLost() {
			left, err := s.Reconcile(ctx)
			switch {
			case err != nil && !refused(err) && ctx.Err() == nil:
				if text := err.Error(); text != told {
					told = text
					s.o.Log.Warn("what the outage has left is not reconciled yet", "error", err)
				}
			case err == nil && left > 0:
				again = min(again, left)
			}
		}
		if s.rest(ctx) != nil { // many kicks are one look
			return
		}
		timer := time.NewTimer(again)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-s.kicked:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// Reconcile goes once over all that the embedded store has, and returns when to
// look again; 0 is that nothing is left. While the shared store is away it only
// counts.
func (s *Store) Reconcile(ctx context.Context) (again time.Duration, err error) {
	select {
	case s.reconciling <- struct{}{}:
		defer func() { <-s.reconciling }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	clean := s.dirty.look()
	again, err = s.reconcileAll(ctx)
	if again == 0 && err == nil {
		clean()
	}
	return again, err
}

func (s *Store) reconcileAll(ctx context.Context) (time.Duration, error) {
	owns, err := s.countOwn(ctx)
	if err != nil {
		return 0, err
	}
	lates, err := s.journal(ctx)
	if err != nil {
		return 0, err
	}
	if s.Away() {
		return s.o.Again, nil
	}
	if err := s.takeCloses(ctx); err != nil {
		return 0, err
	}
	var soonest time.Duration
	var failed error // the first; a key whose part of the store is away holds up no other
	each := func(reconcile func() (time.Duration, error)) error {
		wait, err := reconcile()
		if wait > 0 && (soonest == 0 || wait < soonest) {
			soonest = wait
		}
		if refused(err) {
			return err
		}
		failed = cmp.Or(failed, err)
		return s.rest(ctx)
	}
	for _, e := range lates {
		if err := each(func() (time.Duration, error) { return s.applyLate(ctx, e) }); err != nil {
			return 0, err
		}
	}
	for _, at := range owns {
		if err := each(func() (time.Duration, error) { return s.reconcileOne(ctx, refOf(at), true) }); err != nil {
			return 0, err
		}
	}
	tickets, err := s.entries(ctx, ticketName)
	if err != nil {
		return 0, err
	}
	for _, e := range tickets {
		if err := each(func() (time.Duration, error) { return s.takeTicket(ctx, e) }); err != nil {
			return 0, err
		}
	}
	restored, err := s.compare(ctx)
	if restored > 0 {
		soonest = s.o.Pace
	}
	return soonest, errors.Join(failed, err, s.prune(ctx))
}

// rest leaves the stores to the requests for a moment.
func (s *Store) rest(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.o.Pace):
		return nil
	}
}

// countOwn lists what was decided here, and counts what is provisional.
func (s *Store) countOwn(ctx context.Context) (all []dedup.Ref, err error) {
	var creates int64
	err = s.local.List(ctx, ownName, func(at dedup.Ref, rec dedup.Record) bool {
		all = append(all, at)
		if rec.Provisional {
			creates++
		}
		return true
	})
	if err == nil {
		s.provisional.Store(creates)
	}
	return all, err
}

// journal lists the outcomes that wait, and notes their keys: those of another
// process, or of one before this, are not known yet.
func (s *Store) journal(ctx context.Context) ([]item, error) {
	counted := s.pending.read()
	lates, err := s.entries(ctx, journalName)
	if err != nil {
		return nil, err
	}
	of := map[dedup.Ref]int{}
	for _, e := range lates {
		if late, err := lateOf(e.rec.Identity); err == nil {
			of[late.Ref]++
		}
	}
	counted(of)
	return lates, nil
}

// reconcileNow reconciles one key on the path of a request, as far as that
// needs nobody but the stores. It reports whether the shared store decides on
// the key from now on.
func (s *Store) reconcileNow(ctx context.Context, ref dedup.Ref) bool {
	if s.closes.Load() > 0 || s.pending.has(ref) || !s.ready() {
		return false
	}
	select {
	case s.reconciling <- struct{}{}:
		defer func() { <-s.reconciling }()
	default:
		return false
	}
	wait, err := s.reconcileOne(ctx, ref, false)
	return err == nil && wait == 0 && !s.holds(ctx, ref)
}

// ready reports whether the rules are known.
func (s *Store) ready() bool {
	if s.o.Ready == nil {
		return true
	}
	select {
	case <-s.o.Ready:
		return true
	default:
		return false
	}
}
