package dedup

import (
	"context"
	"errors"
	"time"
)

// A Store keeps records. It knows no policy but Record.FreeAt. Every method is
// one atomic step against every other call of every process on the same data,
// and a call that fails may or may not have been applied: the caller repeats
// it or reads. Times in records are the store's own clock, which also fills
// every time that an Offer gives as a duration.
//
// The only error that a caller may branch on is ErrConflict, also where a
// record of a newer format is left alone; every other error means that the
// store is out of reach.
type Store interface {
	// Claim takes the record at ref with the offer if there is none or it is
	// free (now >= FreeAt), as Offer says, and reports Won. A record that is
	// Claimed by the offer's own holder while its lease runs was won by an
	// earlier call of the same claim and is reported as Won again.
	// Else, if the record is Open with the offer's fingerprint and no update
	// claim runs, its life is extended (Offer.TTL), written only when at least
	// 1/16 of the TTL has passed since the last time.
	// It returns what is there now. A nil offer only reads. A record of a newer
	// format is returned as it is and never taken.
	Claim(ctx context.Context, ref Ref, offer *Offer) (Found, error)

	// Swap writes next over the record whose version is seen (0: there is no
	// record) and returns what it wrote: next with version seen+1. It fails
	// with ErrConflict when another version is there. Each call is marked by a
	// nonce: the same call repeated after a lost reply has succeeded.
	Swap(ctx context.Context, ref Ref, seen int64, next Record, nonce string) (Record, error)

	// Renew moves the end of a running lease to now + lease if the record is
	// claimed (or update-claimed) by holder and the lease still runs. It does
	// not change the version, so that a renewal does not make the holder's own
	// settle conflict.
	Renew(ctx context.Context, ref Ref, holder string, lease time.Duration) (bool, error)

	// MarkSent sets Record.Sent if ref is Claimed by holder; it does not change
	// the version. A mark that is lost is a mark that was not made.
	MarkSent(ctx context.Context, ref Ref, holder string) error

	// Ticket indexes the ticket as the one that ref holds, for keep, and
	// reports whether a close of it was kept, in one step.
	Ticket(ctx context.Context, scope TicketScope, id string, ref Ref, keep time.Duration) (closed bool, err error)

	// KeepClose returns the ref that holds the ticket, or keeps the close for
	// whoever will write that ticket, in one step.
	KeepClose(ctx context.Context, scope TicketScope, id string, keep time.Duration) (ref Ref, held bool, err error)

	// Get reads one record, as Claim with no offer does.
	Get(ctx context.Context, ref Ref) (Found, error)

	// List calls yield for each record that has a state other than None and is
	// of the rule (all rules when empty), in batches, until yield returns
	// false. It may miss or repeat what changes meanwhile.
	List(ctx context.Context, rule string, yield func(Ref, Record) bool) error

	// Delete leaves a stub: state None with the episode and the next version,
	// free at once and kept as long as the record would have been. Deleting
	// what is not there is not an error.
	Delete(ctx context.Context, ref Ref) error

	// Close releases what the store holds.
	Close() error
}

// TicketScope keeps the ticket ids of different backends apart.
type TicketScope string

// ErrConflict: the record is not the one that was seen.
var ErrConflict = errors.New("the record has changed")

// Found is what a store has at a Ref, and its clock at that moment.
type Found struct {
	Record Record // zero (Version 0) when there is none
	Now    time.Time
	Won    bool // this claim holds the record: Claimed by the offer's holder

	// Provisional: the shared store is out of reach, and this is what an embedded
	// one has in its place. Its versions are its own: a Swap of one of them
	// reaches that store and no other.
	Provisional bool
}

// An Offer is what Claim writes when the record is free. Written, it is the
// record with State Claimed; Version and Episode one more than what was there
// (1 and 1 when there was none); Sends 1; the token as Token says; ClaimedAt,
// SentAt and SeenAt now; LeaseUntil now + Lease; KeepUntil now + Keep, or as
// it was where that is later; FreeAt = KeepUntil; Prior what was there
// (a stub when nothing was: version and episode 0), without its own Prior; and
// no attempts, answer, ticket or flags but these. The trail is carried on.
type Offer struct {
	Holder      string
	Fingerprint Fingerprint
	Token       TokenRule
	Identity    []byte
	Class       string
	Lease       time.Duration
	Keep        time.Duration
	Provisional bool

	// For a record that is Open with the same fingerprint.
	TTL      time.Duration // ExpiresAt and FreeAt become now + TTL, SeenAt now ...
	MaxAge   time.Duration // ... but never more than OpenedAt + MaxAge; 0 is without limit
	KeepOpen time.Duration // KeepUntil becomes at least the new ExpiresAt + KeepOpen
}

// A TokenRule says how the token of a new episode is made. The store appends
// the number, because only the store knows the episode.
type TokenRule struct {
	Given string     // the client's own token; it wins when it is set
	Key   Key        // else the key,
	Style TokenStyle // with what Style appends

	// Alone: two replicas that know nothing of each other must not use the same
	// token. Only Provisional looks at it.
	Alone bool
}

// TokenStyle is what is appended to the key.
type TokenStyle string

const (
	PlainToken   TokenStyle = "plain"   // nothing, in every episode: the backend folds into open tickets only
	EpisodeToken TokenStyle = "episode" // nothing in episode 1, ".N" in episode N
	TimeToken    TokenStyle = "time"    // "." and the claim's time in whole seconds since 1970: the backend's memory has no end
)
