package dedup_test

import "oneticket/dedup"

// stepSend is the fence, and the exchange's beginning.
func (w *world) stepSend(i int) {
	q := &w.reqs[i]
	ready := w.ready(w.now-q.before, exchange, lease)
	switch {
	case !ready && q.phase == sending:
		q.released, q.phase, q.outcome = true, settling, dedup.Outcome{Kind: dedup.OutcomeNeverSent}
	case !ready:
		q.released, q.phase, q.updated = true, updSettling, dedup.UpdateOutcome{Kind: dedup.UpdateNotSent}
	case q.phase == sending:
		q.phase, q.net, q.sentAt = sent, flying, w.now
		w.mark(i, true)
	default:
		w.checkOneUpdate(i)
		q.phase, q.net, q.sentAt = updSent, updFlying, w.now
	}
}

// mark is Hold.MarkSent; the store may not have got it.
func (w *world) mark(i int, stored bool) {
	q := &w.reqs[i]
	q.marked = true
	if stored && w.rec.State == dedup.Claimed && w.rec.Holder == q.holder {
		w.rec.Sent = true
	}
}

// stepAnswer: the answer of the ticket system has come.
func (w *world) stepAnswer(i int) {
	q := &w.reqs[i]
	if q.phase == updSent {
		if q.updated.Kind == dedup.UpdateRefused {
			q.updated.Ticket = w.readTicket(q.ticket)
		}
		q.phase, q.net = updSettling, quiet
		return
	}
	switch q.net {
	case refused:
		q.outcome = dedup.Outcome{Kind: dedup.OutcomeRefused}
	case unsent:
		q.outcome = dedup.Outcome{Kind: dedup.OutcomeNeverSent}
	}
	q.phase, q.net = settling, quiet
}

// leave ends what the caller sees of an exchange, without an outcome. What is
// under way goes on for as long as settle grants.
func (w *world) leave(i int, end int) {
	q := &w.reqs[i]
	if q.net == flying || q.net == updFlying {
		q.until = end + settle - 1 - w.cfg.system.lag
	} else {
		q.net = quiet
	}
	if q.phase == updSent {
		q.phase, q.updated = updSettling, dedup.UpdateOutcome{Kind: dedup.UpdateUnknown}
		return
	}
	q.phase, q.outcome = settling, dedup.Outcome{Kind: dedup.OutcomeUnknown}
}

func (q *request) end(c client) {
	if q.client == inLine {
		q.client = c
	}
	q.phase = ended
	if q.neverLate {
		q.phase = logPending
	}
}
