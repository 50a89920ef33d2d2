package dedup_test

import (
	"fmt"

	"oneticket/dedup"
)

// An action is one step of a schedule: of a request, a ticket, a replica, or
// of time.
type action struct {
	kind actionKind
	of   int
}

type actionKind uint8

const (
	arrive       actionKind = iota // at replica R0
	arriveOther                    // at replica R1
	proceed                        // the request's own next step
	proceedLost                    // the same, and the store's reply is lost
	taken                          // the ticket system does what was sent
	isRefused                      // the ticket system refuses the create
	isNever                        // the proxy cannot send the create
	isUnseen                       // ... and that shows in the access log only
	isUnmarked                     // sent, and the mark is lost
	updateFails                    // the update answers 5xx
	updateForbid                   // the update is refused to this caller
	answerLost
	timesOut
	clientGoes
	giveUp   // it waited long enough
	vanishes // what was under way comes to nothing
	unanswered
	personClose
	webhookComes
	replicaDies
	passes // time goes on to the next instant
	ticks  // time goes on by a second
)

var actionNames = map[actionKind]string{
	arrive: "arrives at R0", arriveOther: "arrives at R1", proceed: "proceeds", proceedLost: "proceeds, the store's reply is LOST",
	taken: "is taken by the ticket system", isRefused: "is REFUSED", isNever: "is NEVER SENT", isUnseen: "is NEVER SENT, which nobody sees yet",
	isUnmarked: "is sent, the mark is LOST", updateFails: "update FAILS", updateForbid: "update is FORBIDDEN", answerLost: "ANSWER LOST",
	timesOut: "TIMES OUT", clientGoes: "CLIENT GOES", giveUp: "waited long enough", vanishes: "vanishes under way", unanswered: "is NOT ANSWERED",
	personClose: "closed by a PERSON", webhookComes: "webhook comes", replicaDies: "DIES", passes: "time passes", ticks: "a second passes",
}

// phaseNames tell a trace what "proceeds" is.
var phaseNames = [...]string{
	"idle", "claims", "swaps", "claims again", "is sent", "is answered", "settles", "settles again", "reads", "settles by what it read",
	"looks up", "goes by the look-up", "reads", "goes by the read", "update sent", "update answered", "update settled", "update settled again",
	"is sent again", "access log", "ended",
}

func (w *world) name(a action) string {
	switch a.kind {
	case passes, ticks:
		return actionNames[a.kind]
	case personClose, webhookComes:
		return fmt.Sprintf("T%d %s", a.of, actionNames[a.kind])
	case replicaDies:
		return fmt.Sprintf("R%d %s", a.of, actionNames[a.kind])
	case proceed:
		return fmt.Sprintf("q%d(%s) %s", a.of, w.reqs[a.of].sev, phaseNames[w.reqs[a.of].phase])
	default:
		return fmt.Sprintf("q%d(%s) %s", a.of, w.reqs[a.of].sev, actionNames[a.kind])
	}
}

// enabled appends every action that is possible now.
func (w *world) enabled(all []action) []action {
	for i := range w.reqs {
		all = w.enabledOf(all, i)
	}
	for k, t := range w.tickets {
		if t.open && w.left[human] > 0 {
			all = append(all, action{personClose, k})
		}
	}
	for _, k := range w.webhooks {
		all = append(all, action{webhookComes, k})
	}
	for r := range 2 {
		if w.left[crash] > 0 && w.busyReplica(r) {
			all = append(all, action{replicaDies, r})
		}
	}
	if w.left[passing] > 0 && w.next() > w.now {
		all = append(all, action{passes, 0})
		if w.cfg.ticking {
			all = append(all, action{ticks, 0})
		}
	}
	return all
}

func (w *world) busyReplica(r int) bool {
	for i := range w.reqs {
		if q := &w.reqs[i]; q.replica == r && q.phase != idle && q.phase != ended && q.phase != logPending {
			return true
		}
	}
	return false
}

func (w *world) enabledOf(all []action, i int) []action {
	q := &w.reqs[i]
	add := func(kind actionKind, ok bool) {
		if ok {
			all = append(all, action{kind, i})
		}
	}
	can := func(f fault) bool { return w.left[f] > 0 }
	waits := q.client == inLine
	switch q.phase {
	case idle:
		add(arrive, w.itsTurn(i))
		add(arriveOther, w.itsTurn(i))
	case waiting:
		add(proceed, w.wakes(i))
		add(giveUp, true)
		add(clientGoes, waits && can(abort))
	case healing:
		add(proceed, true)
		add(giveUp, true)
		add(clientGoes, waits && can(abort))
	case sent, updSent:
		add(proceed, q.net == done || q.net == refused || q.net == unsent || q.net == updDone)
		add(answerLost, (q.net == done || q.net == updDone) && can(ackLost))
		add(isUnseen, q.net == unsent)
		add(timesOut, q.underWay() && can(slow))
		add(clientGoes, waits && q.underWay() && can(abort))
		add(isRefused, q.net == flying && can(refuse))
		add(updateFails, q.net == updFlying && can(updFail))
		add(updateForbid, q.net == updFlying && can(forbid))
	case ended:
	default:
		add(proceed, true)
		add(proceedLost, q.storeStep() && can(lost))
		add(isNever, q.phase == sending && can(never))
		add(isUnmarked, q.phase == sending && can(unmarked))
		add(clientGoes, waits && q.phase == sending && can(abort))
		add(unanswered, (q.phase == looking || q.phase == reading || q.phase == rememberAsk) && can(lookFail))
	}
	add(taken, q.underWay())
	add(vanishes, q.underWay() && !q.live())
	return all
}

func (q *request) storeStep() bool {
	switch q.phase {
	case claiming, swapping, settling, rememberTold, updSettling:
		return true
	default:
		return false
	}
}

// itsTurn: a client sends its next request when the one before is answered.
func (w *world) itsTurn(i int) bool {
	for j := range i {
		if q := &w.reqs[j]; q.wanted.client == w.reqs[i].wanted.client && q.client == inLine {
			return false
		}
	}
	return true
}

// wakes: what it waits for has moved, or its lease is over.
func (w *world) wakes(i int) bool {
	q := &w.reqs[i]
	end := w.rec.LeaseUntil
	if w.rec.Update != nil {
		end = w.rec.Update.LeaseUntil
	}
	return w.rec.Version != q.rec.Version || !w.clock().Before(end)
}

// do performs an action.
func (w *world) do(a action) {
	w.steps++
	w.spend(a.kind)
	switch a.kind {
	case personClose:
		w.personCloses(a.of)
	case webhookComes:
		w.webhook(a.of)
	case replicaDies:
		w.crash(a.of)
	case passes:
		w.now = w.next()
	case ticks:
		w.now++
	default:
		w.doRequest(a.kind, a.of)
	}
}

func (w *world) doRequest(kind actionKind, i int) {
	q := &w.reqs[i]
	switch kind {
	case arrive, arriveOther:
		q.replica = int(kind - arrive)
		w.comesAgain(q)
		w.again(i)
		for _, t := range w.tickets {
			q.saw = q.saw || t.open
		}
	case proceed, proceedLost:
		w.step(i, kind == proceedLost)
	case taken:
		w.take(i)
	case isRefused:
		q.net = refused
	case isNever:
		w.stepSend(i)
		if q.phase == sent {
			q.net = unsent
		}
	case isUnseen:
		q.neverLate = true
		w.leave(i, w.now)
	case isUnmarked:
		w.stepUnmarked(i)
	case updateFails:
		q.net, q.updated = updDone, dedup.UpdateOutcome{Kind: dedup.UpdateUnknown}
	case updateForbid:
		q.net, q.updated, q.ticket = updDone, dedup.UpdateOutcome{Kind: dedup.UpdateRefused, Mine: true}, ticketNumber(q.change.Ticket.ID)
	case answerLost, timesOut:
		w.leave(i, w.now)
	case clientGoes:
		w.clientGoes(i)
	case giveUp:
		q.end(failed)
	case vanishes:
		q.net = quiet
	case unanswered:
		w.notAnswered(i)
	}
}

func (w *world) stepUnmarked(i int) {
	w.stepSend(i)
	if q := &w.reqs[i]; q.phase == sent && w.rec.Holder == q.holder {
		w.rec.Sent, q.marked = false, false
	}
}

func (w *world) clientGoes(i int) {
	q := &w.reqs[i]
	q.client = gone
	switch {
	case q.phase == waiting:
		q.phase = ended
	case q.phase == healing: // it goes on beside
	case q.live():
		w.leave(i, w.now)
	default: // nothing has been sent
		q.phase, q.outcome = settling, dedup.Outcome{Kind: dedup.OutcomeNeverSent}
	}
}

func (w *world) notAnswered(i int) {
	q := &w.reqs[i]
	switch q.phase {
	case looking:
		q.look, q.phase = dedup.LookUpResult{}, looked
	case reading:
		q.read, q.unread, q.phase = dedup.ReadResult{}, true, hasRead
	default:
		q.read, q.phase = dedup.ReadResult{}, rememberTold
	}
}

func (w *world) spend(kind actionKind) {
	f, ok := map[actionKind]fault{
		proceedLost: lost, isRefused: refuse, isNever: never, isUnmarked: unmarked, updateFails: updFail, updateForbid: forbid,
		answerLost: ackLost, timesOut: slow, clientGoes: abort, unanswered: lookFail, personClose: human, replicaDies: crash, passes: passing, ticks: passing,
	}[kind]
	if ok {
		w.left[f]--
	}
}
