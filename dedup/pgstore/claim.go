package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"oneticket/dedup"
	"oneticket/dedup/recordjson"
)

// Get is dedup.Store's.
func (s *Store) Get(ctx context.Context, ref dedup.Ref) (dedup.Found, error) {
	found, err := s.claim(ctx, named(ref, s.moved(), dedup.Format, nil, "", "", 0, 0, "", nil, "", 0, 0, 0, 0))
	return found, s.wrap("get", err)
}

// Claim is dedup.Store's.
func (s *Store) Claim(ctx context.Context, ref dedup.Ref, offer *dedup.Offer) (dedup.Found, error) {
	if offer == nil {
		return s.Get(ctx, ref)
	}
	args, err := s.offered(ref, offer)
	if err != nil {
		return dedup.Found{}, s.wrap("claim", err)
	}
	found, err := s.claim(ctx, args)
	return found, s.wrap("claim", err)
}

func (s *Store) claim(ctx context.Context, args []any) (found dedup.Found, err error) {
	var r row
	var now int64
	err = s.one(ctx, s.sql.claim, args, append([]any{&found.Won, &now}, r.dest()...)...)
	if err != nil {
		return dedup.Found{}, err
	}
	found.Now = recordjson.Time(now)
	found.Record, err = r.record()
	return found, err
}

// offered is the record that the offer makes, without what only the database
// knows: the time, and what was there.
func (s *Store) offered(ref dedup.Ref, o *dedup.Offer) ([]any, error) {
	base, appended := o.Token.Given, dedup.PlainToken
	if base == "" {
		base, appended = string(o.Token.Key), o.Token.Style
	}
	rec := o.Take(dedup.Record{}, time.Time{})
	rec.Token = base
	r, err := pack(rec)
	if err != nil {
		return nil, err
	}
	ttl := o.TTL.Microseconds()
	return named(ref, s.moved(), dedup.Format,
		r.Holder, r.Fingerprint, string(appended), o.Lease.Microseconds(), o.Keep.Microseconds(),
		r.Rest, r.identity, r.Prior,
		ttl, o.MaxAge.Microseconds(), o.KeepOpen.Microseconds(), max(1, ttl/16)), nil
}

// moved is what is added to the store's clock.
func (s *Store) moved() int64 { return s.o.Offset().Microseconds() }

// one makes a call that gives one row. It reads the row to its end before
// anything is scanned into dest, so that a repeated call begins anew.
func (s *Store) one(ctx context.Context, sql string, args []any, dest ...any) error {
	return s.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, sql, args...).Scan(dest...)
	})
}
