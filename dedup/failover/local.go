package failover

import (
	"context"
	"errors"

	"oneticket/dedup"
)

// claimLocally decides on the embedded store; why is what the shared one said.
func (s *Store) claimLocally(ctx context.Context, ref dedup.Ref, offer *dedup.Offer, why error) (dedup.Found, error) {
	defer s.touch()()
	if err := s.seed(ctx, ref); err != nil {
		return dedup.Found{}, errors.Join(why, err)
	}
	own := *offer
	own.Provisional = true
	own.Token = offer.Token.Provisional()
	found, err := s.local.Claim(ctx, named(ownName, ref), &own)
	if err != nil {
		return dedup.Found{}, errors.Join(why, err)
	}
	if found.Won && (found.Record.Prior == nil || !found.Record.Prior.Provisional) {
		s.provisional.Add(1)
	}
	return provisional(found), nil
}

// seed makes what the mirror knows of a key the embedded store's own record,
// unless it has one already.
func (s *Store) seed(ctx context.Context, ref dedup.Ref) error {
	own, err := s.local.Get(ctx, named(ownName, ref))
	if err != nil || live(own.Record) {
		return err
	}
	known, err := s.local.Get(ctx, named(mirrorName, ref))
	if err != nil {
		return err
	}
	next, ok := seedOf(own, known)
	if claim, flying := s.flights.copied(ref, s.mirror.sharedNow()); flying {
		next, ok = claim.Shifted(own.Now.Sub(s.mirror.sharedNow())), true
		next.Episode = max(next.Episode, own.Record.Episode)
	}
	if !ok {
		return nil
	}
	_, err = s.local.Swap(ctx, named(ownName, ref), own.Record.Version, next, "")
	if errors.Is(err, dedup.ErrConflict) { // another process was faster
		return nil
	}
	return err
}

// seedOf is the own record that a mirrored one makes. Its episode is never less
// than any that has made a token here.
func seedOf(own, known dedup.Found) (dedup.Record, bool) {
	rec := known.Record
	over := !known.Now.Before(rec.KeepUntil)
	switch {
	case rec.Version == 0, rec.V > dedup.Format, over:
		return rec, false
	case !live(rec) && rec.Episode <= own.Record.Episode:
		return rec, false
	}
	rec.Episode = max(rec.Episode, own.Record.Episode)
	return rec, true
}

// getLocally is what the embedded store knows of the ref, without a write.
func (s *Store) getLocally(ctx context.Context, ref dedup.Ref, why error) (dedup.Found, error) {
	own, err := s.local.Get(ctx, named(ownName, ref))
	if err != nil {
		return dedup.Found{}, errors.Join(why, err)
	}
	if live(own.Record) {
		return provisional(own), nil
	}
	known, err := s.local.Get(ctx, named(mirrorName, ref))
	if err != nil {
		return dedup.Found{}, errors.Join(why, err)
	}
	if plain(ref) {
		if known.Record.Version == 0 { // one that only this replica has is better than none
			if known, err = s.local.Get(ctx, ref); err != nil {
				return dedup.Found{}, errors.Join(why, err)
			}
		}
		return provisional(known), nil
	}
	if rec, ok := seedOf(own, known); ok {
		rec.Version = own.Record.Version
		own.Record = rec
	}
	return provisional(own), nil
}

func (s *Store) swapLocally(ctx context.Context, ref dedup.Ref, seen int64, next dedup.Record, nonce string) (dedup.Record, error) {
	if plain(ref) { // what all replicas must agree on
		return dedup.Record{}, errAway
	}
	defer s.touch()()
	was, err := s.local.Get(ctx, named(ownName, ref))
	if err != nil {
		return dedup.Record{}, err
	}
	written, err := s.local.Swap(ctx, named(ownName, ref), seen, next, nonce)
	if err != nil {
		return dedup.Record{}, err
	}
	if err := s.noteClose(ctx, ref, was.Record, written); err != nil {
		s.o.Log.Warn("a close was not kept for the shared store", "rule", ref.Rule, "key", ref.Key, "error", err)
	}
	written.Version |= apart
	if !s.Away() {
		s.kick()
	}
	return written, nil
}

// listLocally lists what was decided here, and what is known beside.
func (s *Store) listLocally(ctx context.Context, rule string, yield func(dedup.Ref, dedup.Record) bool) error {
	goOn := true
	err := s.local.List(ctx, ownName, func(in dedup.Ref, rec dedup.Record) bool {
		if ref := refOf(in); rule == "" || ref.Rule == rule {
			goOn = yield(ref, provisional(dedup.Found{Record: rec}).Record)
		}
		return goOn
	})
	if err != nil || !goOn {
		return err
	}
	return s.local.List(ctx, mirrorName, func(in dedup.Ref, rec dedup.Record) bool {
		ref := refOf(in)
		if rule != "" && ref.Rule != rule {
			return true
		}
		if own, err := s.local.Get(ctx, named(ownName, ref)); err != nil || live(own.Record) {
			return true
		}
		return yield(ref, provisional(dedup.Found{Record: rec}).Record)
	})
}

// touch is called before a write to the embedded store that leaves something to
// reconcile, and what it returns after it.
func (s *Store) touch() (end func()) {
	if !s.dirty.is() {
		defer s.kick()
	}
	return s.dirty.begin()
}
