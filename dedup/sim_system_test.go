package dedup_test

import (
	"slices"
	"strings"

	"oneticket/dedup"
)

// take is the moment at which the ticket system does what was sent to it.
func (w *world) take(i int) {
	q := &w.reqs[i]
	if q.net == updFlying {
		w.takeUpdate(i)
		return
	}
	s := w.cfg.system
	k := slices.IndexFunc(w.tickets, func(t ticket) bool {
		return t.token == q.send.Token && (s.memory == dedup.Remembers || s.memory == dedup.Folds && t.open)
	})
	o := dedup.Outcome{Kind: dedup.OutcomeCreated}
	switch {
	case k < 0:
		k = w.newTicket(i)
		o.New = s.marks
	case s.memory == dedup.Remembers && s.marks:
		o.Kind = dedup.OutcomeRemembered
	}
	o.Ticket = dedup.Ticket{ID: ticketNames[k]}
	if !q.live() { // nobody sees the answer
		q.net = quiet
		return
	}
	q.net, q.ticket, q.outcome = done, k, o
}

func (w *world) newTicket(i int) int {
	q := &w.reqs[i]
	excuse := w.checkNewTicket(i)
	w.tickets = append(w.tickets, ticket{
		open: true, applied: q.sev, severity: q.sev, token: q.send.Token, episode: q.send.Episode, created: w.now, excuse: excuse,
	})
	w.somethingOpened()
	return len(w.tickets) - 1
}

func (w *world) somethingOpened() {
	for i := range w.reqs {
		if p := w.reqs[i].phase; p != idle && p != ended {
			w.reqs[i].saw = true
		}
	}
}

// takeUpdate applies an update to its ticket, or answers why not.
func (w *world) takeUpdate(i int) {
	q := &w.reqs[i]
	k := ticketNumber(q.change.Ticket.ID)
	q.net, q.ticket = updDone, k
	t := &w.tickets[k]
	kind := dedup.UpdateApplied
	switch {
	case q.sev == "C":
		if t.open && q.met != 0 && q.met < q.change.Episode {
			w.fail("a clear closes its own episode", "a clear that came in episode %d closes the ticket of episode %d", q.met, q.change.Episode)
		}
		t.open, t.silent = false, false
	case t.open:
		t.apply(q.sev)
	case t.byPerson && w.cfg.onClosed == answersGone:
		kind = dedup.UpdateGone
	case q.reason == dedup.Reopened:
		t.open, t.silent, t.byPerson = true, false, false
		t.apply(q.sev)
		w.webhooks = slices.DeleteFunc(slices.Clone(w.webhooks), func(o int) bool { return o == k }) // the close is history
		w.somethingOpened()
	case w.cfg.onClosed == accepts:
		t.apply(q.sev)
	case w.cfg.onClosed == answersGone:
		kind = dedup.UpdateGone
	default:
		kind = dedup.UpdateRefused
	}
	if !q.live() {
		q.net = quiet
		return
	}
	q.updated = dedup.UpdateOutcome{Kind: kind}
}

func (t *ticket) apply(severity string) {
	t.severity = severity
	if !strings.Contains(t.applied, severity) {
		t.applied += severity
	}
}

// lookUp asks the ticket system for the tickets with a token.
func (w *world) lookUp(token string) dedup.LookUpResult {
	s := w.cfg.system
	if s.noRight {
		return dedup.LookUpResult{}
	}
	result := dedup.LookUpResult{Answered: true}
	for k, t := range w.tickets {
		if t.token == token && w.now >= t.created+s.lag {
			result.Tickets = append(result.Tickets, dedup.FoundTicket{Ticket: dedup.Ticket{ID: ticketNames[k]}, Open: t.open, Created: at(t.created)})
		}
	}
	return result
}

// readTicket reads a ticket by its id.
func (w *world) readTicket(k int) dedup.ReadResult {
	switch {
	case k < 0 || !w.cfg.system.read || w.cfg.system.noRight:
		return dedup.ReadResult{}
	case !w.tickets[k].open && w.tickets[k].byPerson && w.cfg.onClosed == answersGone:
		return dedup.ReadResult{Answered: true, Gone: true}
	default:
		return dedup.ReadResult{Answered: true, Open: w.tickets[k].open}
	}
}

// personCloses: nobody tells us, or a webhook does later.
func (w *world) personCloses(k int) {
	t := &w.tickets[k]
	t.open, t.silent, t.byPerson, t.closedAt = false, true, true, w.now
	if w.cfg.webhook {
		w.webhooks = append(slices.Clone(w.webhooks), k)
	}
}

// crash ends a replica: its requests get an error, what they sent goes on.
func (w *world) crash(replica int) {
	for i := range w.reqs {
		q := &w.reqs[i]
		if q.replica != replica || q.phase == idle || q.phase == ended {
			continue
		}
		if q.live() {
			q.until = q.sentAt + exchange + settle - 1 - w.cfg.system.lag
		}
		q.neverLate = false
		q.end(failed)
	}
}

// live reports whether the caller of an exchange waits for its answer.
func (q *request) live() bool { return q.phase == sent || q.phase == updSent }

func (q *request) underWay() bool { return q.net == flying || q.net == updFlying }
