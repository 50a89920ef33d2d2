package failover

import (
	"context"
	"encoding/json"
	"time"

	"oneticket/dedup"
)

// A ticketForm is a ticket of which the shared store is still to be told whose
// it is.
type ticketForm struct {
	Scope dedup.TicketScope
	ID    string
	Ref   dedup.Ref
	Keep  time.Duration
}

// ticketLocally indexes the ticket here, and keeps that the shared store does
// not know of it: a close of it would be kept there, and reach nobody.
func (s *Store) ticketLocally(ctx context.Context, t ticketForm) (closed bool, err error) {
	defer s.touch()()
	text, err := json.Marshal(t)
	if err != nil {
		return false, err
	}
	at := dedup.Ref{Rule: ticketName, Scope: string(t.Scope), Key: dedup.Key(t.ID)}
	err = s.rewrite(ctx, at, func(was dedup.Found) *dedup.Record {
		return &dedup.Record{V: dedup.Format, State: dedup.Closed, Identity: text, KeepUntil: was.Now.Add(max(t.Keep, time.Hour))}
	})
	if err != nil {
		return false, err
	}
	return s.local.Ticket(ctx, t.Scope, t.ID, t.Ref, t.Keep)
}

// takeTicket tells the shared store of one, when the key is reconciled. It
// returns when to try again; 0 is that it is done.
func (s *Store) takeTicket(ctx context.Context, e item) (time.Duration, error) {
	var t ticketForm
	if err := json.Unmarshal(e.rec.Identity, &t); err != nil {
		s.o.Log.Error("a ticket's entry is damaged, and dropped", "error", err)
		return 0, s.drop(ctx, e)
	}
	if s.holds(ctx, t.Ref) {
		return s.o.Again, nil
	}
	found, err := s.getShared(ctx, t.Ref)
	if err != nil {
		return 0, err
	}
	if rec := found.Record; rec.Ticket.ID == t.ID || rec.Prior != nil && rec.Prior.Ticket.ID == t.ID {
		if err := s.index(ctx, t.Ref, t.Scope, t.ID, s.rule(t.Ref, rec).Policy); err != nil {
			return 0, err
		}
	}
	return 0, s.drop(ctx, e)
}
