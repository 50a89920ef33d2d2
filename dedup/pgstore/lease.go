package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"oneticket/dedup"
)

// Renew is dedup.Store's.
func (s *Store) Renew(ctx context.Context, ref dedup.Ref, holder string, lease time.Duration) (renewed bool, err error) {
	err = s.one(ctx, s.sql.renew, at(ref, s.moved(), dedup.Format, armour(holder), lease.Microseconds()), &renewed)
	return renewed, s.wrap("renew", err)
}

// MarkSent is dedup.Store's.
func (s *Store) MarkSent(ctx context.Context, ref dedup.Ref, holder string) error {
	return s.wrap("mark sent", s.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, s.sql.mark, at(ref, dedup.Format, armour(holder))...)
		return err
	}))
}
