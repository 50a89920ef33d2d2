package redisstore

import (
	"context"
	"time"

	"oneticket/dedup"
)

// Renew is dedup.Store's.
func (s *Store) Renew(ctx context.Context, ref dedup.Ref, holder string, lease time.Duration) (bool, error) {
	answer, err := s.run(ctx, renewScript, s.names.recordName(ref), s.here(holder, lease.Microseconds())...)
	return answer == int64(1), s.wrap("renew", err)
}

// MarkSent is dedup.Store's.
func (s *Store) MarkSent(ctx context.Context, ref dedup.Ref, holder string) error {
	_, err := s.run(ctx, markScript, s.names.recordName(ref), s.here(holder)...)
	return s.wrap("mark sent", err)
}
