package dedup_test

import "oneticket/dedup"

// stepSettle judges the outcome and writes it; on a conflict the record is
// read and judged again in the next step.
func (w *world) stepSettle(i int, lost bool) {
	q := &w.reqs[i]
	if q.stale {
		q.rec, q.stale = w.rec, false
	}
	q.settled = w.judge(q)
	if q.settled.Next == nil {
		w.finish(i)
		return
	}
	q.nonces++
	written, ok := w.swap(q.rec.Version, *q.settled.Next, w.nonceOf(i))
	switch {
	case lost && q.phase == updSettling:
		q.phase = updSettleAgain
	case lost:
		q.phase = settleAgain
	case !ok:
		q.stale = true
	default:
		q.rec = written
		w.finish(i)
	}
}

// stepSettleAgain repeats a Swap whose reply was lost.
func (w *world) stepSettleAgain(i int) {
	q := &w.reqs[i]
	written, ok := w.swap(q.rec.Version, *q.settled.Next, w.nonceOf(i))
	if ok {
		q.rec = written
		w.finish(i)
		return
	}
	q.stale = true
	switch {
	case q.phase == updSettleAgain:
		q.phase = updSettling
	case q.outcome.Kind == dedup.OutcomeRemembered && w.cfg.system.read:
		q.phase = rememberTold
	default:
		q.phase = settling
	}
}

func (w *world) judge(q *request) dedup.Settlement {
	rec, now, p := q.rec, w.clock(), w.policy()
	if rec.State == dedup.Claimed && rec.Holder == q.holder {
		rec.Sent = rec.Sent || q.marked
	}
	switch q.phase {
	case updSettling:
		return w.settleUpdate(rec, q.change, q.updated, p, now)
	case rememberTold:
		return w.afterRememberedRead(rec, q.send, q.outcome, q.read, p, now)
	default:
		return w.settle(rec, q.send, q.outcome, p, now)
	}
}

// finish: the outcome is written, or there was nothing to write.
func (w *world) finish(i int) {
	q := &w.reqs[i]
	st := q.settled
	update := q.phase == updSettling || q.phase == updSettleAgain
	if !update && (q.outcome.Kind == dedup.OutcomeCreated || q.outcome.Kind == dedup.OutcomeRemembered) {
		w.tickets[q.ticket].answered = true
		if st.Success && q.retries() && w.rec.State == dedup.Closed && w.rec.Ticket == q.outcome.Ticket {
			st.Success = w.settle(w.rec, q.send, q.outcome, w.policy(), w.clock()).Success // a kept close was met
		}
	}
	w.report(st.Duplicates, "")
	switch {
	case st.Read:
		q.phase = rememberAsk
	case st.Failed:
		w.decided(i, w.escalate(q.rec, w.claimOf(q), w.clock()))
	case q.heals && q.released:
		w.healsOrFails(i)
	case q.released, st.Again:
		w.goOn(i)
	case q.heals && update: // a request of the client came first
		q.end(failed)
	case q.heals && st.Success:
		w.healed(i)
	case st.Success:
		w.succeed(i, false)
	default:
		w.lostOrFailed(i)
	}
}

// goOn decides again, if there is somebody to do it for.
func (w *world) goOn(i int) {
	if q := &w.reqs[i]; q.client != inLine && !q.heals {
		q.phase = ended
		return
	}
	w.again(i)
}

func (w *world) report(duplicates []dedup.Ticket, token string) {
	for _, t := range duplicates {
		if k := ticketNumber(t.ID); k >= 0 {
			w.tickets[k].reported = true
		}
	}
	if token != "" {
		w.uncertain = append(w.uncertain, token)
	}
}

// givenUp: a clear passed although a create of unknown outcome may have made a
// ticket: it is in the dead letters, and nobody can close it.
func (w *world) givenUp(token string) {
	for k := range w.tickets {
		if w.tickets[k].open && w.tickets[k].token == token {
			w.tickets[k].excuse = doubtExcuse
		}
	}
}

// succeed gives the client a success; from a Suppress when told so.
func (w *world) succeed(i int, suppressed bool) {
	q := &w.reqs[i]
	w.isOver(q)
	if q.client == inLine && q.sev != "C" && !q.saw && !w.swallowed(q, suppressed) {
		w.fail("a success is true", "q%d(%s) was told success (%s) and no ticket was open at any moment since it came", i, q.sev, q.reason)
	}
	q.end(succeeded)
}

// swallowed: a person closed the ticket and nobody has told us; a re-fire is
// swallowed until the ticket is read again (or max_age, which is longer than
// any schedule).
func (w *world) swallowed(q *request, suppressed bool) bool {
	strict := suppressed && w.policy().VerifyEvery > 0 && !q.unread && !w.cfg.system.noRight && q.reason != dedup.Recovered
	for _, t := range w.tickets {
		if t.silent && (!strict || q.seenAt < t.closedAt+verify+lease) { // an answer is a check as old as its lease at most
			return true
		}
	}
	return false
}
