package failover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"oneticket/dedup"
)

// Ticket is dedup.Store's. A ticket of a key that the embedded store decides on
// is known there only: the shared store would say of its close that a record
// has it.
func (s *Store) Ticket(ctx context.Context, scope dedup.TicketScope, id string, ref dedup.Ref, keep time.Duration) (closed bool, err error) {
	if s.Away() || s.dirty.is() && s.holds(ctx, ref) {
		return s.ticketLocally(ctx, ticketForm{scope, id, ref, keep})
	}
	err = s.call(ctx, func(ctx context.Context) (err error) {
		closed, err = s.shared.Ticket(ctx, scope, id, ref, keep)
		return err
	})
	switch {
	case err == nil:
		s.mirror.holds(ref, scope, id, keep)
		return closed, nil
	case ctx.Err() != nil:
		return false, err
	}
	closed, unkept := s.ticketLocally(ctx, ticketForm{scope, id, ref, keep})
	if unkept != nil {
		return false, errors.Join(err, unkept)
	}
	return closed, nil
}

// KeepClose is dedup.Store's. A close of a ticket that a shared record holds is
// written there at once: whoever asked may find the embedded store's record
// next. While the shared store is away the close is kept for it.
func (s *Store) KeepClose(ctx context.Context, scope dedup.TicketScope, id string, keep time.Duration) (ref dedup.Ref, held bool, err error) {
	err = s.call(ctx, func(ctx context.Context) (err error) {
		ref, held, err = s.shared.KeepClose(ctx, scope, id, keep)
		return err
	})
	switch {
	case err == nil && (!held || s.closeShared(ctx, ref, id) == nil):
		if s.dirty.is() {
			s.closeLocally(ctx, scope, id, keep)
		}
		return ref, held, nil
	case ctx.Err() != nil:
		return dedup.Ref{}, false, errors.Join(err, ctx.Err())
	}
	if unkept := s.keepClose(ctx, scope, id, keep); unkept != nil {
		return dedup.Ref{}, false, errors.Join(err, unkept)
	}
	return s.local.KeepClose(ctx, scope, id, keep)
}

// A closeForm is a close that waits for the shared store.
type closeForm struct {
	Scope dedup.TicketScope
	ID    string
	Keep  time.Duration
}

func closeRef(scope dedup.TicketScope, id string) dedup.Ref {
	return dedup.Ref{Rule: closeName, Scope: string(scope), Key: dedup.Key(id)}
}

func (s *Store) keepClose(ctx context.Context, scope dedup.TicketScope, id string, keep time.Duration) error {
	text, err := json.Marshal(closeForm{scope, id, keep})
	if err != nil {
		return err
	}
	s.closes.Add(1)
	defer s.touch()()
	return s.rewrite(ctx, closeRef(scope, id), func(was dedup.Found) *dedup.Record {
		return &dedup.Record{V: dedup.Format, State: dedup.Closed, Identity: text, KeepUntil: was.Now.Add(max(keep, time.Hour))}
	})
}

// noteClose keeps the close of a ticket that was seen here, by an update or a
// read: the own record may be of another episode when the shared store is back.
// A ticket that was reopened is not closed any more.
func (s *Store) noteClose(ctx context.Context, ref dedup.Ref, was, next dedup.Record) error {
	id := next.Ticket.ID
	switch {
	case id == "" || next.Observed:
		return nil
	case next.State == dedup.Closed && next.Update == nil && !next.InDoubt:
		r := s.rule(ref, next)
		return s.keepClose(ctx, r.Scope, id, max(r.Policy.Remember, time.Hour))
	case next.State == dedup.Open && was.State == dedup.Closed && was.Ticket.ID == id:
		return s.rewrite(ctx, closeRef(s.rule(ref, next).Scope, id), func(kept dedup.Found) *dedup.Record {
			if !live(kept.Record) {
				return nil
			}
			return &dedup.Record{V: dedup.Format, State: dedup.None, KeepUntil: kept.Record.KeepUntil}
		})
	default:
		return nil
	}
}

// rewrite writes what next makes of the local record, until nobody writes in
// between; nil is to leave it.
func (s *Store) rewrite(ctx context.Context, at dedup.Ref, next func(dedup.Found) *dedup.Record) error {
	for {
		was, err := s.local.Get(ctx, at)
		if err != nil {
			return err
		}
		rec := next(was)
		if rec == nil {
			return nil
		}
		if _, err = s.local.Swap(ctx, at, was.Record.Version, *rec, ""); !errors.Is(err, dedup.ErrConflict) {
			return err
		}
	}
}

// closeLocally writes a close over the record that the embedded store still
// decides on. It is best effort: the shared store has it, and tells it again
// when that record is reconciled.
func (s *Store) closeLocally(ctx context.Context, scope dedup.TicketScope, id string, keep time.Duration) {
	ref, held, err := s.local.KeepClose(ctx, scope, id, keep)
	if err != nil || !held {
		return
	}
	_ = s.rewrite(ctx, named(ownName, ref), func(was dedup.Found) *dedup.Record {
		return dedup.CloseTicket(was.Record, id, s.rule(ref, was.Record).Policy, was.Now)
	})
}

// takeCloses hands the closes that were kept to the shared store.
func (s *Store) takeCloses(ctx context.Context) error {
	before := s.closes.Load()
	entries, err := s.entries(ctx, closeName)
	if err != nil {
		return err
	}
	for _, e := range entries {
		var c closeForm
		if err := json.Unmarshal(e.rec.Identity, &c); err != nil {
			s.o.Log.Error("a kept close is damaged, and dropped", "error", err)
		} else if err := s.handOver(ctx, c); err != nil {
			return err
		}
		if err := s.drop(ctx, e); err != nil {
			return err
		}
	}
	s.closes.CompareAndSwap(before, 0)
	return nil
}

// handOver keeps the close in the shared store, or writes it over the record
// that holds the ticket there.
func (s *Store) handOver(ctx context.Context, c closeForm) error {
	var ref dedup.Ref
	var held bool
	err := s.call(ctx, func(ctx context.Context) (err error) {
		ref, held, err = s.shared.KeepClose(ctx, c.Scope, c.ID, c.Keep)
		return err
	})
	if err == nil && !held { // whose ticket it is may have come too late for the shared store
		ref, held, err = s.local.KeepClose(ctx, c.Scope, c.ID, c.Keep)
	}
	if err != nil || !held {
		return err
	}
	return s.closeShared(ctx, ref, c.ID)
}

// closeShared writes the close of the ticket over the shared record, if that
// holds it.
func (s *Store) closeShared(ctx context.Context, ref dedup.Ref, id string) error {
	return s.overShared(ctx, ref, func(found dedup.Found) (*dedup.Record, error) {
		return dedup.CloseTicket(found.Record, id, s.rule(ref, found.Record).Policy, found.Now), nil
	})
}

// sharedRounds bounds how often a shared record is judged anew because others
// write it.
const sharedRounds = 64

// overShared writes what next makes of the shared record; nil is to leave it.
func (s *Store) overShared(ctx context.Context, ref dedup.Ref, next func(dedup.Found) (*dedup.Record, error)) error {
	for range sharedRounds {
		found, err := s.getShared(ctx, ref)
		if err != nil {
			return err
		}
		rec, err := next(found)
		if err != nil || rec == nil {
			return err
		}
		if _, err = s.swapShared(ctx, ref, found.Record.Version, *rec); !errors.Is(err, dedup.ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("%s %s: %w", ref.Rule, ref.Key, dedup.ErrConflict)
}
