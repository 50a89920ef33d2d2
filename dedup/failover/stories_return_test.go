package failover_test

import (
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

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
