package dedup_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"oneticket/dedup"
)

// The store knows of the policy only what FreeAt says. These tests walk random
// records, as the shipped functions make them, and compare the store's
// shortcut with what Decide says.

// TestFreeRecordsAreTakenOnlyWhereDecideWouldCreate: where a Claim of the
// store takes a record, Decide would have created with the very same record.
func TestFreeRecordsAreTakenOnlyWhereDecideWouldCreate(t *testing.T) {
	t.Parallel()
	taken := map[dedup.Reason]int{}
	eachRecord(func(cfg *setting, rec dedup.Record, c dedup.Claim, now time.Time) {
		if now.Before(rec.FreeAt) || c.Offer() == nil {
			return
		}
		d := dedup.Decide(rec, c, now)
		if d.Kind != dedup.Create || d.Next == nil {
			t.Fatalf("free, and Decide says %s %s: %+v", d.Kind, d.Reason, rec)
		}
		written := c.Offer().Take(rec, now)
		own := dedup.Decide(written, c, now)
		if own.Kind != dedup.Create || own.Reason != d.Reason || own.Uncertain != d.Uncertain {
			t.Fatalf("taken by the store: %s %q %q, decided: %s %q %q: %+v", own.Kind, own.Reason, own.Uncertain, d.Kind, d.Reason, d.Uncertain, rec)
		}
		decided := *d.Next
		decided.Trail = written.Trail
		if !reflect.DeepEqual(decided, written) {
			t.Fatalf("the store writes\n%+v\nDecide\n%+v", written, decided)
		}
		taken[d.Reason]++
		remembered := now.Before(rec.KeepUntil)
		if remembered && (rec.State == dedup.Claimed || rec.State == dedup.Doubtful || rec.InDoubt) {
			t.Fatalf("%s, in doubt %t, was free: %+v", rec.State, rec.InDoubt, rec)
		}
	})
	for _, reason := range []dedup.Reason{dedup.First, dedup.Expired, dedup.WasClosed} {
		if taken[reason] == 0 {
			t.Errorf("no record was taken as %s: %v", reason, taken)
		}
	}
}

// TestWhatDecideCreatesAtOnceIsFree is the converse, without which the store
// would answer every claim of a closed record with one more round trip.
func TestWhatDecideCreatesAtOnceIsFree(t *testing.T) {
	t.Parallel()
	eachRecord(func(cfg *setting, rec dedup.Record, c dedup.Claim, now time.Time) {
		d := dedup.Decide(rec, c, now)
		atOnce := d.Kind == dedup.Create && d.Next != nil && len(d.Duplicates) == 0 && d.Next.Episode > rec.Episode
		if atOnce && !rec.InDoubt && now.Before(rec.FreeAt) {
			t.Fatalf("Decide creates (%s), and the record is free only at %v: %+v", d.Reason, rec.FreeAt.Sub(now), rec)
		}
	})
}

// TestDecisionsKeepWhatTheyMust: versions and episodes never go back but to a
// restored prior, a prior has none, and no function changes what it was given.
func TestDecisionsKeepWhatTheyMust(t *testing.T) {
	t.Parallel()
	eachRecord(func(cfg *setting, rec dedup.Record, c dedup.Claim, now time.Time) {
		before := deepCopy(rec)
		for name, next := range everyNext(cfg, rec, c, now) {
			if next == nil {
				continue
			}
			back := rec.Prior != nil && next.Episode == rec.Prior.Episode
			switch {
			case next.Version < rec.Version:
				t.Fatalf("%s lowers the version: %+v of %+v", name, *next, rec)
			case next.Episode < rec.Episode && !back:
				t.Fatalf("%s lowers the episode: %+v of %+v", name, *next, rec)
			case next.Prior != nil && next.Prior.Prior != nil:
				t.Fatalf("%s leaves a prior of a prior: %+v", name, *next)
			case next.State != dedup.None && !next.KeepUntil.After(now) && name != "taken back":
				t.Fatalf("%s forgets at once: %+v", name, *next)
			}
			checkFreeAt(t, name, cfg, *next)
		}
		if !reflect.DeepEqual(before, rec) {
			t.Fatalf("the record that was given has changed:\n%+v\n%+v", before, rec)
		}
	})
}

// checkFreeAt: what a record in each state says of FreeAt.
func checkFreeAt(t *testing.T, name string, cfg *setting, rec dedup.Record) {
	t.Helper()
	p := cfg.policy
	var want time.Time
	switch {
	case rec.State == dedup.Open:
		want = rec.ExpiresAt
	case rec.State == dedup.Claimed, rec.State == dedup.Doubtful, rec.Update != nil, rec.InDoubt, rec.State == dedup.Closed && len(rec.Attempts) > 0 && p.CanLookUp:
		want = rec.KeepUntil
	case rec.State == dedup.Closed && p.CanReopen && !rec.Gone && len(rec.Attempts) == 0 && rec.Ticket.ID != "":
		want = rec.ClosedAt.Add(p.ReopenWithin)
	}
	if !rec.FreeAt.Equal(want) && !(rec.FreeAt.IsZero() && rec.State == dedup.None) {
		t.Fatalf("%s: free at %v, want %v: %+v", name, rec.FreeAt, want, rec)
	}
}

// everyNext is what each function makes of the record.
func everyNext(cfg *setting, rec dedup.Record, c dedup.Claim, now time.Time) map[string]*dedup.Record {
	p := &cfg.policy
	own := dedup.Send{Holder: rec.Holder, Episode: rec.Episode, Token: rec.Token, Fingerprint: rec.Fingerprint, Reason: dedup.First}
	other := own
	other.Holder = "somebody else"
	created := dedup.Outcome{Kind: dedup.OutcomeCreated, Ticket: dedup.Ticket{ID: "T7"}}
	all := map[string]*dedup.Record{
		"decide":     dedup.Decide(rec, c, now).Next,
		"found":      dedup.AfterLookUp(rec, c, lookUpOf(rec, true), now).Next,
		"closed":     dedup.AfterLookUp(rec, c, lookUpOf(rec, false), now).Next,
		"absent":     dedup.AfterLookUp(rec, c, dedup.LookUpResult{Answered: true}, now).Next,
		"unanswered": dedup.AfterLookUp(rec, c, dedup.LookUpResult{}, now).Next,
		"read open":  dedup.AfterRead(rec, c, dedup.ReadResult{Answered: true, Open: true}, now).Next,
		"read gone":  dedup.AfterRead(rec, c, dedup.ReadResult{Answered: true, Gone: true}, now).Next,
		"unread":     dedup.AfterRead(rec, c, dedup.ReadResult{}, now).Next,
		"escalate":   dedup.Escalate(rec, c, now).Next,
		"close":      dedup.CloseTicket(rec, rec.Ticket.ID, p, now),
		"created":    dedup.Settle(rec, own, created, p, now).Next,
		"late":       dedup.Settle(rec, other, created, p, now).Next,
		"taken back": dedup.Settle(rec, own, dedup.Outcome{Kind: dedup.OutcomeRefused}, p, now).Next,
		"unknown":    dedup.Settle(rec, own, dedup.Outcome{Kind: dedup.OutcomeUnknown}, p, now).Next,
		"remembered": dedup.AfterRememberedRead(rec, own, created, dedup.ReadResult{Answered: true}, p, now).Next,
	}
	if u := rec.Update; u != nil {
		ch := dedup.Change{Holder: u.Holder, Episode: rec.Episode, Ticket: rec.Ticket, Fingerprint: u.Fingerprint, At: now}
		for _, kind := range []dedup.UpdateKind{dedup.UpdateApplied, dedup.UpdateGone, dedup.UpdateRefused, dedup.UpdateNotSent, dedup.UpdateUnknown} {
			all["update "+string(kind)] = dedup.SettleUpdate(rec, ch, dedup.UpdateOutcome{Kind: kind}, p, now).Next
		}
	}
	return all
}

func lookUpOf(rec dedup.Record, open bool) dedup.LookUpResult {
	found := dedup.FoundTicket{Ticket: dedup.Ticket{ID: "T8"}, Open: open, Created: rec.ClaimedAt}
	return dedup.LookUpResult{Answered: true, Tickets: []dedup.FoundTicket{found}}
}

// eachRecord calls check with many records that random schedules have made,
// each with random claims at random times.
func eachRecord(check func(cfg *setting, rec dedup.Record, c dedup.Claim, now time.Time)) {
	seeds := uint64(150)
	if soak() {
		seeds = 40_000
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 3))
		cfg := randomSetting(r)
		w := newWorld(cfg, shipped())
		for range 60 {
			can := w.enabled(nil)
			if len(can) == 0 {
				break
			}
			w.do(can[r.IntN(len(can))])
			for range 4 {
				now := w.clock().Add(time.Duration(r.IntN(80)) * time.Second)
				if r.IntN(10) == 0 {
					now = now.Add(2 * remember * time.Second)
				}
				check(cfg, w.rec, randomClaim(r, w, cfg), now)
			}
		}
	}
}

// randomClaim is of anybody: often of the one who holds the record.
func randomClaim(r *rand.Rand, w *world, cfg *setting) dedup.Claim {
	q := request{sev: string("AABC"[r.IntN(4)])}
	c := dedup.Claim{
		Fault:  dedup.Fault{Ref: dedup.Ref{Key: "k"}, Fingerprint: q.fingerprint()},
		Policy: &cfg.policy, Holder: fmt.Sprintf("p%d", r.IntN(3)), Met: int64(r.IntN(2)),
	}
	switch u := w.rec.Update; {
	case r.IntN(2) == 0:
	case u != nil:
		c.Holder = u.Holder
	case w.rec.Holder != "":
		c.Holder = w.rec.Holder
	}
	return c
}

// deepCopy copies what a record points to, one level of prior included.
func deepCopy(rec dedup.Record) dedup.Record {
	rec.Attempts = slices.Clone(rec.Attempts)
	rec.Trail = slices.Clone(rec.Trail)
	rec.Principals = slices.Clone(rec.Principals)
	if rec.Update != nil {
		u := *rec.Update
		rec.Update = &u
	}
	if rec.Prior != nil {
		p := deepCopy(*rec.Prior)
		rec.Prior = &p
	}
	return rec
}
