package failover

import (
	"context"
	"time"

	"oneticket/dedup"
)

// applyLate writes an outcome of the journal as the late answer that it is. It
// returns when to try again; 0 is that it is written.
func (s *Store) applyLate(ctx context.Context, e item) (time.Duration, error) {
	late, err := lateOf(e.rec.Identity)
	if err != nil {
		s.o.Log.Error("an outcome in the journal is damaged, and dropped", "error", err)
		return 0, s.drop(ctx, e)
	}
	if wait, err := s.late(ctx, late); err != nil || wait > 0 {
		return wait, err
	}
	if err := s.drop(ctx, e); err != nil {
		return 0, err
	}
	s.pending.remove(late.Ref)
	return 0, nil
}

func (s *Store) late(ctx context.Context, late dedup.Late) (time.Duration, error) {
	var st dedup.Settlement
	var own string
	apart := false
	err := s.overShared(ctx, late.Ref, func(found dedup.Found) (*dedup.Record, error) {
		rec := found.Record
		send, known := sendIn(rec, late)
		if apart = !known; apart {
			return nil, nil
		}
		st = dedup.Settle(rec, send, late.Outcome, &late.Policy, found.Now)
		if st.Read {
			st = dedup.AfterRememberedRead(rec, send, late.Outcome, s.asIs(ctx, late), &late.Policy, found.Now)
		}
		own = rec.Ticket.ID
		if st.Next != nil {
			own = st.Next.Ticket.ID
		}
		return st.Next, nil
	})
	switch {
	case err != nil:
		return 0, err
	case apart:
		return s.lateApart(ctx, late)
	}
	for _, t := range st.Duplicates {
		e := entryOf(late.Ref, dedup.Record{Identity: identityOf(late)})
		e.Result, e.Ticket, e.Location, e.Beside = dedup.Double, t.ID, t.Location, own
		if err := s.keepEntry(ctx, e, late.Send.Holder); err != nil {
			return 0, err
		}
	}
	if own != "" && own == late.Outcome.Ticket.ID { // also if it was written before, and not indexed
		return 0, s.index(ctx, late.Ref, late.Scope, own, &late.Policy)
	}
	return 0, nil
}

func identityOf(late dedup.Late) []byte {
	if late.Next == nil {
		return nil
	}
	return late.Next.Identity
}

// sendIn is the send as the shared record knows it. Of a claim whose reply was
// lost only the holder is known; one of the embedded store may have been moved.
func sendIn(rec dedup.Record, late dedup.Late) (dedup.Send, bool) {
	send := late.Send
	ours := rec.State == dedup.Claimed && !rec.Looking && rec.Holder == send.Holder
	for _, a := range rec.Attempts {
		ours = ours || a.Holder == send.Holder
	}
	switch {
	case send.Episode == 0 && !late.Provisional, late.Provisional && ours:
		send.Episode, send.Token = rec.Episode, rec.Token
	case !late.Provisional && rec.Episode < send.Episode && rec.V <= dedup.Format: // the store has lost the claim
		return send, false
	case late.Provisional:
		return send, false
	}
	return send, true
}

// asIs asks what the ticket is that the backend remembers, unless that is known.
func (s *Store) asIs(ctx context.Context, late dedup.Late) dedup.ReadResult {
	if late.Read != nil {
		return *late.Read
	}
	if r := s.rule(late.Ref, dedup.Record{}); r.Ask != nil {
		return r.Ask.Read(ctx, late.Outcome.Ticket)
	}
	return dedup.ReadResult{}
}

// lateApart: a provisional create has ended after its record was reconciled, or
// the shared store has lost the claim. If it has made a ticket, that is reconciled as an open local record.
func (s *Store) lateApart(ctx context.Context, late dedup.Late) (time.Duration, error) {
	if late.Next == nil || late.Next.State != dedup.Open {
		return 0, nil
	}
	clock, err := s.local.Get(ctx, named(ownName, late.Ref))
	if err != nil {
		return 0, err
	}
	own := dedup.Found{Record: *late.Next, Now: clock.Now}
	own.Record.Provisional = true
	return s.reconcileRecord(ctx, late.Ref, own, late.Scope, late.Send.Holder, true)
}
