package dedup_test

import "oneticket/dedup"

// mostHeals bounds how often one request is sent again.
const mostHeals = 2

// lostOrFailed: the outcome is written, and there is no ticket for all we know.
// Where the backend folds the create is sent again, while the client waits and
// when it has gone, as Hold.Heal and Hold.Follow do.
func (w *world) lostOrFailed(i int) {
	q := &w.reqs[i]
	unknown := q.outcome.Kind == dedup.OutcomeUnknown && q.phase != updSettling && q.phase != updSettleAgain
	if !q.heals && unknown && !q.neverLate && w.cfg.system.memory == dedup.Folds {
		q.heals, q.first = true, q.send
	}
	w.healsOrFails(i)
}

// healsOrFails goes on with what is sent again, as long as it is tried.
func (w *world) healsOrFails(i int) {
	q := &w.reqs[i]
	if !q.heals || q.tries >= mostHeals {
		q.end(failed)
		return
	}
	q.phase = healing
}

// stepHeal is the look at the record before one more try.
func (w *world) stepHeal(i int) {
	q := &w.reqs[i]
	q.tries++
	switch rec := w.rec; {
	case rec.State == dedup.Open && rec.Episode == q.first.Episode:
		w.healed(i)
	case w.overtaken(q.first, dedup.Found{Record: rec, Now: w.clock()}):
		q.end(failed)
	default:
		w.again(i)
	}
}

// actAgain does what a decision asks for of a request that is sent again, where
// that is another thing than of a new one.
func (w *world) actAgain(i int) bool {
	q := &w.reqs[i]
	switch q.decision.Kind {
	case dedup.Wait, dedup.Busy:
		w.healsOrFails(i)
	case dedup.Suppress:
		w.healed(i)
	case dedup.Pass:
		q.end(failed)
	case dedup.Create:
		if w.unowed(q.rec) {
			q.tries = mostHeals
			q.send = dedup.Send{Holder: q.holder, Episode: q.rec.Episode, Token: q.rec.Token, Fingerprint: q.fingerprint(), Reason: q.reason}
			q.released, q.phase, q.outcome = true, settling, dedup.Outcome{Kind: dedup.OutcomeNeverSent}
			return true
		}
		w.checkOwed(i)
		return false
	default:
		return false
	}
	return true
}

// healed: the client is told of the ticket, if it is open and has the token.
func (w *world) healed(i int) {
	q := &w.reqs[i]
	if rec := w.rec; rec.State != dedup.Open || rec.Token != q.first.Token {
		q.end(failed)
		return
	}
	w.succeed(i, false)
}

// isOver: a clear was told that the fault is over; of which episode, it knew when
// it decided.
func (w *world) isOver(c *request) {
	of := c.rec.Episode
	switch {
	case c.sev != "C":
		return
	case c.phase == updSettling || c.phase == updSettleAgain:
		of = c.change.Episode
	case c.met != 0:
		of = min(of, c.met)
	}
	for i := range w.reqs {
		q := &w.reqs[i]
		q.over = q.over || q.heals && q.first.Episode <= of
	}
}

// comesAgain: the fault, after a clear; also by a request that has waited since
// before that.
func (w *world) comesAgain(c *request) {
	for i := range w.reqs {
		q := &w.reqs[i]
		q.over = q.over && c.sev == "C"
	}
}

// checkOwed: what a clear has ended is not sent again, unless the fault came
// again after that.
func (w *world) checkOwed(i int) {
	if w.reqs[i].over {
		w.fail("a clear is not undone", "q%d is sent again although its fault was cleared since its answer was lost", i)
	}
}
