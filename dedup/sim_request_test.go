package dedup_test

import (
	"strconv"

	"oneticket/dedup"
)

// A request of the simulator is a small process: it claims, decides, and does
// what the decision asks for, one step of the schedule at a time.
type request struct {
	wanted  wanted
	sev     string
	phase   phase
	replica int
	client  client
	saw     bool // some ticket was open at a moment since it arrived

	run      int // of its holders
	nonces   int // of its Swaps
	holder   string
	waited   bool
	met      int64
	begun    bool // the round's Claim has been called
	before   int  // the time before that
	seenAt   int  // the store's time of the decision
	rec      dedup.Record
	decision dedup.Decision
	reason   dedup.Reason
	doubted  bool // the decision itself reports a possible double
	known    bool // it creates again although the first one's answer had come

	look dedup.LookUpResult
	read dedup.ReadResult

	askedAt int  // when
	unread  bool // a check of the ticket was not answered

	creates   int // the how manieth create it is
	send      dedup.Send
	outcome   dedup.Outcome
	change    dedup.Change
	updated   dedup.UpdateOutcome
	settled   dedup.Settlement
	released  bool // what is settled was never let go: decide again
	stale     bool // somebody has written since q.rec was read
	marked    bool
	neverLate bool // the access log will say that no byte went out

	heals bool       // its answer was lost, and it is sent again
	tries int        // how often
	first dedup.Send // what was lost
	over  bool       // the fault has been cleared since, and has not come again

	net    net
	ticket int // that the exchange made or changed
	sentAt int
	until  int // an exchange whose caller left ends before this
}

type phase uint8

const (
	idle phase = iota
	claiming
	swapping
	waiting
	sending
	sent
	settling
	settleAgain  // the Swap's reply was lost
	rememberAsk  // the backend remembers: read the ticket
	rememberTold // and settle by what it said
	looking
	looked
	reading
	hasRead
	updSending
	updSent
	updSettling
	updSettleAgain
	healing    // the answer was lost, and it may be sent again
	logPending // the access log is still to come
	ended
)

// client is what the client knows.
type client uint8

const (
	inLine client = iota
	succeeded
	failed
	gone
)

// net is where an exchange with the ticket system is.
type net uint8

const (
	quiet net = iota
	flying
	done
	refused
	unsent
	updFlying
	updDone
)

func (q *request) fingerprint() dedup.Fingerprint {
	if q.sev == "C" {
		return dedup.Fingerprint{Severity: dedup.NoSeverity, Cleared: true}
	}
	return dedup.Fingerprint{Severity: q.sev}
}

func (w *world) claimOf(q *request) dedup.Claim {
	return dedup.Claim{
		Fault:  dedup.Fault{Ref: dedup.Ref{Key: "k"}, Fingerprint: q.fingerprint()},
		Policy: w.policy(), Holder: q.holder, Waited: q.waited, Met: q.met,
	}
}

// again decides anew, as a new call of Engine.Decide.
func (w *world) again(i int) {
	q := &w.reqs[i]
	q.run++
	q.holder = "q" + strconv.Itoa(i) + "." + strconv.Itoa(q.run)
	q.phase, q.begun = claiming, false
	q.waited, q.met = false, 0
	q.doubted, q.known, q.released = false, false, false
}

func (w *world) nonceOf(i int) string {
	q := &w.reqs[i]
	return q.holder + "#" + strconv.Itoa(q.nonces)
}

// step is the next step of a request; with lost, the reply of its store call
// does not arrive and the call will be repeated.
func (w *world) step(i int, lost bool) {
	q := &w.reqs[i]
	switch q.phase {
	case looking, reading, rememberAsk:
		q.askedAt = w.now
	}
	switch q.phase {
	case claiming, waiting:
		w.stepClaim(i, lost)
	case swapping:
		w.stepSwap(i, lost)
	case looking:
		q.look, q.phase = w.lookUp(q.rec.Token), looked
	case looked:
		w.decided(i, w.afterLookUp(q.rec, w.claimOf(q), q.look, w.clock()))
	case reading:
		q.read, q.phase = w.readTicket(ticketNumber(q.rec.Ticket.ID)), hasRead
		q.unread = !q.read.Answered
	case hasRead:
		w.decided(i, w.afterRead(q.rec, w.claimOf(q), q.read, w.clock()))
	case sending, updSending:
		w.stepSend(i)
	case sent, updSent:
		w.stepAnswer(i)
	case rememberAsk:
		q.read, q.phase = w.readTicket(q.ticket), rememberTold
	case settling, rememberTold, updSettling:
		w.stepSettle(i, lost)
	case settleAgain, updSettleAgain:
		w.stepSettleAgain(i)
	case healing:
		w.stepHeal(i)
	case logPending:
		q.neverLate = false
		q.rec, q.phase, q.outcome = w.rec, settling, dedup.Outcome{Kind: dedup.OutcomeNeverSent}
	}
}

func (w *world) stepClaim(i int, lost bool) {
	q := &w.reqs[i]
	if q.phase == waiting {
		q.phase, q.begun = claiming, false
	}
	if !q.begun {
		q.begun, q.before = true, w.now
	}
	c := w.claimOf(q)
	w.claim(w.offer(c))
	if lost {
		return
	}
	q.rec, q.seenAt = w.rec, w.now
	w.decided(i, w.decide(q.rec, c, w.clock()))
}

func (w *world) decided(i int, d dedup.Decision) {
	q := &w.reqs[i]
	q.decision = d
	if d.Next == nil {
		w.act(i)
		return
	}
	q.nonces++
	q.phase = swapping
}

func (w *world) stepSwap(i int, lost bool) {
	q := &w.reqs[i]
	written, ok := w.swap(q.rec.Version, *q.decision.Next, w.nonceOf(i))
	switch {
	case lost:
	case !ok:
		q.phase, q.begun = claiming, false
	default:
		q.rec = written
		w.act(i)
	}
}

// act does what a decision that holds asks for.
func (w *world) act(i int) {
	q := &w.reqs[i]
	d := q.decision
	w.report(d.Duplicates, d.Uncertain)
	q.doubted = len(d.Duplicates) > 0 || d.Uncertain != ""
	q.reason = d.Reason
	w.checkHeldBack(q)
	if q.heals && w.actAgain(i) {
		return
	}
	switch d.Kind {
	case dedup.Again:
		q.phase, q.begun = claiming, false
	case dedup.Wait:
		q.phase = waiting
		if !q.waited {
			q.waited, q.met = true, q.rec.Episode
		}
	case dedup.Busy:
		q.end(failed)
	case dedup.Pass:
		if q.sev == "C" && d.Next != nil {
			w.givenUp(q.rec.Token)
		}
		w.isOver(q)
		q.end(succeeded)
	case dedup.Suppress:
		w.succeed(i, true)
	case dedup.LookUp:
		q.phase = looking
	case dedup.Read:
		q.phase = reading
	case dedup.Update:
		q.phase = updSending
		q.change = dedup.Change{Holder: q.holder, Episode: q.rec.Episode, Ticket: q.rec.Ticket, Fingerprint: q.fingerprint(), At: at(q.seenAt)}
	case dedup.Create:
		q.phase, q.marked = sending, false
		w.comesAgain(q)
		w.creates++
		q.creates = w.creates
		q.known = q.retries() && w.answerHadCome(q.rec)
		q.send = dedup.Send{Holder: q.holder, Episode: q.rec.Episode, Token: q.rec.Token, Fingerprint: q.fingerprint(), Reason: d.Reason}
	}
}

func (q *request) retries() bool {
	return q.reason == dedup.Retried || q.reason == dedup.RetriedBlind
}
