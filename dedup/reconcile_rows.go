package dedup

import "slices"

// doubtful: a local create of unknown outcome.
func (r *reconciling) doubtful(local, shared Record) Reconciliation {
	settled := local.lastEnded().Add(r.p.Settle)
	switch {
	case len(local.Attempts) == 0:
		return done(Absent)
	case shared.hasSend(local): // moved before
		return done(InDoubt)
	case r.now.Before(settled):
		return waitFor(settled)
	case r.canAsk() && r.asked.Local == nil:
		return Reconciliation{Step: ReconcileLookUpLocal}
	case r.canAsk() && r.asked.Local.Answered:
		return r.found(local, shared)
	case shared.State == None:
		rec := done(InDoubt)
		next := r.moved(local, shared)
		rec.Next = &next
		return rec
	default:
		rec := done(MaybeDouble)
		rec.Uncertain = tokens(local, shared)
		if len(rec.Uncertain) == 0 { // the shared record speaks of the same token
			rec.Result = InDoubt
		}
		return rec
	}
}

// found goes on with what the look-up of the local token has found.
func (r *reconciling) found(local, shared Record) Reconciliation {
	found := ofThisEpisode(local, r.asked.Local.Tickets)
	open := onlyOpen(found)
	switch {
	case len(open) > 0:
		fp := sentFingerprint(local.Attempts)
		local.Attempts = nil
		local.Response = open[0].Response
		local.AnsweredAt = r.now
		rec := r.open(r.p.opened(local, open[0].Ticket, fp, r.now), shared)
		if rec.Step == ReconcileDone {
			rec.Tickets = append(rec.Tickets, others(open, rec.own(shared), open[0].Ticket.ID)...)
		}
		return rec
	case len(found) > 0:
		local.Attempts = nil
		local.Ticket = found[0].Ticket
		return r.closed(r.p.closedAt(local, r.now), shared)
	default:
		return done(Absent)
	}
}

// open: there is a ticket of the local record.
func (r *reconciling) open(local, shared Record) Reconciliation {
	same := shared.Ticket.ID == local.Ticket.ID && local.Ticket.ID != ""
	if u := shared.Update; u != nil && shared.State == Closed {
		if r.now.Before(u.LeaseUntil) {
			return waitFor(u.LeaseUntil)
		}
		shared = r.p.updateLapsed(shared, r.now)
	}
	if !same && local.passed(shared) {
		return done(Dropped)
	}
	switch shared.State {
	case None:
		return r.takeOver(local, shared)
	case Closed:
		return r.overClosed(local, shared, same)
	case Open:
		return r.overOpen(local, shared, same)
	case Claimed:
		if r.now.Before(shared.LeaseUntil) {
			return waitFor(shared.LeaseUntil)
		}
		return r.overDoubt(local, r.p.lapsed(shared))
	default:
		return r.overDoubt(local, shared)
	}
}

// passed reports whether the record is what was known of the shared one before
// the outage, and that has gone on without it since. What was seen open here
// after that is news.
func (r *Record) passed(shared Record) bool {
	further := shared.Episode > r.Episode || shared.Episode == r.Episode && shared.Token != r.Token
	return !r.Provisional && further && !r.OpenedAt.After(latest(shared.ClaimedAt, shared.ClosedAt))
}

func (r *reconciling) overClosed(local, shared Record, same bool) Reconciliation {
	switch {
	case same && (shared.Gone || !local.OpenedAt.After(shared.ClosedAt)):
		return done(Over) // closed by somebody whom the outage kept from telling us
	case len(shared.Attempts) > 0 && !same:
		return r.overDoubt(local, shared)
	}
	rec := r.takeOver(local, shared)
	if shared.InDoubt && !same && shared.Ticket.ID != "" {
		rec.Tickets = append(rec.Tickets, shared.Ticket)
	}
	return rec
}

func (r *reconciling) overOpen(local, shared Record, same bool) Reconciliation {
	unnamed := local.Ticket.ID == "" && shared.Ticket.ID == ""
	switch {
	case same:
		return r.merge(local, shared)
	case !r.now.Before(shared.ExpiresAt):
		return r.takeOver(local, shared)
	case unnamed && local.Token == shared.Token:
		return r.merge(local, shared)
	}
	rec := done(Double)
	if local.Ticket.ID != "" {
		rec.Tickets = []Ticket{local.Ticket}
	}
	if local.Ticket.ID == "" || len(local.Attempts) > 0 {
		rec.Uncertain = tokens(local, shared)
	}
	return rec
}

// overDoubt: before a ticket takes the place of a create of unknown outcome, the
// other's token is looked up.
func (r *reconciling) overDoubt(local, shared Record) Reconciliation {
	settled := shared.lastEnded().Add(r.p.Settle)
	switch {
	case len(shared.Attempts) == 0:
		return r.takeOver(local, shared)
	case r.now.Before(settled):
		return waitFor(settled)
	case r.canAsk() && r.asked.Shared == nil:
		return Reconciliation{Step: ReconcileLookUpShared}
	case r.canAsk() && r.asked.Shared.Answered:
		return r.sharedFound(local, shared)
	}
	rec := r.takeOver(local, shared)
	if shared.Token != local.Token || r.p.Memory == NoMemory {
		rec.Uncertain = append(rec.Uncertain, shared.Token)
	}
	return rec
}

// sharedFound goes on with what the look-up of the shared token has found.
func (r *reconciling) sharedFound(local, shared Record) Reconciliation {
	open := onlyOpen(ofThisEpisode(shared, r.asked.Shared.Tickets))
	if len(open) == 0 {
		return r.takeOver(local, shared)
	}
	if slices.ContainsFunc(open, func(t FoundTicket) bool { return t.Ticket.ID == local.Ticket.ID }) {
		rec := r.takeOver(local, shared)
		rec.Tickets = others(open, local.Ticket.ID)
		return rec
	}
	fp := sentFingerprint(shared.Attempts)
	if shared.State == Closed {
		fp = Unknown // it may be the ticket that was thought closed
	}
	next := shared.clone()
	next.Attempts = nil
	next.Response = open[0].Response
	next.AnsweredAt = r.now
	next = r.p.opened(next, open[0].Ticket, fp, r.now)
	rec := done(Double)
	rec.Next = &next
	rec.Tickets = append([]Ticket{local.Ticket}, others(open, open[0].Ticket.ID)...)
	if local.Ticket.ID == "" {
		rec.Tickets, rec.Uncertain = rec.Tickets[1:], tokens(local, shared)
	}
	return rec
}

// takeOver makes the local record the shared one's next episode.
func (r *reconciling) takeOver(local, shared Record) Reconciliation {
	rec := done(TakenOver)
	next := r.moved(local, shared)
	rec.Next = &next
	return rec
}

// moved is the local record in the place of the shared one. Its episode is never
// less than any that has made a token of the key.
func (r *reconciling) moved(local, shared Record) Record {
	next := local.clone()
	next.V, next.Version, next.Episode = Format, shared.Version, max(shared.Episode+1, local.Episode)
	next.Provisional, next.Observed, next.Owed, next.Prior = false, false, false, nil
	next.SentAt = latest(local.SentAt, shared.SentAt)
	next.KeepUntil = latest(local.KeepUntil, shared.KeepUntil)
	return r.p.settled(next, r.now)
}

// merge: both know the same ticket. What only one of them knows is added; where
// they differ on what it says, nobody knows.
func (r *reconciling) merge(local, shared Record) Reconciliation {
	rec := done(SameTicket)
	next, changed := shared.clone(), false
	if local.Fingerprint != shared.Fingerprint && shared.Fingerprint.Known() {
		next.Fingerprint, changed = Unknown, true
		next.LandsUntil = latest(next.LandsUntil, r.now) // an update that is under way was sent before
	}
	if lands := latest(shared.LandsUntil, local.LandsUntil); lands.After(shared.LandsUntil) && lands.After(r.now) {
		next.LandsUntil, changed = lands, true
	}
	for _, of := range local.Principals {
		if b := (Bearer{Principal: of}); !shared.Knows(b) {
			next, changed = b.joins(next, r.now), true
		}
	}
	for _, a := range local.Credentials {
		if b := (Bearer{Credential: a.Hash}); a.At.After(shared.AcceptedAt(b)) {
			next, changed = b.joins(next, a.At), true
		}
	}
	if shared.Response == nil && local.Response != nil {
		next.Response, changed = local.Response, true
	}
	if local.ExpiresAt.After(next.ExpiresAt) {
		next.ExpiresAt, changed = local.ExpiresAt, true
	}
	if local.OpenedAt.After(next.OpenedAt) || local.VerifiedAt.After(next.VerifiedAt) {
		next.OpenedAt, next.VerifiedAt = latest(next.OpenedAt, local.OpenedAt), latest(next.VerifiedAt, local.VerifiedAt)
		changed = true
	}
	rec.Uncertain = attemptTokens(local, shared)
	if changed {
		next = r.p.settled(next, r.now)
		rec.Next = &next
	}
	return rec
}

// closed: the local episode is over. Its close goes on; what is left of it that
// nobody can tell is reported.
func (r *reconciling) closed(local, shared Record) Reconciliation {
	rec := done(Over)
	rec.Uncertain = attemptTokens(local, shared)
	same := shared.Ticket.ID == local.Ticket.ID && local.Ticket.ID != ""
	switch {
	case same && shared.State == Open && shared.OpenedAt.After(local.ClosedAt): // seen open since
	case same && shared.State == Open && local.InDoubt:
		next := r.p.closedInDoubt(shared.clone(), local.LandsUntil, r.now)
		rec.Next = &next
	case same:
		rec.Next = CloseTicket(shared, local.Ticket.ID, r.p, r.now)
	case local.InDoubt && shared.State == None:
		next := r.moved(local, shared)
		rec.Next = &next
	case local.InDoubt && local.Ticket.ID != "" && (local.Provisional || shared.Episode <= local.Episode):
		rec.Tickets = []Ticket{local.Ticket}
	default:
		rec.Close = local.Ticket.ID
	}
	return rec
}
