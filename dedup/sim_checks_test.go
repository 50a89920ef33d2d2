package dedup_test

import (
	"fmt"
	"strings"

	"oneticket/dedup"
)

// fail notes the first promise that did not hold.
func (w *world) fail(promise, format string, args ...any) {
	if w.broken == "" {
		w.broken = promise + ": " + fmt.Sprintf(format, args...)
	}
}

// checkWrite: what every write of the record must keep.
func (w *world) checkWrite(next dedup.Record) {
	if next.Version <= w.rec.Version {
		w.fail("the version never goes back", "%d after %d", next.Version, w.rec.Version)
	}
	back := w.rec.Prior != nil && next.Episode == w.rec.Prior.Episode
	if next.Episode < w.rec.Episode && !back {
		w.fail("the episode never goes back", "%d after %d", next.Episode, w.rec.Episode)
	}
	if next.Prior != nil && next.Prior.Prior != nil {
		w.fail("a prior has no prior", "%+v", next)
	}
	if k := ticketNumber(next.Ticket.ID); next.State == dedup.Open && k >= 0 && next.Fingerprint.Known() {
		if fp := next.Fingerprint; !fp.Cleared && !strings.Contains(w.tickets[k].applied, fp.Severity) {
			w.fail("a fingerprint was applied", "the record says %s, the ticket system never applied it", fp.Severity)
		}
	}
}

// answerHadCome reports whether a ticket of the record's episode is open whose
// answer had reached us.
func (w *world) answerHadCome(rec dedup.Record) bool {
	if w.cfg.system.memory != dedup.NoMemory {
		return false
	}
	for _, t := range w.tickets {
		if t.open && t.answered && t.episode == rec.Episode {
			return true
		}
	}
	return false
}

// checkNewTicket: no second open ticket, but the excused ones. It returns the
// new ticket's excuse.
func (w *world) checkNewTicket(i int) excuse {
	q := &w.reqs[i]
	if q.sev == "C" {
		w.fail("a clear never creates", "q%d", i)
	}
	if q.known {
		w.fail("no second ticket", "q%d (%s) made one although the answer to the first had come", i, q.reason)
	}
	var beside []*ticket
	for k := range w.tickets {
		t := &w.tickets[k]
		told := t.reported || t.episode < q.send.Episode && w.reportedToken(t.token)
		if t.open && !told {
			beside = append(beside, t)
		}
	}
	late := !w.canAsk() && q.send.Episode < w.rec.Episode
	if len(beside) == 0 {
		if q.doubted || late {
			return doubtExcuse
		}
		return noExcuse
	}
	excuse, excused := w.excuseOf(i, beside, late)
	if !excused {
		w.fail("no second ticket", "q%d (%s) made one while one is open", i, q.reason)
	}
	if excuse != noExcuse {
		for _, t := range beside {
			t.excuse = max(t.excuse, excuse)
		}
	}
	return excuse
}

// canAsk reports whether the ticket system can be asked for a token.
func (w *world) canAsk() bool { return w.cfg.system.lookUp && !w.cfg.system.noRight }

// excuseOf says why a ticket may be made beside open ones.
func (w *world) excuseOf(i int, beside []*ticket, late bool) (excuse, bool) {
	q := &w.reqs[i]
	if w.cfg.system.memory == dedup.Folds {
		return noExcuse, false // one key folds into one open ticket, whatever happens
	}
	allExpired := true
	for _, t := range beside {
		if t.excuse == doubtExcuse {
			return doubtExcuse, true
		}
		allExpired = allExpired && t.excuse == expiredExcuse
	}
	blind := !w.canAsk() && w.cfg.system.memory == dedup.NoMemory
	switch {
	case q.reason == dedup.Expired:
		return expiredExcuse, true
	case q.doubted, late, blind && (q.retries() || w.takenOver(i)):
		return doubtExcuse, true
	default:
		return noExcuse, allExpired
	}
}

// takenOver reports whether another request has since retried what this one sent.
func (w *world) takenOver(i int) bool {
	for j := range w.reqs {
		if q := &w.reqs[j]; j != i && q.retries() && q.creates > w.reqs[i].creates && q.send.Episode == w.reqs[i].send.Episode {
			return true
		}
	}
	return false
}

func (w *world) checkOneUpdate(i int) {
	for j := range w.reqs {
		q := &w.reqs[j]
		known := w.clock().Before(w.rec.LandsUntil) // by a record that was closed under it
		if j != i && q.phase == updSent && q.change.Ticket == w.reqs[i].change.Ticket && !known {
			w.fail("one update of a ticket at a time", "q%d and q%d", j, i)
		}
	}
}

// checkAtRest: what must hold when nothing is under way any more.
func (w *world) checkAtRest() {
	w.passBy()
	own := -1
	if w.rec.State == dedup.Open || w.rec.State == dedup.Closed {
		own = ticketNumber(w.rec.Ticket.ID)
	}
	w.checkOthers(own)
	w.checkRecord(own)
	for _, severity := range []string{"A", "B"} {
		if w.broken == "" {
			w.probe(severity)
		}
	}
}

// checkOthers: every open ticket but the record's own is excused or reported.
func (w *world) checkOthers(own int) {
	open := 0
	for _, t := range w.tickets {
		if t.open {
			open++
		}
	}
	pending := w.rec.State == dedup.Claimed || w.rec.State == dedup.Doubtful
	for k, t := range w.tickets {
		hidden := t.open && k != own && !t.reported && !w.reportedToken(t.token) && !(pending && t.token == w.rec.Token)
		switch {
		case hidden && t.excuse == noExcuse && open > 1:
			w.fail("every double is reported", "T%d is open beside another, in no record and not reported", k)
		case hidden && t.answered && !t.owned && t.excuse != expiredExcuse:
			w.fail("every double is reported", "the answer that names T%d came, and it is in no record and not reported", k)
		}
	}
}

func (w *world) reportedToken(token string) bool {
	for _, u := range w.uncertain {
		if u == token {
			return true
		}
	}
	return false
}

func (w *world) checkRecord(own int) {
	rec := w.rec
	if rec.State == dedup.Open && own >= 0 {
		t := w.tickets[own]
		if fp := rec.Fingerprint; t.open && rec.Update == nil && fp.Known() && fp.Severity != t.severity {
			w.fail("record and ticket agree at rest", "the record says %s, the ticket %s", fp.Severity, t.severity)
		}
		if t.open && t.reported {
			w.fail("every double is reported", "the ticket of the record itself, T%d, is reported as one", own)
		}
	}
	for _, t := range w.tickets {
		if t.token != "k" && w.cfg.system.memory != dedup.Folds && t.token > "k."+fmt.Sprint(rec.Episode) && rec.Episode < 10 {
			w.fail("the episode never goes back", "a ticket has the token %s, the record says episode %d", t.token, rec.Episode)
		}
	}
}

// passBy lets every lease, settle and landing go by, with nothing under way.
func (w *world) passBy() { w.now += lease + 2*settle }

// probe: faults stop, and one client retries; within four tries, with lease
// and settle between, it gets a success that is true.
func (w *world) probe(severity string) {
	p := w.clone()
	p.left = [faults]int8{}
	for try := range 4 {
		p.reqs = append(p.reqs, request{wanted: wanted{client: 100 + try, severity: severity}, sev: severity})
		p.finishAlone(len(p.reqs) - 1)
		w.steps += p.steps - w.steps
		if p.broken != "" {
			w.fail(p.broken, "at rest, next fire (%s)", severity)
			return
		}
		if p.reqs[len(p.reqs)-1].client == succeeded {
			return
		}
		p.passBy()
	}
	w.fail("a client that retries gets its ticket", "with %s it does not within lease and settle; the record is %s", severity, p.rec.State)
}

// finishAlone runs one request to its end without a fault.
func (w *world) finishAlone(i int) {
	w.do(action{arrive, i})
	for range 60 {
		switch q := &w.reqs[i]; {
		case q.phase == ended:
			return
		case q.phase == waiting && !w.wakes(i):
			w.do(action{giveUp, i})
		case q.underWay():
			w.do(action{taken, i})
		default:
			w.do(action{proceed, i})
		}
	}
}

// checkHeldBack: what got worse is told to the ticket, whatever the rate says.
func (w *world) checkHeldBack(q *request) {
	d := q.decision
	answered := d.Kind == dedup.Suppress && d.Reason == dedup.Changed || d.Kind == dedup.Busy && d.Paced
	if answered && (q.sev == "C" || q.sev == "B" && q.rec.Fingerprint.Severity == "A") {
		w.fail("an escalation is never held back", "q%s met the severity %s", q.sev, q.rec.Fingerprint.Severity)
	}
}
