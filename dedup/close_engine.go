package dedup

import (
	"context"
	"errors"
	"time"
)

// A Closing is what became of the close of a ticket.
type Closing string

const (
	CloseWritten Closing = "closed"    // over the record that holds the ticket
	CloseKept    Closing = "kept"      // no record has the ticket: whoever writes it later writes closed
	CloseOld     Closing = "no_change" // the record that held the ticket is closed already, or has gone on without it
)

// CloseTicket writes the close of a ticket that somebody has seen: over the
// record that holds it, or, where none does yet, for whoever writes that ticket
// later. On an error it is tried again beside, for the time of an outage, and a
// last time when the engine is closed; of so many tickets at one time.
func (e *Engine) CloseTicket(ctx context.Context, scope TicketScope, id string, p *Policy) error {
	_, err := e.CloseNamed(ctx, scope, id, func(string) *Policy { return p })
	return err
}

// CloseNamed is CloseTicket for somebody who knows no more than the ticket, and
// says what became of it. policies is the policy of each rule; that of "" says
// for how long a close is kept that no record has.
func (e *Engine) CloseNamed(ctx context.Context, scope TicketScope, id string, policies func(rule string) *Policy) (Closing, error) {
	if id == "" {
		return CloseOld, nil
	}
	became, err := e.closeOnce(ctx, scope, id, policies)
	if err != nil {
		e.closeBeside(lateClose{scope, id}, policies)
	}
	return became, err
}

// A lateClose is one that the store did not take yet.
type lateClose struct {
	scope TicketScope
	id    string
}

// maxLateCloses bounds how many are tried again at one time: who tells of a
// close in an outage tells it again and again.
const maxLateCloses = 1 << 12

// closeBeside tries again beside the requests, each ticket once.
func (e *Engine) closeBeside(late lateClose, policies func(rule string) *Policy) {
	e.mu.Lock()
	_, tried := e.late[late]
	if !tried && (e.closed || len(e.late) >= maxLateCloses) {
		e.mu.Unlock()
		return
	}
	e.late[late] = time.Now().Add(lateFor)
	e.mu.Unlock()
	if !tried {
		e.aside(func() { e.closeLater(late, policies) })
	}
}

// lateIsOver lets go of it when it is done, or was tried for long enough.
func (e *Engine) lateIsOver(late lateClose, done bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	over := done || time.Now().After(e.late[late])
	if over {
		delete(e.late, late)
	}
	return over
}

// CloseHeld is CloseTicket where it is known which record held the ticket. What
// cannot be written there is written as any other close: in an outage the record
// may not be known here.
func (e *Engine) CloseHeld(ctx context.Context, scope TicketScope, ref Ref, id string, p *Policy) error {
	rec, _, err := e.closeTicket(ctx, ref, id, p)
	e.room.wakeAll(ref)
	if err == nil && rec.Ticket.ID == id {
		return nil
	}
	return e.CloseTicket(ctx, scope, id, p)
}

func (e *Engine) closeOnce(ctx context.Context, scope TicketScope, id string, policies func(rule string) *Policy) (Closing, error) {
	ref, held, err := e.store.KeepClose(ctx, scope, id, policies("").keep())
	switch {
	case err != nil:
		return "", err
	case !held:
		return CloseKept, nil
	}
	_, written, err := e.closeTicket(ctx, ref, id, policies(ref.Rule))
	e.room.wakeAll(ref)
	if !written {
		return CloseOld, err
	}
	return CloseWritten, err
}

// closeLater goes on for as long as settleLater does, and for the same reason:
// most who tell of a close tell it once.
func (e *Engine) closeLater(late lateClose, policies func(rule string) *Policy) {
	for pause := latePause; ; pause = min(2*pause, longestLate) {
		ended := !e.sleep(pause)
		ctx, cancel := settling(context.Background())
		_, err := e.closeOnce(ctx, late.scope, late.id, policies)
		cancel()
		if e.lateIsOver(late, err == nil || ended) {
			return
		}
	}
}

// closeTicket writes a close over the record that holds the ticket, and
// returns the record then, and whether that was to be written.
func (e *Engine) closeTicket(ctx context.Context, ref Ref, ticket string, p *Policy) (Record, bool, error) {
	for range maxRounds {
		found, err := e.store.Get(ctx, ref)
		if err != nil {
			return Record{}, false, err
		}
		next := CloseTicket(found.Record, ticket, p, found.Now)
		if next == nil {
			return found.Record, false, nil
		}
		written, err := e.swap(ctx, ref, found.Record.Version, *next)
		if !errors.Is(err, ErrConflict) {
			return written, err == nil, err
		}
	}
	return Record{}, false, ErrConflict
}
