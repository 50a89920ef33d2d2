package sqlitestore

import (
	"context"
	"time"

	"oneticket/dedup"
)

// Renew is dedup.Store's.
func (s *Store) Renew(ctx context.Context, ref dedup.Ref, holder string, lease time.Duration) (bool, error) {
	renewed, err := changed(s.sql.renew.ExecContext(ctx, s.at(ref, holder, lease.Microseconds())...))
	return renewed, s.wrap("renew", err)
}

// MarkSent is dedup.Store's.
func (s *Store) MarkSent(ctx context.Context, ref dedup.Ref, holder string) error {
	_, err := s.sql.mark.ExecContext(ctx, s.at(ref, holder)...)
	return s.wrap("mark sent", err)
}
