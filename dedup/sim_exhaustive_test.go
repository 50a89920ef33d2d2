package dedup_test

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"testing"
	"time"

	"oneticket/dedup"
)

// TestSmallWorldsExhaustively walks every state of small settings: every order
// of every step, with each fault at every place. What is beyond the bound of a
// setting is said in the log.
func TestSmallWorldsExhaustively(t *testing.T) {
	t.Parallel()
	bound := 4_000
	if soak() {
		bound = 1_000_000
	}
	families := []struct {
		name     string
		requests string
		worries  []fault
	}{
		{"retry", "a:A a:A", []fault{ackLost, slow, passing, passing}},
		{"refuse", "a:A b:A", []fault{refuse, never, ackLost, passing}},
		{"crash", "a:A b:A", []fault{crash, lost, passing, passing}},
		{"severity", "a:A a:B b:A", []fault{slow, updFail}},
		{"clear", "a:A a:C b:A", []fault{slow, passing}},
		{"human", "a:A b:A", []fault{human, ackLost, passing}},
	}
	for _, s := range systems {
		for _, f := range families {
			t.Run(f.name+" "+s.name, func(t *testing.T) {
				t.Parallel()
				cfg := worried(s.name, f.requests, f.worries...)(nil)
				cfg.webhook = true
				x := explorer{bound: bound, seen: map[uint64]struct{}{}, seed: maphash.MakeSeed()}
				x.walk(newWorld(cfg, shipped()), nil)
				if x.broken != "" {
					t.Errorf("%s\n%s", x.broken, trace(cfg, shipped(), x.path))
				}
				told := fmt.Sprintf("%s on %s: %d states, %d at rest, all of them: %t", f.name, s.name, len(x.seen), x.rests, len(x.seen) < bound)
				t.Log(told)
				if soak() {
					fmt.Println(told)
				}
			})
		}
	}
}

// An explorer walks the states depth first; it keeps their hashes only.
type explorer struct {
	bound  int
	seed   maphash.Seed
	seen   map[uint64]struct{}
	rests  int
	broken string
	path   []action
}

func (x *explorer) walk(w *world, path []action) {
	if w.broken != "" && x.broken == "" {
		x.broken, x.path = w.broken, append([]action{}, path...)
	}
	key := maphash.Bytes(x.seed, w.encode(nil))
	if _, seen := x.seen[key]; seen || x.broken != "" || len(x.seen) >= x.bound {
		return
	}
	x.seen[key] = struct{}{}
	if w.idle() {
		x.rests++
		rested := w.clone()
		rested.checkAtRest()
		if rested.broken != "" {
			x.broken, x.path = rested.broken, append([]action{}, path...)
		}
	}
	for _, a := range w.enabled(nil) {
		next := w.clone()
		next.do(a)
		x.walk(next, append(path, a))
	}
}

// encode writes everything that a step may depend on.
func (w *world) encode(b []byte) []byte {
	b = appendInts(b, w.now, int(w.indexed), int(w.kept), len(w.uncertain), len(w.webhooks), w.creates)
	for _, k := range w.webhooks {
		b = appendInts(b, k)
	}
	for _, n := range w.left {
		b = append(b, byte(n))
	}
	b = append(b, w.nonce...)
	b = encodeRecord(b, &w.rec)
	for _, t := range w.tickets {
		b = appendInts(b, t.created, t.closedAt, int(t.episode), int(t.excuse))
		b = appendBools(b, t.open, t.silent, t.reported, t.answered, t.owned, t.byPerson)
		b = appendTexts(b, t.applied, t.severity, t.token)
	}
	for i := range w.reqs {
		b = encodeRequest(b, &w.reqs[i])
	}
	return b
}

func encodeRequest(b []byte, q *request) []byte {
	b = appendInts(b, int(q.phase), q.replica, int(q.client), q.run, q.nonces, int(q.met), q.before, q.seenAt, q.askedAt,
		q.creates, int(q.net), q.ticket, q.sentAt, q.until, q.tries, int(q.first.Episode))
	b = appendBools(b, q.saw, q.heals, q.over, q.waited, q.begun, q.doubted, q.known, q.unread, q.released, q.stale, q.marked, q.neverLate,
		q.read.Answered, q.read.Open, q.read.Gone, q.outcome.New, q.updated.Mine, q.updated.Ticket.Answered, q.updated.Ticket.Open, q.look.Answered)
	b = appendTexts(b, q.holder, string(q.reason), string(q.outcome.Kind), q.outcome.Ticket.ID, string(q.updated.Kind),
		q.send.Token, string(q.send.Reason), q.change.Ticket.ID, string(q.decision.Kind), string(q.decision.Reason))
	b = appendInts(b, int(q.send.Episode), int(q.change.Episode), len(q.decision.Duplicates), len(q.decision.Uncertain))
	for _, t := range q.look.Tickets {
		b = appendBools(appendTexts(b, t.Ticket.ID), t.Open)
	}
	b = encodeRecord(b, &q.rec)
	b = encodeRecord(b, q.decision.Next)
	return encodeRecord(b, q.settled.Next)
}

func encodeRecord(b []byte, r *dedup.Record) []byte {
	if r == nil {
		return append(b, 0)
	}
	b = appendInts(append(b, 1), int(r.Version), int(r.Episode), int(r.Sends))
	for _, at := range []time.Time{r.LeaseUntil, r.ClaimedAt, r.OpenedAt, r.ClosedAt, r.VerifiedAt, r.LandsUntil, r.ExpiresAt, r.FreeAt} {
		b = appendInts(b, second(at))
	}
	b = appendTexts(b, string(r.State), r.Token, r.Fingerprint.Severity, r.Holder, r.Ticket.ID)
	b = appendBools(b, r.Looking, r.Gone, r.InDoubt, r.Sent, r.Owed, r.Fingerprint.Cleared, r.Update != nil)
	if u := r.Update; u != nil {
		b = appendBools(appendInts(appendTexts(b, u.Holder, u.Fingerprint.Severity), second(u.LeaseUntil)), u.Reopening, u.Fingerprint.Cleared)
	}
	for _, a := range r.Attempts {
		b = appendBools(appendInts(appendTexts(b, a.Holder, a.Fingerprint.Severity), int(a.Number), second(a.SentAt), second(a.EndedAt)), a.Sent)
	}
	return encodeRecord(b, r.Prior)
}

func appendInts(b []byte, all ...int) []byte {
	for _, n := range all {
		b = binary.AppendVarint(b, int64(n))
	}
	return b
}

func appendBools(b []byte, all ...bool) []byte {
	for _, v := range all {
		if v {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	return b
}

func appendTexts(b []byte, all ...string) []byte {
	for _, s := range all {
		b = append(append(b, s...), 0)
	}
	return b
}
