package dedup

import "time"

// A Policy is how one rule wants its faults treated. It is immutable.
type Policy struct {
	TTL          time.Duration // life of an open record, extended by each claim that finds it open
	MaxAge       time.Duration // from the create, or from the last read that saw it open; 0 is without limit
	Remember     time.Duration // how long a record is kept after its last send, at least
	ReopenWithin time.Duration // 0 = never
	VerifyEvery  time.Duration // 0 = never
	Settle       time.Duration // how long a create may land after its attempt ended
	Lease        time.Duration

	Memory    Memory        // what the backend does with a token that it has seen
	MemoryFor time.Duration // how long it remembers; 0 with Remembers = for ever

	CanLookUp bool // a ticket can be found by its token
	CanRead   bool // a ticket can be read by its id
	CanUpdate bool
	CanReopen bool
	NoTicket  bool // answers name no ticket (accepted asynchronously)

	OnUpdateFailed string // what a refused update becomes: "forward" (a worse severity is a create of the next episode), "error" or "suppress"

	UpdateRate       UpdateRate // of one ticket; a worse severity, a clear and a reopening are never held back
	OnUpdateSuppress bool       // a changed severity is answered from the record, and the ticket is not told

	OnRefireForward bool           // the backend folds: its counts live on repeats, so they are sent on with the same token
	SuspectForward  bool           // what may be another fault under the same key is sent on untouched
	DowngradeIgnore bool           // a lower severity is no change
	Severities      map[string]int // rank of each severity, higher is worse
	Provisional     bool           // the embedded store decides because the shared one is out of reach
	Observe         bool

	unended time.Duration // how long a create without an outcome is kept at least
}

// Memory is the kind of a backend's native idempotency.
type Memory string

const (
	NoMemory  Memory = ""          // a token means nothing to it
	Folds     Memory = "folds"     // a token folds into an open ticket only
	Remembers Memory = "remembers" // a token is answered with the first ticket made with it
)
