package sqlitestore

import (
	"context"
	"time"

	"oneticket/dedup"
)

// Ticket is dedup.Store's. A kept close stays kept, so that the call can be
// repeated after a lost reply.
func (s *Store) Ticket(ctx context.Context, scope dedup.TicketScope, id string, ref dedup.Ref, keep time.Duration) (closed bool, err error) {
	args := []any{s.micros(), string(scope), id, ref.Rule, ref.Scope, string(ref.Key), keep.Microseconds()}
	_, err = one(ctx, s.sql.ticket, args, &closed)
	return closed, s.wrap("ticket", err)
}

// KeepClose is dedup.Store's.
func (s *Store) KeepClose(ctx context.Context, scope dedup.TicketScope, id string, keep time.Duration) (ref dedup.Ref, held bool, err error) {
	args := []any{s.micros(), string(scope), id, keep.Microseconds()}
	_, err = one(ctx, s.sql.keepClose, args, &ref.Rule, &ref.Scope, (*string)(&ref.Key), &held)
	if err != nil || !held {
		return dedup.Ref{}, false, s.wrap("keep close", err)
	}
	return ref, true, nil
}
