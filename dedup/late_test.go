package dedup_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

// A shaky store takes no Swap while it is locked, and loses the reply to a
// Claim when told to.
type shaky struct {
	*storetest.Memory
	locked atomic.Bool
	lose   func() // called after a claim was applied whose reply is lost
}

func (s *shaky) Swap(ctx context.Context, ref dedup.Ref, seen int64, next dedup.Record, nonce string) (dedup.Record, error) {
	if s.locked.Load() {
		return dedup.Record{}, errors.New("database is locked")
	}
	return s.Memory.Swap(ctx, ref, seen, next, nonce)
}

func (s *shaky) Claim(ctx context.Context, ref dedup.Ref, o *dedup.Offer) (dedup.Found, error) {
	found, err := s.Memory.Claim(ctx, ref, o)
	if s.lose != nil && err == nil {
		s.lose()
		return dedup.Found{}, ctx.Err()
	}
	return found, err
}

func lockedClaim() dedup.Claim {
	key := dedup.KeyOf("element_id=core-1|fault_class=link")
	return dedup.Claim{
		Fault: dedup.Fault{
			Ref: dedup.Ref{Rule: "faults", Scope: "snow.example.test", Key: key}, Backend: "snow",
			Identity: "element_id=core-1|fault_class=link", Fingerprint: dedup.Fingerprint{Severity: "2"},
		},
		Policy: &dedup.Policy{
			TTL: time.Hour, MaxAge: 24 * time.Hour, Remember: 24 * time.Hour,
			Settle: 15 * time.Second, Lease: 70 * time.Second,
		},
		Exchange: 60 * time.Second, Wait: 20 * time.Second,
	}
}

// TestALockedStoreForgetsNoTicket: the ticket is known to this process, and the
// next re-fire after the lock must not open a second one.
func TestALockedStoreForgetsNoTicket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &shaky{Memory: storetest.NewMemory(time.Now)}
		engine := dedup.NewEngine(dedup.EngineOptions{Store: store})
		defer engine.Close()
		v, err := engine.Decide(t.Context(), lockedClaim())
		if err != nil || v.Hold == nil {
			t.Fatalf("%+v, %v", v, err)
		}
		store.locked.Store(true)
		st, err := v.Hold.Settle(t.Context(), dedup.Outcome{
			Kind: dedup.OutcomeCreated, Ticket: dedup.Ticket{ID: "INC1"}, Response: &dedup.Response{Status: 201},
		})
		if err == nil || !st.Success {
			t.Fatalf("settled on a locked store: %+v, %v", st, err)
		}
		time.Sleep(5 * time.Second)
		store.locked.Store(false)
		again, err := engine.Decide(t.Context(), lockedClaim())
		if err != nil || again.Kind != dedup.Suppress || again.Record.Ticket.ID != "INC1" {
			t.Errorf("after the lock: %s %s, ticket %q, %v", again.Kind, again.Reason, again.Record.Ticket.ID, err)
		}
	})
}

// readable is a backend whose tickets can be read, and are closed.
type readable struct{ generous }

func (readable) Read(context.Context, dedup.Ticket) dedup.ReadResult {
	return dedup.ReadResult{Answered: true}
}

// TestALockedStoreMakesNoSuccessOfAClosedTicket: what was read is as true when
// it cannot be written.
func TestALockedStoreMakesNoSuccessOfAClosedTicket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &shaky{Memory: storetest.NewMemory(time.Now)}
		engine := dedup.NewEngine(dedup.EngineOptions{Store: store})
		defer engine.Close()
		c := lockedClaim()
		policy := *c.Policy
		policy.Memory, policy.CanRead = dedup.Remembers, true
		c.Policy, c.Backend = &policy, readable{}
		first, err := engine.Decide(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		settled(t, first.Hold, dedup.Outcome{Kind: dedup.OutcomeUnknown})
		time.Sleep(policy.Settle)
		again, err := engine.Decide(t.Context(), c)
		if err != nil || again.Reason != dedup.Retried {
			t.Fatalf("%s %s, %v", again.Kind, again.Reason, err)
		}
		store.locked.Store(true)
		st, err := again.Hold.Settle(t.Context(), dedup.Outcome{Kind: dedup.OutcomeCreated, Ticket: dedup.Ticket{ID: "INC1"}})
		if err == nil || st.Success || !st.DeadLetter {
			t.Errorf("the answer named a closed ticket: %+v, %v", st, err)
		}
	})
}

// TestANewerRecordKeepsNoCreateFromItsDeadLetter: another program has written
// the record meanwhile; what became of our create is as unknown.
func TestANewerRecordKeepsNoCreateFromItsDeadLetter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		newer := &newerStore{Memory: storetest.NewMemory(time.Now)}
		engine := dedup.NewEngine(dedup.EngineOptions{Store: newer})
		defer engine.Close()
		v, err := engine.Decide(t.Context(), lockedClaim())
		if err != nil || v.Hold == nil {
			t.Fatalf("%+v, %v", v, err)
		}
		newer.taken.Store(true)
		st, err := v.Hold.Settle(t.Context(), dedup.Outcome{Kind: dedup.OutcomeUnknown})
		if err != nil || st.Success || !st.DeadLetter {
			t.Errorf("%+v, %v", st, err)
		}
	})
}

// A newerStore has records of a newer format once they are taken.
type newerStore struct {
	*storetest.Memory
	taken atomic.Bool
}

func (s *newerStore) Swap(ctx context.Context, ref dedup.Ref, seen int64, next dedup.Record, nonce string) (dedup.Record, error) {
	if s.taken.Load() {
		return dedup.Record{}, dedup.ErrConflict
	}
	return s.Memory.Swap(ctx, ref, seen, next, nonce)
}

func (s *newerStore) Get(ctx context.Context, ref dedup.Ref) (dedup.Found, error) {
	found, err := s.Memory.Get(ctx, ref)
	if s.taken.Load() {
		found.Record = dedup.Record{V: dedup.Format + 1, Version: found.Record.Version + 1}
	}
	return found, err
}

// TestCloseDoesNotWaitForALockedStore: what cannot be written is left to the
// end of its lease.
func TestCloseDoesNotWaitForALockedStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &shaky{Memory: storetest.NewMemory(time.Now)}
		engine := dedup.NewEngine(dedup.EngineOptions{Store: store})
		v, err := engine.Decide(t.Context(), lockedClaim())
		if err != nil || v.Hold == nil {
			t.Fatalf("%+v, %v", v, err)
		}
		store.locked.Store(true)
		if _, err := v.Hold.Settle(t.Context(), dedup.Outcome{Kind: dedup.OutcomeUnknown}); err == nil {
			t.Fatal("settled on a locked store")
		}
		before := time.Now()
		engine.Close()
		if took := time.Since(before); took > 0 {
			t.Errorf("it took %v", took)
		}
	})
}

// TestAClaimWhoseReplyIsLostWithTheClientIsInDoubtAtOnce: it must not be in
// everybody's way until its lease is over.
func TestAClaimWhoseReplyIsLostWithTheClientIsInDoubtAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &shaky{Memory: storetest.NewMemory(time.Now)}
		engine := dedup.NewEngine(dedup.EngineOptions{Store: store})
		defer engine.Close()
		ctx, gone := context.WithCancel(t.Context())
		store.lose = gone
		c := lockedClaim()
		if v, err := engine.Decide(ctx, c); err == nil {
			t.Fatalf("decided for a client that has gone: %+v", v)
		}
		synctest.Wait()
		found, err := store.Get(t.Context(), c.Fault.Ref)
		if err != nil || found.Record.State != dedup.Doubtful {
			t.Errorf("the record is %q, %v", found.Record.State, err)
		}
	})
}

// TestTheFirstOfManyWaitersIsNotWornOutByThoseWhoGo: each of them goes away by
// itself, and that is no reason to send the first one off before its time.
func TestTheFirstOfManyWaitersIsNotWornOutByThoseWhoGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := dedup.NewEngine(dedup.EngineOptions{Store: storetest.NewMemory(time.Now)})
		defer engine.Close()
		winner, err := engine.Decide(t.Context(), lockedClaim())
		if err != nil || winner.Hold == nil {
			t.Fatalf("%+v, %v", winner, err)
		}
		first := make(chan dedup.Verdict, 1)
		go func() {
			v, err := engine.Decide(t.Context(), lockedClaim())
			if err != nil {
				t.Error(err)
			}
			first <- v
		}()
		synctest.Wait()
		for range 200 {
			ctx, gone := context.WithCancel(t.Context())
			go func() { _, _ = engine.Decide(ctx, lockedClaim()) }()
			synctest.Wait()
			gone()
			synctest.Wait()
		}
		select {
		case v := <-first:
			t.Fatalf("the first waiter was told %s %s while the create was under way", v.Kind, v.Reason)
		default:
		}
		if _, err := winner.Hold.Settle(t.Context(), dedup.Outcome{
			Kind: dedup.OutcomeCreated, Ticket: dedup.Ticket{ID: "INC1"}, Response: &dedup.Response{Status: 201},
		}); err != nil {
			t.Fatal(err)
		}
		if v := <-first; v.Kind != dedup.Suppress || v.Reason != dedup.Race {
			t.Errorf("the first waiter was told %s %s", v.Kind, v.Reason)
		}
	})
}
