package dedup

import "time"

// Reconciled says what became of a record that was made, or went on, in an
// embedded store while the shared one was out of reach.
type Reconciled string

// The words that `oneticket_reconciled_total{result}` and `oneticket reconcile`
// use. Double and MaybeDouble come beside another one.
const (
	TakenOver   Reconciled = "taken_over"         // its ticket is the shared record's now
	SameTicket  Reconciled = "merged"             // both had the same ticket
	Double      Reconciled = "duplicate"          // a ticket that is open beside the shared record's
	MaybeDouble Reconciled = "possible_duplicate" // a token that may have made a ticket beside it
	InDoubt     Reconciled = "doubtful"           // nobody can tell yet: the shared record is in doubt now
	Absent      Reconciled = "absent"             // its create surely made no ticket: the dead letter stays
	Over        Reconciled = "closed"             // its episode is over, and the close is kept
	Dropped     Reconciled = "dropped"            // there was nothing to reconcile
)

// AllReconciled lists them.
var AllReconciled = []Reconciled{TakenOver, SameTicket, Double, MaybeDouble, InDoubt, Absent, Over, Dropped}

// ReconcileStep is what Reconcile asks for.
type ReconcileStep string

const (
	ReconcileWait         ReconcileStep = "wait"          // nothing yet; again at Until, soon when that is zero
	ReconcileLookUpLocal  ReconcileStep = "lookup local"  // look the local record's token up, and call again
	ReconcileLookUpShared ReconcileStep = "lookup shared" // the shared record's
	ReconcileDone         ReconcileStep = "done"          // write Next where there is one; then the local record can go
)

// Asked is what is known of the tokens that Reconcile has asked for.
type Asked struct {
	Nobody        bool // there is nobody to ask
	Local, Shared *LookUpResult
}

// A Reconciliation is what becomes of a local record. It has not happened yet:
// Next holds only once Swap has written it over the shared record that was
// seen; on a conflict all is judged again.
type Reconciliation struct {
	Step  ReconcileStep
	Until time.Time

	Result    Reconciled
	Next      *Record
	Tickets   []Ticket // open beside the shared record's own, to be reported
	Uncertain []string // tokens that may have made a ticket beside it, to be reported
	Close     string   // a ticket that was closed meanwhile, for whoever holds it
}

// Reconcile says what becomes of the local record when the shared store is back
// and has the shared one (zero: none). Both are in the clock of the shared
// store, see Shifted, and now is its time. Called again after any part of what
// it said has happened, it goes on from there.
func Reconcile(local, shared Record, asked Asked, p *Policy, now time.Time) Reconciliation {
	r := reconciling{p: p, now: now, asked: asked}
	switch {
	case local.V > Format, shared.V > Format: // nothing of it is ours to change or to understand
		return Reconciliation{Step: ReconcileWait}
	case local.State == None || local.State == "", local.Observed, local.over(now):
		return done(Dropped)
	case local.State == Claimed && now.Before(local.LeaseUntil):
		return Reconciliation{Step: ReconcileWait, Until: local.LeaseUntil}
	case local.Update != nil && now.Before(local.Update.LeaseUntil):
		return Reconciliation{Step: ReconcileWait, Until: local.Update.LeaseUntil}
	}
	if local.Update != nil {
		local = p.updateLapsed(local, now)
	}
	if shared.State == "" || shared.Observed || shared.over(now) {
		shared = Record{V: Format, State: None, Version: shared.Version, Episode: shared.Episode, KeepUntil: shared.KeepUntil}
	}
	switch local.State {
	case Claimed:
		return r.doubtful(p.lapsed(local), shared)
	case Doubtful:
		return r.doubtful(local.clone(), shared)
	case Open:
		return r.open(local.clone(), shared)
	default:
		return r.closed(local.clone(), shared)
	}
}

type reconciling struct {
	p     *Policy
	now   time.Time
	asked Asked
}

func done(result Reconciled) Reconciliation {
	return Reconciliation{Step: ReconcileDone, Result: result}
}

func waitFor(until time.Time) Reconciliation {
	return Reconciliation{Step: ReconcileWait, Until: until}
}

// canAsk reports whether a token can be looked up, and was not refused.
func (r *reconciling) canAsk() bool { return r.p.CanLookUp && !r.asked.Nobody }
