package history

import (
	"fmt"
	"time"

	"oneticket/dedup"
)

// The calls that are recorded.
const (
	claim  = "claim"
	swap   = "swap"
	renew  = "renew"
	remove = "delete"
	get    = "get"
)

// A call is one call of a client, as it was asked.
type call struct {
	op     string
	key    int
	holder string // of a claim, a renewal
	seen   int64  // of a swap, and the next
	next   state
	nonce  string
}

// An answer is what came of it.
type answer struct {
	unknown bool
	yes     bool  // won, renewed; no conflict
	record  state // of a claim, a get
	why     string
}

// A state is what a record's calls can be told apart by. The zero value is no
// record.
type state struct {
	version int64
	episode int64
	is      dedup.State
	holder  string // while claimed
	tag     string // of the swap that wrote it; empty when a claim did
	free    bool
	nonce   string // of the swap that wrote this version; not seen by clients
}

// never is later than any run.
const never = 1000 * time.Hour

// record is the record that a swap writes, at the time now of the store.
func (s state) record(now time.Time) dedup.Record {
	rec := dedup.Record{
		State: s.is, Episode: s.episode, Holder: s.holder, Ticket: dedup.Ticket{ID: s.tag},
		KeepUntil: now.Add(2 * never), FreeAt: now.Add(2 * never), ExpiresAt: now.Add(2 * never),
		Response: &dedup.Response{Status: 201, Body: []byte(s.tag)},
	}
	if s.is == dedup.Claimed {
		rec.LeaseUntil = now.Add(never)
	}
	if s.free {
		rec.FreeAt = time.Time{}
	}
	return rec
}

// seen is the state that a record shows.
func seen(found dedup.Found) (state, error) {
	rec := found.Record
	if rec.Version == 0 {
		return state{}, nil
	}
	body := ""
	if rec.Response != nil {
		body = string(rec.Response.Body)
	}
	if body != rec.Ticket.ID {
		return state{}, fmt.Errorf("a torn record: the ticket is %q and the body %q", rec.Ticket.ID, body)
	}
	return state{
		version: rec.Version, episode: rec.Episode, is: rec.State, holder: rec.Holder,
		tag: rec.Ticket.ID, free: !found.Now.Before(rec.FreeAt),
	}, nil
}

func offer(holder string) *dedup.Offer {
	return &dedup.Offer{
		Holder: holder, Fingerprint: dedup.Fingerprint{Severity: "2"}, // no record has it: no life is prolonged
		Token: dedup.TokenRule{Key: "idem:history", Style: dedup.EpisodeToken},
		Lease: never, Keep: 2 * never, TTL: time.Hour, KeepOpen: time.Hour,
	}
}

func (c call) String() string {
	switch c.op {
	case claim, renew:
		return fmt.Sprintf("%s key %d by %s", c.op, c.key, c.holder)
	case swap:
		return fmt.Sprintf("swap key %d over %d: %v (%s)", c.key, c.seen, c.next, c.nonce)
	default:
		return fmt.Sprintf("%s key %d", c.op, c.key)
	}
}

func (a answer) String() string {
	if a.unknown {
		return "unknown: " + a.why
	}
	return fmt.Sprintf("%v, %v", a.yes, a.record)
}

func (s state) String() string {
	if s.version == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%s v%d ep%d holder=%s tag=%s free=%v", s.is, s.version, s.episode, s.holder, s.tag, s.free)
}
