package dedup

import "time"

// Format is the version of the record that this program writes. A record of a
// newer format is left alone: the request is sent on untouched and counted.
const Format = 1

// State is where the record of a key stands. doc.go has the table of states.
type State string

const (
	None     State = "none"     // no ticket and no claim; a stored None is a stub that keeps the episode and the version
	Claimed  State = "claimed"  // somebody is creating
	Doubtful State = "doubtful" // a create was sent and its outcome is unknown, or its holder's lease ran out
	Open     State = "open"     // there is a ticket
	Closed   State = "closed"   // the episode is over
)

// Ref says where a record lives: the store keeps keys apart by rule and by
// scope. The key itself carries neither, so any program can compute it.
type Ref struct {
	Rule  string
	Scope string
	Key   Key
}

// A Record is what the store keeps for a key. All times are the store's own
// clock. Records are values: nothing in this package changes one in place.
type Record struct {
	V       int   // format, see Format
	State   State // see the constants
	Version int64 // counts every write of this Ref, 1 at the first; it never restarts, also when a record is deleted
	Episode int64 // one life of a fault, counted from 1; 0 = no episode yet
	Sends   int64 // claims to send made in this episode, and so the number of the latest attempt
	Updates int64 // updates of the episode's ticket that were applied

	Token       string
	Identity    []byte // the canonical form
	Class       string
	Fingerprint Fingerprint // of the open ticket; of the running create while claimed

	Holder     string       // whose claim it is, while Claimed
	LeaseUntil time.Time    // how long that claim holds
	Looking    bool         // the claim was taken to look the token up, not to create
	Update     *UpdateClaim // an update that is under way, while Open or Closed (reopening)
	Attempts   []Attempt    // unresolved sends; they stay when the record becomes open or closed

	ClaimedAt  time.Time
	SentAt     time.Time // the last time a token of this key may have been sent
	AnsweredAt time.Time
	OpenedAt   time.Time // the create's answer, or the last time that a read saw the ticket open: max_age counts from here
	ClosedAt   time.Time
	VerifiedAt time.Time
	SeenAt     time.Time
	LandsUntil time.Time // until then an update of unknown outcome may still be applied
	ExpiresAt  time.Time // while Open: the end of its life unless a claim extends it
	KeepUntil  time.Time // the record, or its stub, may be dropped after this
	FreeAt     time.Time // the instant from which a Claim may take the record with its offer; zero = at once

	Ticket     Ticket
	Response   *Response
	Principals []string // keyed hashes of the principals that created this ticket or could read it
	// Credentials are whole credentials with which the ticket was made or read:
	// another replica has not seen the backend accept them.
	Credentials []Accepted

	Provisional bool // made while the shared store was out of reach
	Observed    bool // made by a rule that only observes; never replayed from
	Gone        bool // while Closed: the ticket was not there (404, 410); it is never reopened
	InDoubt     bool // while Closed: a clear or a reopening of unknown outcome
	Owed        bool // a create of the next episode was taken back, and may be sent again by ourselves; a clear ends that
	Sent        bool // while Claimed: the answer that lets the create go was handed to the proxy

	Prior     *Record     // what a refusal restores; its own Prior is always nil
	UpdatedAt []time.Time // when updates of the ticket were sent, oldest first: those that the rule's rate counts
	Witness   []uint32    // hashes of different titles seen in this episode, in their order, eight at most
	Trail     []Trace     // the last decisions, oldest first, TrailLength at most
}

// TrailLength bounds Record.Trail.
const TrailLength = 8

// A Trace is one decision as `oneticket explain` tells it.
type Trace struct {
	At     time.Time
	Kind   Kind
	Reason Reason
	Config string // the hash of the configuration that decided
	By     string // the replica that decided
}

// An Attempt is one send whose outcome is not known.
type Attempt struct {
	Number      int64 // of this episode, from 1; every send has its own
	Holder      string
	Fingerprint Fingerprint
	Token       string
	SentAt      time.Time
	EndedAt     time.Time // when its outcome was seen, or its lease was over
	Sent        bool      // see Record.Sent
}

// An UpdateClaim is the right to send one update of an open ticket, or one
// reopening of a closed one.
type UpdateClaim struct {
	Holder      string
	LeaseUntil  time.Time
	Fingerprint Fingerprint // what the ticket shall say
	Reopening   bool        // the record was Closed when it was taken
}

// An Accepted is a whole credential, as a keyed hash, that the backend accepted.
type Accepted struct {
	Hash string
	At   time.Time
}

// A Ticket names one ticket of a backend.
type Ticket struct {
	ID       string
	Location string // of the create's answer, when it had one
}

// A Response is a create's answer as the backend gave it, ready to be given
// again. Its body is decoded (no content coding).
type Response struct {
	Status int
	Header []HeaderField // in order; a name may stand more than once
	Body   []byte
	Cut    bool // the answer was too large or too late to be kept: only id, status and location are left
}

// A HeaderField is one line of a header.
type HeaderField struct{ Name, Value string }
