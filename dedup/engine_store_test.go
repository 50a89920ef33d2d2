package dedup_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

// TestAStoreThatFailsOnceNeverGivesTwoHolds: for each call that a request
// makes, its failure before it is applied and after.
func TestAStoreThatFailsOnceNeverGivesTwoHolds(t *testing.T) {
	for _, op := range []string{storetest.Claim, storetest.Swap, storetest.Get, storetest.MarkSent, storetest.Ticket} {
		for _, applied := range []bool{false, true} {
			name := op + " is lost"
			if applied {
				name = "the reply of " + op + " is lost"
			}
			t.Run(name, func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					faulty := &storetest.Faulty{Store: storetest.NewMemory(time.Now)}
					if applied {
						faulty.After = storetest.Once(op)
					} else {
						faulty.Before = storetest.Once(op)
					}
					twoRequests(t, newReplicas(faulty, 2))
				})
			})
		}
	}
}

// twoRequests: the first creates, the second is answered by it.
func twoRequests(t *testing.T, r *replicas) {
	t.Helper()
	defer r.close()
	first, err := r.decide(t.Context(), 0, r.claim("A", ""))
	if err != nil || first.Kind != dedup.Create || !first.Hold.Ready() {
		t.Fatalf("the first: %s, %v", first.Kind, err)
	}
	first.Hold.MarkSent()
	time.AfterFunc(time.Second, func() {
		if st, err := first.Hold.Settle(t.Context(), created("T1")); err != nil || !st.Success {
			t.Errorf("its settle: %+v, %v", st, err)
		}
	})
	second, err := r.decide(t.Context(), 1, r.claim("A", ""))
	if err != nil || second.Kind != dedup.Suppress || string(second.Record.Response.Body) != "T1" {
		t.Errorf("the second: %s %s, %v", second.Kind, second.Reason, err)
	}
	if n := r.creates.Load(); n != 1 {
		t.Errorf("%d creates", n)
	}
}

func TestAStoreOutOfReachDecidesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		away := func(string) error { return storetest.ErrLost }
		r := newReplicas(&storetest.Faulty{Store: storetest.NewMemory(time.Now), Before: away}, 1)
		defer r.close()
		v, err := r.decide(t.Context(), 0, r.claim("A", ""))
		if !errors.Is(err, storetest.ErrLost) || v.Hold != nil {
			t.Errorf("%+v, %v", v, err)
		}
	})
}

func TestAHoldIsSettledOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newReplicas(storetest.NewMemory(time.Now), 1)
		defer r.close()
		v, _ := r.decide(t.Context(), 0, r.claim("A", ""))
		if _, err := v.Hold.Settle(t.Context(), created("T1")); err != nil {
			t.Fatal(err)
		}
		if _, err := v.Hold.Settle(t.Context(), dedup.Outcome{Kind: dedup.OutcomeRefused}); err != nil {
			t.Fatal(err)
		}
		found, _ := r.store.Get(t.Context(), r.claim("A", "").Fault.Ref)
		if found.Record.State != dedup.Open || found.Record.Ticket.ID != "T1" {
			t.Errorf("the record is %s with %s", found.Record.State, found.Record.Ticket.ID)
		}
	})
}

func TestAHolderWhoseLeaseIsNearlyOverIsNotReady(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newReplicas(storetest.NewMemory(time.Now), 1)
		defer r.close()
		v, _ := r.decide(t.Context(), 0, r.claim("A", ""))
		if !v.Hold.Ready() {
			t.Error("not ready at once")
		}
		time.Sleep((lease - exchange) * time.Second)
		if v.Hold.Ready() {
			t.Error("ready with less of the lease than the exchange needs")
		}
		if err := v.Hold.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		again, err := r.decide(t.Context(), 0, r.claim("A", ""))
		if again.Kind != dedup.Create || err != nil {
			t.Errorf("decided again: %s, %v", again.Kind, err)
		}
		again.Hold.Release(t.Context())
	})
}

// A lateReply store hands out the answer to a claim long after it was made.
type lateReply struct {
	dedup.Store
	by time.Duration
}

func (s *lateReply) Claim(ctx context.Context, ref dedup.Ref, o *dedup.Offer) (dedup.Found, error) {
	found, err := s.Store.Claim(ctx, ref, o)
	time.Sleep(s.by)
	return found, err
}

// TestTheFenceCountsFromBeforeTheClaimWasSent: also where the create is decided
// here and written by a Swap, because the lease in it counts from the claim.
func TestTheFenceCountsFromBeforeTheClaimWasSent(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		slow := &lateReply{Store: storetest.NewMemory(time.Now)}
		r := newReplicas(slow, 1)
		defer r.close()
		first, _ := r.decide(t.Context(), 0, r.claim("A", ""))
		first.Hold.Settle(t.Context(), dedup.Outcome{Kind: dedup.OutcomeUnknown})
		time.Sleep(settle * time.Second)
		slow.by = (lease - exchange) * time.Second
		again, err := r.decide(t.Context(), 0, r.claim("A", ""))
		if err != nil || again.Reason != dedup.Retried {
			t.Fatalf("%s %s, %v", again.Kind, again.Reason, err)
		}
		if again.Hold.Ready() {
			t.Error("ready with less of the lease than the exchange needs")
		}
		again.Hold.Release(t.Context())
	})
}

// A close may come before the answer of a create: whoever writes the ticket
// later writes closed.
func TestACloseThatCameBeforeTheAnswerIsWritten(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newReplicas(storetest.NewMemory(time.Now), 1)
		c := r.claim("A", "")
		c.Fault.Backend = "snow"
		v, _ := r.decide(t.Context(), 0, c)
		if _, held, err := r.store.KeepClose(t.Context(), "snow", "T1", time.Hour); held || err != nil {
			t.Fatalf("held %t, %v", held, err)
		}
		if _, err := v.Hold.Settle(t.Context(), created("T1")); err != nil {
			t.Fatal(err)
		}
		r.close()
		found, _ := r.store.Get(t.Context(), c.Fault.Ref)
		if found.Record.State != dedup.Closed {
			t.Errorf("the record is %s, and its ticket was closed", found.Record.State)
		}
	})
}

func TestARememberedTicketWhoseCloseWasKeptIsNoSuccess(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newReplicas(storetest.NewMemory(time.Now), 1)
		defer r.close()
		r.policy = policyOf(systemNamed("remembers"), false, false, false)
		c := r.claim("A", "")
		c.Fault.Backend = "snow"
		first, _ := r.decide(t.Context(), 0, c)
		first.Hold.Settle(t.Context(), dedup.Outcome{Kind: dedup.OutcomeUnknown})
		r.store.KeepClose(t.Context(), "snow", "T1", time.Hour)
		time.Sleep(settle * time.Second)
		again, _ := r.decide(t.Context(), 0, c)
		st, err := again.Hold.Settle(t.Context(), created("T1"))
		if again.Reason != dedup.Retried || st.Success || err != nil {
			t.Errorf("%s: %+v, %v", again.Reason, st, err)
		}
	})
}
