package dedup

import (
	"context"
	"errors"
	"time"
)

// CloseTicket writes the close of a ticket that somebody has seen: over the
// record that holds it, or, where none does yet, for whoever writes that ticket
// later. On an error it is tried again beside, for the time of an outage, and a
// last time when the engine is closed.
func (e *Engine) CloseTicket(ctx context.Context, scope TicketScope, id string, p *Policy) error {
	if id == "" {
		return nil
	}
	err := e.closeOnce(ctx, scope, id, p)
	if err != nil {
		e.aside(func() { e.closeLater(scope, id, p) })
	}
	return err
}

// CloseHeld is CloseTicket where it is known which record held the ticket.
func (e *Engine) CloseHeld(ctx context.Context, ref Ref, id string, p *Policy) error {
	_, err := e.closeTicket(ctx, ref, id, p)
	e.room.wakeAll(ref)
	return err
}

func (e *Engine) closeOnce(ctx context.Context, scope TicketScope, id string, p *Policy) error {
	ref, held, err := e.store.KeepClose(ctx, scope, id, p.keep())
	if err != nil || !held {
		return err
	}
	_, err = e.closeTicket(ctx, ref, id, p)
	e.room.wakeAll(ref)
	return err
}

// closeLater goes on for as long as settleLater does, and for the same reason:
// most who tell of a close tell it once.
func (e *Engine) closeLater(scope TicketScope, id string, p *Policy) {
	until := time.Now().Add(lateFor)
	for pause := latePause; ; pause = min(2*pause, longestLate) {
		last := !e.sleep(pause) || time.Now().After(until)
		ctx, cancel := settling(context.Background())
		err := e.closeOnce(ctx, scope, id, p)
		cancel()
		if err == nil || last {
			return
		}
	}
}

// closeTicket writes a close over the record that holds the ticket, and
// returns the record then.
func (e *Engine) closeTicket(ctx context.Context, ref Ref, ticket string, p *Policy) (Record, error) {
	for range maxRounds {
		found, err := e.store.Get(ctx, ref)
		if err != nil {
			return Record{}, err
		}
		next := CloseTicket(found.Record, ticket, p, found.Now)
		if next == nil {
			return found.Record, nil
		}
		written, err := e.swap(ctx, ref, found.Record.Version, *next)
		if !errors.Is(err, ErrConflict) {
			return written, err
		}
	}
	return Record{}, ErrConflict
}
