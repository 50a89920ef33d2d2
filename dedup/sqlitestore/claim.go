package sqlitestore

import (
	"context"
	"errors"

	"oneticket/dedup"
	"oneticket/dedup/recordjson"
)

// claimRounds bounds how often a claim reads again because others wrote
// between its read and its statement; each such round is somebody's progress.
const claimRounds = 64

var errContended = errors.New("the record changes faster than it can be read")

// Get reads one record.
func (s *Store) Get(ctx context.Context, ref dedup.Ref) (dedup.Found, error) {
	return s.Claim(ctx, ref, nil)
}

// Claim is dedup.Store's. The common claim, a re-fire that finds its ticket
// open and its life long enough, is a read. Else one statement decides anew
// and writes; where it wrote nothing, somebody else did, and that is read.
func (s *Store) Claim(ctx context.Context, ref dedup.Ref, offer *dedup.Offer) (dedup.Found, error) {
	if offer != nil {
		s.keeper.wake()
	}
	r, won, err := s.claim(ctx, ref, offer)
	if err != nil {
		return dedup.Found{}, s.wrap("claim", err)
	}
	found, err := r.found(won)
	return found, s.wrap("claim", err)
}

func (s *Store) claim(ctx context.Context, ref dedup.Ref, offer *dedup.Offer) (r row, won bool, err error) {
	for range claimRounds {
		r, _, err = oneRow(ctx, s.sql.read, s.at(ref)...)
		switch {
		case err != nil || offer == nil || r.V > dedup.Format:
			return r, false, err
		case r.heldBy(offer.Holder):
			return r, true, nil
		case r.free():
			r, won, err = s.take(ctx, ref, offer)
			if won || err != nil {
				return r, won, err
			}
		case r.worthExtending(offer):
			r, extended, err := s.extend(ctx, ref, offer)
			if extended || err != nil {
				return r, false, err
			}
		default:
			return r, false, nil
		}
	}
	return r, false, errContended
}

// at is what every statement on a record begins with.
func (s *Store) at(ref dedup.Ref, more ...any) []any {
	return append([]any{s.micros(), ref.Rule, ref.Scope, string(ref.Key)}, more...)
}

func (r *row) free() bool { return r.FreeAt <= r.now }

func (r *row) heldBy(holder string) bool {
	return r.State == dedup.Claimed && r.Holder == holder && r.LeaseUntil > r.now
}

func (r *row) worthExtending(o *dedup.Offer) bool {
	if r.State != dedup.Open || r.UpdateUntil > r.now || r.Fingerprint != recordjson.FingerprintText(o.Fingerprint) || r.Fingerprint == "" {
		return false
	}
	until := r.now + o.TTL.Microseconds()
	if o.MaxAge > 0 {
		until = min(until, r.OpenedAt+o.MaxAge.Microseconds())
	}
	return until-r.ExpiresAt >= leastGain(o)
}

// leastGain is the gain of life that is worth a write.
func leastGain(o *dedup.Offer) int64 { return max(1, o.TTL.Microseconds()/16) }

func (s *Store) take(ctx context.Context, ref dedup.Ref, o *dedup.Offer) (row, bool, error) {
	base, appended := o.Token.Given, dedup.PlainToken
	if base == "" {
		base, appended = string(o.Token.Key), o.Token.Style
	}
	// The statement fills in what depends on the clock and on what was there.
	rec := o.Take(dedup.Record{}, recordjson.Time(0))
	rec.Token = base
	p, err := recordjson.Pack(rec)
	if err != nil {
		return row{}, false, err
	}
	return oneRow(ctx, s.sql.take, s.at(ref, o.Lease.Microseconds(), o.Keep.Microseconds(),
		p.Holder, p.Fingerprint, string(appended), p.Rest, p.Prior)...)
}

func (s *Store) extend(ctx context.Context, ref dedup.Ref, o *dedup.Offer) (row, bool, error) {
	return oneRow(ctx, s.sql.extend, s.at(ref, o.TTL.Microseconds(), o.MaxAge.Microseconds(),
		o.KeepOpen.Microseconds(), recordjson.FingerprintText(o.Fingerprint), leastGain(o))...)
}
