package dedup

import "time"

// Kind is what a decision says to do.
type Kind string

// Create, Suppress and Update are the decisions of the design; Pass and Busy
// are the lack of one. A client, a metric or a log sees only these five. The
// others are steps on the way: what they ask for ends in another decision.
const (
	Create   Kind = "create"   // send it on, with the token
	Suppress Kind = "suppress" // answer it with the stored response
	Update   Kind = "update"   // send the new fingerprint to the open ticket
	Pass     Kind = "pass"     // send it on untouched
	Busy     Kind = "busy"     // answer that it must come again

	Wait   Kind = "wait"   // somebody is at it: wait, then decide again
	LookUp Kind = "lookup" // look the token up, under the claim in Next
	Read   Kind = "read"   // read the ticket, then see AfterRead
	Again  Kind = "again"  // decide again, after writing Next if there is one
)

// Reason says why. The same words stand in headers, metrics, logs and the
// record's trail.
type Reason string

const (
	First          Reason = "first"           // CREATE: there was no record
	Expired        Reason = "expired"         // CREATE: the open record's life was over
	WasClosed      Reason = "closed"          // CREATE: the last episode is over
	Reopened       Reason = "reopened"        // UPDATE: closed a short while ago
	Retried        Reason = "retried"         // CREATE: an earlier create surely made no ticket, or nobody can tell
	RetriedBlind   Reason = "retried_blind"   // CREATE: the same, but the earlier one may have left without our token
	StoreDown      Reason = "store_down"      // CREATE: decided by the embedded store
	Refire         Reason = "refire"          // SUPPRESS: the ticket is open
	Race           Reason = "race"            // SUPPRESS: it waited for the winner
	Recovered      Reason = "recovered"       // SUPPRESS: the ticket of a lost answer was found
	Cleared        Reason = "cleared"         // SUPPRESS: the fault is over already
	Verified       Reason = "verified"        // SUPPRESS: the ticket was read and is open
	Changed        Reason = "changed"         // UPDATE: the fingerprint differs. SUPPRESS: it does, and the ticket is not told
	UpdateFailed   Reason = "update_failed"   // CREATE: the update was refused, and a worse severity must be seen
	IsBusy         Reason = "busy"            // BUSY: it waited long enough, or cannot be decided yet
	UnmatchedClear Reason = "unmatched_clear" // PASS: a clear that no record can take
	Suspect        Reason = "suspect"         // PASS: too many titles under one key, and this is none of the first
)

// A Decision is what Decide and the functions after a look-up or a read say.
// It has not happened yet: where Next is set, it holds only once Swap has
// written Next over the record that was decided on; on a conflict it is void
// and the request is decided again.
type Decision struct {
	Kind   Kind
	Reason Reason
	Next   *Record
	Until  time.Time // of Busy and Wait: nothing changes by time alone before this; zero when it is not known

	Forward    bool     // of Suppress: not answered here but sent on with the record's token (on_refire = "forward")
	NoCall     bool     // of Update: the preset has no update; answered from the record, and counted
	Paced      bool     // of Suppress and Busy: a change that update_rate holds back; counted
	DeadLetter bool     // the create may have made no ticket: keep it as a dead letter
	Duplicates []Ticket // open beside the record's own, to be reported
	Uncertain  string   // a token whose ticket may exist beside the record's own, to be reported
}
