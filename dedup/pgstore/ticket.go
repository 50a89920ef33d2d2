package pgstore

import (
	"context"
	"time"

	"oneticket/dedup"
)

// Ticket is dedup.Store's. A kept close stays kept, so that the call can be
// repeated after a lost reply.
func (s *Store) Ticket(ctx context.Context, scope dedup.TicketScope, id string, ref dedup.Ref, keep time.Duration) (closed bool, err error) {
	err = s.one(ctx, s.sql.hold, ticketAt(scope, id, armour(ref.Rule), armour(ref.Scope), armour(string(ref.Key)),
		s.moved(), keep.Microseconds()), &closed)
	return closed, s.wrap("ticket", err)
}

// KeepClose is dedup.Store's.
func (s *Store) KeepClose(ctx context.Context, scope dedup.TicketScope, id string, keep time.Duration) (ref dedup.Ref, held bool, err error) {
	var rule, of, key string
	err = s.one(ctx, s.sql.keepClose, ticketAt(scope, id, s.moved(), keep.Microseconds()), &held, &rule, &of, &key)
	if err != nil || !held {
		return dedup.Ref{}, false, s.wrap("keep close", err)
	}
	return refOf(rule, of, key), true, nil
}

func ticketAt(scope dedup.TicketScope, id string, more ...any) []any {
	return append([]any{idOf(string(scope), id), armour(string(scope)), armour(id)}, more...)
}

// refOf reads a ref as it lies in the database.
func refOf(rule, scope, key string) dedup.Ref {
	return dedup.Ref{Rule: bare(rule), Scope: bare(scope), Key: dedup.Key(bare(key))}
}
