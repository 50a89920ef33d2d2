package redisstore

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/recordjson"
)

// Get is dedup.Store's.
func (s *Store) Get(ctx context.Context, ref dedup.Ref) (dedup.Found, error) {
	answer, err := s.run(ctx, readScript, s.names.recordName(ref), s.here()...)
	if err != nil {
		return dedup.Found{}, s.wrap("get", err)
	}
	found, err := foundOf(answer)
	return found, s.wrap("get", err)
}

// Claim is dedup.Store's.
func (s *Store) Claim(ctx context.Context, ref dedup.Ref, offer *dedup.Offer) (dedup.Found, error) {
	if offer == nil {
		return s.Get(ctx, ref)
	}
	args, err := s.offered(offer)
	if err != nil {
		return dedup.Found{}, s.wrap("claim", err)
	}
	answer, err := s.run(ctx, claimScript, s.names.recordName(ref), args...)
	if err != nil {
		return dedup.Found{}, s.wrap("claim", err)
	}
	found, err := foundOf(answer)
	return found, s.wrap("claim", err)
}

// here is what every script on a record is given first.
func (s *Store) here(more ...any) []any {
	return append([]any{s.o.Offset().Microseconds(), dedup.Format}, more...)
}

// offered is the record that the offer makes, without what only the script
// knows: the time, and what was there.
func (s *Store) offered(o *dedup.Offer) ([]any, error) {
	base, appended := o.Token.Given, dedup.PlainToken
	if base == "" {
		base, appended = string(o.Token.Key), o.Token.Style
	}
	rec := o.Take(dedup.Record{}, time.Time{})
	rec.Token = base
	p, err := recordjson.Pack(rec)
	if err != nil {
		return nil, err
	}
	ttl := o.TTL.Microseconds()
	return s.here(p.Holder, p.Fingerprint, string(appended), o.Lease.Microseconds(), o.Keep.Microseconds(),
		p.Rest, p.Prior, ttl, o.MaxAge.Microseconds(), o.KeepOpen.Microseconds(), max(1, ttl/16)), nil
}

// foundOf reads the reply of a script: whether it won, the time, the record.
func foundOf(answer any) (found dedup.Found, err error) {
	parts, _ := answer.([]any)
	if len(parts) < 2 {
		return found, fmt.Errorf("a reply of %d parts", len(parts))
	}
	text, _ := parts[1].(string)
	now, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return found, fmt.Errorf("the time is not a number: %w", err)
	}
	found.Now, found.Won = recordjson.Time(now), parts[0] == int64(1)
	found.Record, err = unpack(parts[2:])
	return found, err
}
