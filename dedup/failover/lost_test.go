package failover_test

import (
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

// loses has the shared store lose all that f writes, as a server does that takes
// over: one call fails, no more.
func (r *replica) loses(f func()) {
	r.Helper()
	rewind := r.far.(*storetest.Memory).Snapshot()
	f()
	time.Sleep(time.Second)
	rewind()
	r.shared.cut.Store(true)
	_, _ = r.store.Get(r.Context(), dedup.Ref{Rule: "faults", Key: "another"})
	r.shared.cut.Store(false)
	if r.store.Away() {
		r.Fatal("one call that failed has opened the breaker")
	}
}

// settles waits until whatever was lost is found.
func (r *replica) settles() {
	r.Helper()
	time.Sleep(10 * time.Second)
	r.quiet()
}

// TestAnAcknowledgedRecordIsLostInAFailover, and no request comes before that is
// seen.
func TestAnAcknowledgedRecordIsLostInAFailover(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		r.loses(func() { r.expect("create first T0", r.fire()) })
		r.settles()
		r.holds("T0")
		r.results("taken_over T0")
		r.expect("suppress T0", r.fire())
	})
}

// The re-fire is the first that meets the loss: it is not answered by a second
// ticket.
func TestARefireOfALostRecord(t *testing.T) {
	for name, known := range map[string]bool{"of a new fault": false, "of a fault that was there before": true} {
		t.Run(name, func(t *testing.T) {
			story(t, &desk{}, func(r *replica) {
				ticket := "T0"
				if known {
					r.expect("create first T0", r.fire())
					time.Sleep(time.Second)
					r.ends("T0")
					ticket = "T1"
				}
				r.loses(func() {
					if saw := r.fire(); !strings.HasSuffix(saw, ticket) {
						t.Errorf("saw %q, want a create of %s", saw, ticket)
					}
				})
				r.expect("suppress "+ticket, r.fire())
				r.settles()
				r.holds(ticket)
				r.results("taken_over " + ticket)
			})
		})
	}
}

// ends closes the ticket, seen by this replica.
func (r *replica) ends(ticket string) {
	r.Helper()
	r.desk.close(ticket)
	if err := r.engine.CloseTicket(r.Context(), scope, ticket, r.policy); err != nil {
		r.Fatal(err)
	}
}

// Another replica, which has not seen the record, opens a second ticket: that is
// reported by the one that has, however its token is made.
func TestARefireOfALostRecordElsewhere(t *testing.T) {
	for name, memory := range map[string]dedup.Memory{"no memory": "", "a memory without end": dedup.Remembers} {
		t.Run(name, func(t *testing.T) {
			story(t, &desk{}, func(r *replica) {
				r.policy.Memory = memory
				if memory == dedup.Remembers {
					r.policy.MemoryFor = 0
				}
				other := newReplica(r.TB, r.desk, r.far, storetest.NewMemory(time.Now))
				other.policy = r.policy
				r.loses(func() { r.expect("create first T0", r.fire()) })
				time.Sleep(time.Second)
				other.expect("create first T1", other.fire())
				r.settles()
				other.settles()
				r.holds("T1")
				r.results("duplicate T0")
				other.results()
				r.expect("suppress T1", r.fire())
			})
		})
	}
}

// A claim survives, its outcome does not: the ticket is known here.
func TestOnlyTheOutcomeIsLost(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		v := r.decide("2")
		r.loses(func() { r.send(v.Hold) })
		r.settles()
		r.holds("T0")
	})
}

// The claim is lost, and the answer comes while the store is away.
func TestAClaimIsLostWhoseAnswerComesInTheOutage(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		rewind := r.far.(*storetest.Memory).Snapshot()
		v := r.decide("2")
		r.away()
		rewind()
		r.send(v.Hold)
		r.expect("suppress T0", r.fire())
		r.back()
		r.holds("T0")
		r.results("taken_over T0")
	})
}

// What is lost of a record beside its ticket is nothing to tell of.
func TestOnlyAnUpdateIsLost(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		r.expect("create first T0", r.fire())
		time.Sleep(time.Second)
		r.loses(func() { r.decide("1") })
		r.settles()
		r.holds("T0")
		r.results()
		if fp := r.record().Fingerprint; fp.Severity == "2" {
			t.Errorf("the record says %+v, which the ticket does not", fp)
		}
	})
}

// A close that is lost is not forgotten: the next fault has a ticket.
func TestACloseIsLost(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		r.expect("create first T0", r.fire())
		time.Sleep(time.Second)
		r.loses(func() { r.ends("T0") })
		r.settles()
		r.expect("create closed T1", r.fire())
	})
}

// Where nothing is lost nothing is told, however often a call fails.
func TestNothingIsLost(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		r.expect("create first T0", r.fire())
		for range 5 {
			r.loses(func() {})
			r.expect("suppress T0", r.fire())
			r.settles()
		}
		if err := r.store.Delete(r.Context(), theRef); err != nil {
			t.Fatal(err)
		}
		r.loses(func() {})
		r.settles()
		r.results()
		r.expect("create first T1", r.fire())
	})
}
