package redisstore

import (
	"context"
	"time"

	"oneticket/dedup"
)

// Ticket is dedup.Store's. A kept close stays kept, so that the call can be
// repeated after a lost reply.
func (s *Store) Ticket(ctx context.Context, scope dedup.TicketScope, id string, ref dedup.Ref, keep time.Duration) (closed bool, err error) {
	answer, err := s.run(ctx, holdScript, s.names.ticketName(scope, id),
		s.o.Offset().Microseconds(), ref.Rule, ref.Scope, string(ref.Key), keep.Microseconds())
	return answer == int64(1), s.wrap("ticket", err)
}

// KeepClose is dedup.Store's.
func (s *Store) KeepClose(ctx context.Context, scope dedup.TicketScope, id string, keep time.Duration) (ref dedup.Ref, held bool, err error) {
	answer, err := s.run(ctx, closeScript, s.names.ticketName(scope, id), s.o.Offset().Microseconds(), keep.Microseconds())
	if err != nil {
		return ref, false, s.wrap("keep close", err)
	}
	parts, _ := answer.([]any)
	if len(parts) != 3 {
		return ref, false, nil
	}
	for i, text := range []*string{&ref.Rule, &ref.Scope, (*string)(&ref.Key)} {
		*text, _ = parts[i].(string)
	}
	return ref, true, nil
}
