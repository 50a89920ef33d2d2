package failover_test

import (
	"crypto/rand"
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

// Two replicas that are cut off from each other both open a ticket.
func TestTwoReplicasApartReportTheDouble(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		other := newReplica(r.TB, r.desk, r.far, storetest.NewMemory(time.Now))
		r.away()
		other.away()
		r.expect("create store_down T0", r.fire())
		other.expect("create store_down T1", other.fire())
		r.back()
		other.back()
		r.holds("T0")
		r.results("taken_over T0")
		other.results("duplicate T1")
		other.expect("suppress T0", other.fire())
	})
}

// Where the backend remembers and its tickets can be read, they meet there.
func TestTwoReplicasApartMeetAtTheBackend(t *testing.T) {
	for _, memory := range []dedup.Memory{dedup.Remembers, dedup.Folds} {
		t.Run(string(memory), func(t *testing.T) {
			story(t, &desk{memory: memory}, func(r *replica) {
				other := newReplica(r.TB, r.desk, r.far, storetest.NewMemory(time.Now))
				r.away()
				other.away()
				r.expect("create store_down T0", r.fire())
				other.expect("create store_down T0", other.fire())
				r.back()
				other.back()
				r.holds("T0")
				r.results("taken_over T0")
				other.results("merged T0")
			})
		})
	}
}

func TestTwoReplicasOfOneMachineShareTheEmbeddedStore(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		other := newReplica(r.TB, r.desk, r.far, r.near)
		r.away()
		other.away()
		r.expect("create store_down T0", r.fire())
		other.expect("suppress T0", other.fire())
		r.back()
		other.back()
		r.holds("T0")
		if all := append(r.told.results(), other.told.results()...); len(all) != 1 || all[0] != "taken_over T0" {
			r.Errorf("told %q", all)
		}
	})
}

// A Swap or a claim whose reply was lost just before the outage.
func TestARepliesLostJustBeforeTheOutage(t *testing.T) {
	t.Run("of the claim", func(t *testing.T) {
		story(t, &desk{}, func(r *replica) {
			r.shared.loses.Store(2)
			r.expect("create store_down T0", r.fire())
			r.quiet()
			r.holds("T0")
			if open := r.desk.open(); len(open) != 1 {
				r.Errorf("tickets: %v", open)
			}
		})
	})
	t.Run("of the settle", func(t *testing.T) {
		story(t, &desk{}, func(r *replica) {
			h := r.decide("2").Hold
			id := r.leave(h)
			synctest.Wait()
			r.shared.loses.Store(2)
			r.settle(h, id)
			r.away()
			r.expect("suppress T0", r.fire())
			r.back()
			r.holds("T0")
			r.results()
		})
	})
}

func TestAStoreThatComesAndGoes(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		for range 5 {
			r.away()
			r.fire()
			r.shared.cut.Store(false)
			time.Sleep(700 * time.Millisecond)
			r.fire()
		}
		r.quiet()
		r.holds("T0")
		if open := r.desk.open(); len(open) != 1 {
			r.Errorf("tickets: %v", open)
		}
	})
}

// A frozen store costs the deadline, and next to nothing once that is known.
func TestAFrozenStore(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		r.shared.frozen.Store(int64(250 * time.Millisecond))
		began := time.Now()
		r.expect("create store_down T0", r.fire())
		if took := time.Since(began); took > time.Second {
			r.Errorf("the first request took %v", took)
		}
		r.fire()
		time.Sleep(time.Second)
		for range 20 { // probes go beside
			began = time.Now()
			r.expect("suppress T0", r.fire())
			if took := time.Since(began); took > 0 {
				r.Errorf("a request took %v", took)
			}
			time.Sleep(130 * time.Millisecond)
		}
		r.back()
		r.holds("T0")
	})
}

// A store that takes no write is as one that is away, also when it still reads.
func TestAStoreThatTakesNoWrite(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		readOnly := func(op string) error {
			if op != storetest.Get && op != storetest.List {
				return storetest.ErrLost
			}
			return nil
		}
		r.shared.also.Store(&readOnly)
		r.expect("create store_down T0", r.fire())
		for range 3 { // faults of others
			_, _ = r.store.Claim(r.Context(), dedup.Ref{Rule: "faults", Key: dedup.Key(rand.Text())}, &dedup.Offer{Holder: "h", Lease: time.Second, Keep: time.Second})
		}
		for range 5 {
			r.expect("suppress T0", r.fire())
			time.Sleep(time.Second)
			if !r.store.Away() {
				r.Error("it believes that the store is back")
			}
		}
		r.shared.also.Store(nil)
		r.quiet()
		r.holds("T0")
	})
}

func TestWhenTheEmbeddedStoreFailsToo(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		r.away()
		r.local.cut.Store(true)
		if v, err := r.engine.Decide(r.Context(), r.claim("2")); err == nil {
			r.Errorf("decided: %+v", v)
		}
		r.local.cut.Store(false)
		r.expect("create store_down T0", r.fire())
		r.back()
		r.holds("T0")
	})
}

// The first start of all falls into an outage: what only this replica has made
// serves until there is a shared one, which wins.
func TestASecretOfItsOwnInAnOutage(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		own, err := dedup.Secret(r.Context(), r.near)
		if err != nil {
			r.Fatal(err)
		}
		r.away()
		if now, err := dedup.Secret(r.Context(), r.store); err != nil || string(now) != string(own) {
			r.Errorf("in the outage it is another one, %v", err)
		}
		r.back()
		shared, err := dedup.Secret(r.Context(), r.store)
		if found, unread := r.far.Get(r.Context(), dedup.Ref{Scope: "oneticket", Key: "secret"}); err != nil || unread != nil || string(found.Record.Identity) != string(shared) {
			r.Errorf("after it, it is not the shared store's: %v, %v", err, unread)
		}
		synctest.Wait()
		r.away()
		if now, err := dedup.Secret(r.Context(), r.store); err != nil || string(now) != string(shared) {
			r.Errorf("in the next outage it is not the shared one, %v", err)
		}
	})
}

func TestTheSwitchesAndTheSecretAreKnownInAnOutage(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		secret, err := dedup.Secret(r.Context(), r.store)
		if err != nil {
			r.Fatal(err)
		}
		if _, err := dedup.SwitchOff(r.Context(), r.store, "faults"); err != nil {
			r.Fatal(err)
		}
		synctest.Wait()
		r.away()
		if off, err := dedup.ReadSwitches(r.Context(), r.store); err != nil || !off.Off("faults") {
			r.Errorf("switches %+v, %v", off, err)
		}
		if again, err := dedup.Secret(r.Context(), r.store); err != nil || string(again) != string(secret) {
			r.Errorf("another secret, %v", err)
		}
		if _, err := dedup.SwitchOn(r.Context(), r.store, "faults"); err == nil {
			r.Error("one replica has switched on what all must agree on")
		}
	})
}

// A caller that goes is no failure of the store.
func TestCallersThatGoOpenNoBreaker(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		gone, cancel := contextOver(r)
		defer cancel()
		for range 20 {
			_, _ = r.store.Get(gone, theRef)
		}
		if r.store.Away() {
			r.Error("the breaker is open")
		}
		r.expect("create first T0", r.fire())
	})
}

// The outcome of a create goes to the shared store before any new claim of its
// key: else that would find a claim whose lease is over, and send it again.
func TestTheJournalComesBeforeTheNextClaim(t *testing.T) {
	story(t, &desk{mute: true}, func(r *replica) {
		h := r.decide("2").Hold
		id := r.leave(h)
		r.away()
		time.Sleep(3 * time.Minute)
		r.settle(h, id)
		r.local.refuse.Store(storetest.List) // what was left cannot be read yet
		r.shared.cut.Store(false)
		for r.store.Away() {
			time.Sleep(100 * time.Millisecond)
		}
		r.expect("suppress T0", r.fire())
		r.local.refuse.Store("")
		r.quiet()
		r.holds("T0")
	})
}

// What a replica knew of a fault before the outage is no news when the others
// have gone on since.
func TestWhatWasKnownBeforeIsNoNews(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		other := newReplica(r.TB, r.desk, r.far, storetest.NewMemory(time.Now))
		r.expect("create first T0", r.fire())
		time.Sleep(time.Second)
		r.away()
		other.closes("T0")
		other.expect("create closed T1", other.fire())
		time.Sleep(time.Second)
		other.closes("T1")
		r.expect("suppress T0", r.fire()) // it cannot know
		r.back()
		if rec := r.record(); rec.State != dedup.Closed || rec.Ticket.ID != "T1" {
			r.Errorf("the shared record is %s with %s", rec.State, rec.Ticket.ID)
		}
		r.results()
		r.expect("create closed T2", r.fire())
	})
}

// closes closes the ticket, and a webhook tells of it here.
func (r *replica) closes(id string) {
	r.Helper()
	r.desk.close(id)
	if err := r.engine.CloseTicket(r.Context(), scope, id, r.policy); err != nil {
		r.Fatal(err)
	}
}

// The shared store was not told whose the ticket is: a close of it would be kept
// there for somebody who never asks.
func TestATicketThatCouldNotBeIndexed(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		other := newReplica(r.TB, r.desk, r.far, storetest.NewMemory(time.Now))
		r.shared.refuse.Store(storetest.Ticket)
		r.expect("create first T0", r.fire())
		time.Sleep(time.Second)
		r.shared.refuse.Store("")
		other.closes("T0")
		r.quiet()
		if rec := r.record(); rec.State != dedup.Closed {
			r.Errorf("the shared record is %s with %s", rec.State, rec.Ticket.ID)
		}
	})
}

// The store went away before it was told whose the ticket is, and the ticket was
// closed and its fault came again in the outage: the new ticket is no double.
func TestACloseOfATicketThatCouldNotBeIndexed(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		r.shared.refuse.Store(storetest.Ticket)
		r.expect("create first T0", r.fire())
		r.away()
		r.desk.close("T0")
		r.closes("T0")
		r.expect("create store_down T1", r.fire())
		r.shared.refuse.Store("")
		r.back()
		r.holds("T1")
		r.results("taken_over T1")
	})
}

// A claim whose reply was lost is nobody's: the others do not wait for its lease.
func TestAClaimWhoseReplyWasLostIsTakenBack(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		other := newReplica(r.TB, r.desk, r.far, storetest.NewMemory(time.Now))
		r.shared.loses.Store(2)
		h := r.decide("2").Hold
		r.quietExceptWaits()
		if rec := r.record(); rec.State == dedup.Claimed {
			r.Errorf("the shared record is still claimed")
		}
		r.settle(h, r.leave(h))
		r.quiet()
		other.expect("suppress T0", other.fire())
	})
}

// quietExceptWaits lets the reconciler do what it can now.
func (r *replica) quietExceptWaits() {
	r.Helper()
	if _, err := r.store.Reconcile(r.Context()); err != nil {
		r.Fatal(err)
	}
}

// One that has waited in the outage and creates after it is no provisional create.
func TestAWaiterThatCreatesAfterTheOutage(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		h := r.decide("2").Hold
		r.away()
		said := make(chan string)
		go func() { said <- r.fire() }()
		time.Sleep(500 * time.Millisecond)
		r.back()
		if _, err := h.Settle(r.Context(), dedup.Outcome{Kind: dedup.OutcomeNeverSent}); err != nil {
			r.Fatal(err)
		}
		r.expect("create first T0", <-said)
		r.quiet()
		r.holds("T0")
		if token := r.record().Token; token != string(theRef.Key) {
			r.Errorf("the token is %q", token)
		}
	})
}
