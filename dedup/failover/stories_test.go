package failover_test

import (
	"testing"
	"testing/synctest"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

// story runs f in time that is not real, with one replica and what it needs.
func story(t *testing.T, d *desk, f func(r *replica)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f(newReplica(t, d, storetest.NewMemory(time.Now), storetest.NewMemory(time.Now)))
		synctest.Wait()
	})
}

func TestOneTicketAFaultWhileTheStoreIsAway(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		r.away()
		r.expect("create store_down T0", r.fire())
		r.expect("suppress T0", r.fire())
		if n := r.store.Provisional(); n != 1 {
			r.Errorf("%d provisional creates", n)
		}
		r.back()
		r.holds("T0")
		r.results("taken_over T0")
		r.expect("suppress T0", r.fire())
	})
}

func TestRefiresOfKnownFaultsAreSuppressedInAnOutage(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		r.expect("create first T0", r.fire())
		time.Sleep(time.Second)
		r.away()
		r.expect("suppress T0", r.fire())
		if v := r.decide("1"); v.Kind != dedup.Update || v.Record.Ticket.ID != "T0" {
			r.Errorf("a worse severity: %+v", v)
		}
		r.back()
		r.holds("T0")
		r.results()
		if fp := r.record().Fingerprint; fp.Severity == "2" {
			r.Errorf("the record still says %+v", fp)
		}
	})
}

func TestProvisionalCreatesSurviveARestart(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		r.away()
		r.expect("create store_down T0", r.fire())
		r.crash()
		r.start()
		r.away()
		r.expect("suppress T0", r.fire())
		r.back()
		r.holds("T0")
		r.results("taken_over T0")
	})
}

// The trace outbox of the model: a hold of the shared store that is settled
// while that is away.
func TestAnAnswerThatComesInTheOutageIsKept(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		h := r.decide("2").Hold
		id := r.leave(h)
		r.away()
		r.settle(h, id)
		r.expect("suppress T0", r.fire())
		r.back()
		r.holds("T0")
		r.expect("suppress T0", r.fire())
		if open := r.desk.open(); len(open) != 1 {
			r.Errorf("tickets: %v", open)
		}
	})
}

func TestAnAnswerThatWasKeptSurvivesARestart(t *testing.T) {
	story(t, &desk{mute: true}, func(r *replica) {
		h := r.decide("2").Hold
		id := r.leave(h)
		r.away()
		r.settle(h, id)
		r.crash()
		r.start()
		r.quiet()
		r.holds("T0")
	})
}

// A re-fire that comes while the first create is under way waits for it, also
// when the store goes away meanwhile.
func TestAWaiterThatWaitsAcrossTheSwitch(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		h := r.decide("2").Hold
		id := r.leave(h)
		said := make(chan string)
		go func() { said <- r.fire() }()
		synctest.Wait()
		r.away()
		time.Sleep(time.Second)
		r.settle(h, id)
		r.expect("suppress T0", <-said)
		r.back()
		r.holds("T0")
	})
}

// And when it comes back before the answer.
func TestAWaiterThatWaitsThroughAnOutage(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		h := r.decide("2").Hold
		id := r.leave(h)
		r.away()
		said := make(chan string)
		go func() { said <- r.fire() }()
		time.Sleep(500 * time.Millisecond)
		r.back()
		r.settle(h, id)
		r.expect("suppress T0", <-said)
		r.quiet()
		r.holds("T0")
	})
}

// The trace rec_doubt: the first create's outcome is not known.
func TestTheSharedTokenIsLookedUpFirst(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		other := newReplica(r.TB, r.desk, r.far, storetest.NewMemory(time.Now))
		h := other.decide("2").Hold
		other.leave(h)
		if _, err := h.Settle(r.Context(), dedup.Outcome{Kind: dedup.OutcomeUnknown}); err != nil {
			r.Fatal(err)
		}
		r.away()
		r.expect("create store_down T1", r.fire())
		r.back()
		r.holds("T0")
		r.results("duplicate T1")
	})
}

// The trace rec_pending and prov_late: a provisional create that ends after its
// record was reconciled.
func TestAProvisionalCreateThatEndsLate(t *testing.T) {
	for name, d := range map[string]*desk{"can be asked": {}, "nobody to ask": {mute: true}} {
		t.Run(name, func(t *testing.T) {
			story(t, d, func(r *replica) {
				r.away()
				h := r.decide("2").Hold
				r.shared.cut.Store(false)
				time.Sleep(3 * time.Minute) // its lease, and settle
				r.quiet()
				id := r.leave(h)
				r.settle(h, id)
				r.quiet()
				r.holds("T0")
				for _, e := range r.told.results() {
					if e == "duplicate T0" {
						r.Error("the ticket of the record itself is reported")
					}
				}
			})
		})
	}
}

// The trace tomb: a close in an outage, before and after the ticket is known.
func TestACloseInTheOutageIsTakenOver(t *testing.T) {
	for name, known := range map[string]bool{"of a ticket that the shared store has": true, "of a ticket that was made meanwhile": false} {
		t.Run(name, func(t *testing.T) {
			story(t, &desk{}, func(r *replica) {
				if known {
					r.expect("create first T0", r.fire())
					time.Sleep(time.Second)
				}
				r.away()
				if !known {
					r.expect("create store_down T0", r.fire())
					time.Sleep(time.Second)
				}
				r.desk.close("T0")
				if err := r.engine.CloseTicket(r.Context(), scope, "T0", r.policy); err != nil {
					r.Fatal(err)
				}
				r.back()
				if rec := r.record(); rec.State == dedup.Open {
					r.Errorf("the shared record is still open with %s", rec.Ticket.ID)
				}
				if saw := r.fire(); saw != "create closed T1" && saw != "create first T1" {
					r.Errorf("the next fault: %s", saw)
				}
				r.holds("T1")
			})
		})
	}
}

// A ticket that is seen closed in an outage, of a record that this replica has
// never seen.
func TestACloseOfARecordThatIsNotKnownHere(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		other := newReplica(r, r.desk, r.far, storetest.NewMemory(time.Now))
		r.expect("create first T0", other.fire())
		time.Sleep(time.Second)
		r.away()
		r.desk.close("T0")
		if err := r.engine.CloseHeld(r.Context(), scope, theRef, "T0", r.policy); err != nil {
			r.Fatal(err)
		}
		r.back()
		if rec := r.record(); rec.State != dedup.Closed {
			r.Errorf("the shared record is %s", rec.State)
		}
	})
}

// A fault that is closed and comes again, all in one outage.
func TestTwoEpisodesInOneOutage(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		r.away()
		r.expect("create store_down T0", r.fire())
		time.Sleep(time.Second)
		r.desk.close("T0")
		if err := r.engine.CloseTicket(r.Context(), scope, "T0", r.policy); err != nil {
			r.Fatal(err)
		}
		r.expect("create store_down T1", r.fire())
		r.back()
		r.holds("T1")
	})
}

func TestAClearInAnOutage(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		r.expect("create first T0", r.fire())
		time.Sleep(time.Second)
		r.away()
		if v := r.decide("0"); v.Kind != dedup.Update {
			r.Fatalf("a clear: %+v", v)
		}
		r.desk.close("T0")
		r.expect("create store_down T1", r.fire())
		r.back()
		r.holds("T1")
	})
}
