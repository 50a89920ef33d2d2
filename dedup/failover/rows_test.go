package failover_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

// TestEveryRowOfTheReturn puts a record into each of two real stores and has
// what is there reconciled, once as it is and once with a lost reply at every
// call, as if each step had been done by a process that died after it.
func TestEveryRowOfTheReturn(t *testing.T) {
	t.Parallel()
	for _, local := range []string{"open", "closed", "doubtful", "claimed"} {
		for _, shared := range []string{"none", "open", "same", "closed", "expired", "doubtful", "lapsed", "claimed"} {
			for name, loses := range map[string]bool{"": false, ", every first reply lost": true} {
				t.Run("local "+local+", shared "+shared+name, func(t *testing.T) {
					t.Parallel()
					newRow(t, loses).reconcile(local, shared)
				})
			}
		}
	}
}

// want is what the design says: the shared state then, its ticket, and what is
// told. L is the local ticket, S the shared one's. The local token of a doubtful
// record is found as L, the shared one's as nothing.
var want = map[string]string{
	"open none": "open L taken_over L", "open open": "open S duplicate L", "open same": "open L merged L",
	"open closed": "open L taken_over L", "open expired": "open L taken_over L", "open doubtful": "open L taken_over L",
	"open lapsed": "open L taken_over L", "open claimed": "claimed  waits",
	"closed none": "  closed L", "closed open": "open S closed L", "closed same": "closed L closed L", "closed closed": "closed S closed L",
	"closed expired": "open S closed L", "closed doubtful": "doubtful  closed L", "closed lapsed": "claimed  closed L", "closed claimed": "claimed  closed L",
	"doubtful none": "open L taken_over L", "doubtful open": "open S duplicate L", "doubtful same": "open L merged L",
	"doubtful closed": "open L taken_over L", "doubtful expired": "open L taken_over L", "doubtful doubtful": "open L taken_over L",
	"doubtful lapsed": "open L taken_over L", "doubtful claimed": "claimed  waits",
	"claimed": "waits",
}

type row struct {
	*replica
	loses bool
}

func newRow(t testing.TB, loses bool) *row {
	dir := t.TempDir()
	r := &replica{TB: t, desk: &desk{}, told: newTold(), deadline: patience, far: openSQLite(t, filepath.Join(dir, "shared.db")), near: openSQLite(t, filepath.Join(dir, "local.db"))}
	r.policy = policyFor(r.desk)
	r.policy.Settle = time.Millisecond
	return &row{r, loses}
}

// record makes one in the state, a minute old.
func (r *row) recordIn(state, token, ticket string, provisional bool) dedup.Record {
	now := time.Now().Add(-time.Minute)
	rec := dedup.Record{
		V: dedup.Format, State: dedup.State(state), Episode: 1, Sends: 1, Token: token, Identity: []byte("element_id=core-rtr-7"),
		Fingerprint: dedup.Fingerprint{Severity: "2"}, ClaimedAt: now, SentAt: now, KeepUntil: now.Add(24 * time.Hour), Provisional: provisional,
	}
	switch state {
	case "none":
		return dedup.Record{}
	case "open", "same", "expired":
		rec.State, rec.OpenedAt, rec.ExpiresAt, rec.Ticket.ID = dedup.Open, now, now.Add(time.Hour), ticket
		if state == "expired" {
			rec.ExpiresAt = now
		}
	case "closed":
		rec.OpenedAt, rec.ClosedAt, rec.Ticket.ID = now, now.Add(time.Second), ticket
	case "doubtful":
		rec.Attempts = []dedup.Attempt{{Number: 1, Holder: "h" + token, Fingerprint: rec.Fingerprint, Token: token, SentAt: now, EndedAt: now.Add(time.Second), Sent: true}}
	case "claimed", "lapsed":
		rec.State, rec.Holder, rec.LeaseUntil, rec.Sent = dedup.Claimed, "h"+token, now.Add(time.Second), true
		if state == "claimed" {
			rec.LeaseUntil = now.Add(time.Hour)
		}
	}
	return rec
}

func (r *row) put(store dedup.Store, ref dedup.Ref, rec dedup.Record) {
	if rec.State == "" {
		return
	}
	if _, err := store.Swap(r.Context(), ref, 0, rec, ""); err != nil {
		r.Fatal(err)
	}
}

func (r *row) reconcile(local, shared string) {
	ticket, token := "S", "k.p1234abcd"
	if shared == "same" {
		ticket = "L"
	}
	r.put(r.near, dedup.Ref{Rule: "own", Scope: theRef.Rule + "\x1f" + theRef.Scope, Key: theRef.Key}, r.recordIn(local, token, "L", true))
	r.put(r.far, theRef, r.recordIn(shared, "k", ticket, false))
	r.desk.tickets = []deskTicket{{id: "L", token: token, open: true, made: time.Now()}}
	r.start()
	defer r.stop()
	if r.loses {
		r.loseEveryFirst()
	}
	saw := r.passes()
	expect, known := want[local]
	if !known {
		expect = want[local+" "+shared]
	}
	if r.loses { // what was written, and not dropped then, is found again
		saw = strings.Replace(saw, "merged", "taken_over", 1)
		expect = strings.Replace(expect, "merged", "taken_over", 1)
	}
	if expect == "" || !strings.HasSuffix(saw, expect) {
		r.Errorf("saw %q, want %q", saw, expect)
	}
}

// loseEveryFirst has the first call of each kind fail after it was applied, in
// each of the two stores.
func (r *row) loseEveryFirst() {
	for _, w := range []*wire{r.shared, r.local} {
		seen := map[string]bool{}
		lost := make(chan struct{}, 1)
		loses := func(op string) error {
			lost <- struct{}{}
			defer func() { <-lost }()
			if op == "list" || seen[op] {
				return nil
			}
			seen[op] = true
			return storetest.ErrLost
		}
		w.lost.Store(&loses)
	}
}

// passes reconciles until nothing is left or something waits.
func (r *row) passes() string {
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		left, err := r.store.Reconcile(context.Background())
		switch {
		case (err != nil || r.store.Away()) && time.Now().Before(end):
			continue
		case err != nil:
			r.Fatal(err)
		}
		found, err := r.far.Get(context.Background(), theRef)
		if err != nil {
			r.Fatal(err)
		}
		told := strings.Join(r.told.results(), " ")
		if left > 0 {
			told = "waits"
		}
		return string(found.Record.State) + " " + found.Record.Ticket.ID + " " + told
	}
}
