package failover

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"oneticket/dedup"
)

// reconcileOne reconciles the own record of the ref, and drops it. It returns
// when to try again; 0 is that there is nothing left of it.
func (s *Store) reconcileOne(ctx context.Context, ref dedup.Ref, mayAsk bool) (time.Duration, error) {
	for range sharedRounds {
		own, err := s.local.Get(ctx, named(ownName, ref))
		if err != nil || !live(own.Record) {
			return 0, err
		}
		if !s.flights.isCopy(ref, own.Record) {
			cause := fmt.Sprint(own.Record.Episode, own.Record.Token)
			wait, err := s.reconcileRecord(ctx, ref, own, s.rule(ref, own.Record).Scope, cause, mayAsk)
			if err != nil || wait > 0 {
				return wait, err
			}
		}
		if err := s.drop(ctx, item{named(ownName, ref), own.Record}); err != nil {
			return 0, err
		}
		s.flights.dropped(ref)
		if own.Record.Provisional {
			s.provisional.Add(-1)
		}
	}
	return s.o.Again, nil
}

// reconcileRecord does what dedup.Reconcile says for one local record.
func (s *Store) reconcileRecord(ctx context.Context, ref dedup.Ref, own dedup.Found, scope dedup.TicketScope, cause string, mayAsk bool) (time.Duration, error) {
	rule, began := s.rule(ref, own.Record), time.Now()
	for range sharedRounds {
		shared, err := s.getShared(ctx, ref)
		if err != nil {
			return 0, err
		}
		local := own.Record.Shifted(shared.Now.Sub(own.Now.Add(time.Since(began))))
		r, now, wait := s.judge(ctx, ref, local, shared, rule, mayAsk)
		if wait > 0 {
			return wait, nil
		}
		if r.Next != nil {
			_, err := s.swapShared(ctx, ref, shared.Record.Version, *r.Next)
			if errors.Is(err, dedup.ErrConflict) {
				continue
			}
			if err != nil {
				return 0, err
			}
		}
		return 0, s.reconciled(ctx, ref, local, shared.Record, r, rule.Policy, scope, cause, now)
	}
	return s.o.Again, nil
}

// lookUpTries is how often a look-up that is not answered is tried before it
// counts as one that cannot be made.
const lookUpTries = 5

// judge asks dedup.Reconcile, and whom it asks for. It returns what is to be
// done, and at what time of the shared store's clock; or how long to wait.
func (s *Store) judge(ctx context.Context, ref dedup.Ref, local dedup.Record, shared dedup.Found, rule Rule, mayAsk bool) (dedup.Reconciliation, time.Time, time.Duration) {
	asked := dedup.Asked{Nobody: rule.Ask == nil}
	began := time.Now()
	for {
		now := shared.Now.Add(time.Since(began))
		r := dedup.Reconcile(local, shared.Record, asked, rule.Policy, now)
		token, into := local.Token, &asked.Local
		switch r.Step {
		case dedup.ReconcileDone:
			delete(s.asked, ref)
			return r, now, 0
		case dedup.ReconcileLookUpShared:
			token, into = shared.Record.Token, &asked.Shared
		case dedup.ReconcileWait:
			return r, now, s.until(r.Until, now)
		}
		if !mayAsk {
			return r, now, s.o.Pace
		}
		result := rule.Ask.LookUp(ctx, token)
		if !result.Answered && s.asked[ref] < lookUpTries {
			s.asked[ref]++
			return r, now, s.o.Again
		}
		*into = &result
	}
}

// until is how long to wait; where that is not known, as long as usual.
func (s *Store) until(t, now time.Time) time.Duration {
	if t.IsZero() {
		return s.o.Again
	}
	return max(t.Sub(now), s.o.Pace)
}

// reconciled does what follows the write: each step can be done again.
func (s *Store) reconciled(ctx context.Context, ref dedup.Ref, local, shared dedup.Record, r dedup.Reconciliation, p *dedup.Policy, scope dedup.TicketScope, cause string, now time.Time) error {
	own := shared
	if r.Next != nil {
		own = *r.Next
	}
	if own.State == dedup.Open && own.Ticket.ID != "" { // also if it was written before
		if err := s.index(ctx, ref, scope, own.Ticket.ID, p); err != nil {
			return err
		}
	}
	if r.Close != "" {
		if err := s.handOver(ctx, closeForm{scope, r.Close, max(p.Remember, time.Hour)}); err != nil {
			return err
		}
	}
	for _, e := range entriesOf(ref, local, own, r) {
		e.At = now
		if err := s.keepEntry(ctx, e, cause); err != nil {
			return err
		}
	}
	return nil
}

// entriesOf is what is told of a reconciled record: nothing of one that was
// known before the outage and has only been asked for.
func entriesOf(ref dedup.Ref, local, own dedup.Record, r dedup.Reconciliation) []Entry {
	var all []Entry
	add := func(result dedup.Reconciled, ticket dedup.Ticket, token string) {
		e := entryOf(ref, local)
		e.Result, e.Ticket, e.Location, e.Token = result, ticket.ID, ticket.Location, token
		if own.Ticket.ID != ticket.ID {
			e.Beside = own.Ticket.ID
		}
		all = append(all, e)
	}
	beside := r.Result == dedup.Double || r.Result == dedup.MaybeDouble
	if local.Provisional && !beside {
		ticket, token := local.Ticket, ""
		if r.Result == dedup.TakenOver || r.Result == dedup.SameTicket {
			ticket = own.Ticket
		}
		if ticket.ID == "" {
			ticket.ID = r.Close // it was found closed
		}
		if ticket.ID == "" {
			token = local.Token
		}
		add(r.Result, ticket, token)
	}
	for _, t := range r.Tickets {
		add(dedup.Double, t, "")
	}
	for _, token := range r.Uncertain {
		add(dedup.MaybeDouble, dedup.Ticket{}, token)
	}
	return all
}

func entryOf(ref dedup.Ref, rec dedup.Record) Entry {
	return Entry{Rule: ref.Rule, Scope: ref.Scope, Key: ref.Key, Identity: string(rec.Identity), Opened: rec.ClaimedAt, Episode: rec.Episode}
}

// index tells the shared store which record holds the ticket; a close that came
// before is written now.
func (s *Store) index(ctx context.Context, ref dedup.Ref, scope dedup.TicketScope, id string, p *dedup.Policy) error {
	if id == "" {
		return nil
	}
	var closed bool
	err := s.call(ctx, func(ctx context.Context) (err error) {
		closed, err = s.shared.Ticket(ctx, scope, id, ref, p.KeepTicket())
		return err
	})
	if err != nil || !closed {
		return err
	}
	return s.closeShared(ctx, ref, id)
}

func (s *Store) getShared(ctx context.Context, ref dedup.Ref) (found dedup.Found, err error) {
	err = s.read(ctx, func(ctx context.Context) (err error) {
		found, err = s.shared.Get(ctx, ref)
		return err
	})
	if err == nil {
		s.mirror.saw(ref, found)
	}
	return found, err
}

func (s *Store) swapShared(ctx context.Context, ref dedup.Ref, seen int64, next dedup.Record) (written dedup.Record, err error) {
	err = s.call(ctx, func(ctx context.Context) (err error) {
		written, err = s.shared.Swap(ctx, ref, seen, next, rand.Text())
		return err
	})
	if err == nil {
		s.mirror.wrote(ref, written)
	}
	return written, err
}
