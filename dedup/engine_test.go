package dedup_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

// replicas are engines over one store, in front of a ticket system that can be
// asked nothing.
type replicas struct {
	store   dedup.Store
	engines []*dedup.Engine
	policy  dedup.Policy
	creates atomic.Int64
}

func newReplicas(store dedup.Store, n int) *replicas {
	r := &replicas{store: store, policy: policyOf(systemNamed("nothing"), false, false, false)}
	for range n {
		r.engines = append(r.engines, dedup.NewEngine(dedup.EngineOptions{Store: store, Poll: 50 * time.Millisecond}))
	}
	return r
}

func (r *replicas) close() {
	for _, e := range r.engines {
		e.Close()
	}
}

func (r *replicas) claim(severity, caller string) dedup.Claim {
	c := claimWith(&r.policy, "", severity)
	c.Wait, c.Exchange, c.Caller = 10*time.Second, exchange*time.Second, func() string { return caller }
	return c
}

// decide is one request at replica i; a create is counted and must be settled.
func (r *replicas) decide(ctx context.Context, i int, c dedup.Claim) (dedup.Verdict, error) {
	v, err := r.engines[i%len(r.engines)].Decide(ctx, c)
	if v.Kind == dedup.Create {
		r.creates.Add(1)
	}
	return v, err
}

func created(id string) dedup.Outcome {
	return dedup.Outcome{Kind: dedup.OutcomeCreated, Ticket: dedup.Ticket{ID: id}, Response: &dedup.Response{Status: 201, Body: []byte(id)}}
}

// inBubble runs f with a clock that moves when everybody waits.
func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, f)
}

func TestOfTwoHundredAtOnceOneCreatesAndTheRestIsAnsweredByIt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newReplicas(storetest.NewMemory(time.Now), 2)
		defer r.close()
		said := make(chan string, 200)
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				v, err := r.decide(t.Context(), i, r.claim("A", ""))
				if v.Hold != nil {
					time.Sleep(time.Second) // the ticket system at work
					_, err = v.Hold.Settle(t.Context(), created("T1"))
				}
				said <- fmt.Sprintf("%s %s %v", v.Kind, v.Reason, err)
			})
		}
		wg.Wait()
		close(said)
		count := map[string]int{}
		for s := range said {
			count[s]++
		}
		if count["create first <nil>"] != 1 || count["suppress race <nil>"] != 199 {
			t.Errorf("said %v, want one create and 199 answered by it", count)
		}
	})
}

func TestAfterARefusalTheWaitersTryInOrderOfArrival(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newReplicas(storetest.NewMemory(time.Now), 1)
		defer r.close()
		winner, _ := r.decide(t.Context(), 0, r.claim("A", "winner"))
		order := make(chan int, 5)
		var wg sync.WaitGroup
		for i := range 5 {
			wg.Go(func() {
				v, _ := r.decide(t.Context(), 0, r.claim("A", fmt.Sprint("caller ", i)))
				if v.Kind != dedup.Create {
					t.Errorf("waiter %d: %s", i, v.Kind)
					return
				}
				order <- i
				v.Hold.Settle(t.Context(), dedup.Outcome{Kind: dedup.OutcomeRefused, Refusal: &dedup.Response{Status: 400}})
			})
			synctest.Wait() // it is in the queue before the next one comes
		}
		winner.Hold.Settle(t.Context(), dedup.Outcome{Kind: dedup.OutcomeRefused, Refusal: &dedup.Response{Status: 400}})
		wg.Wait()
		for want := range 5 {
			if got := <-order; got != want {
				t.Errorf("waiter %d came before %d", got, want)
			}
		}
	})
}

func TestARefusalIsHandedToEqualCallersOnly(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newReplicas(storetest.NewMemory(time.Now), 1)
		defer r.close()
		winner, _ := r.decide(t.Context(), 0, r.claim("A", "same"))
		kinds := make(chan string, 3)
		var wg sync.WaitGroup
		for _, caller := range []string{"same", "other", "same"} {
			wg.Go(func() {
				v, _ := r.decide(t.Context(), 0, r.claim("A", caller))
				said := caller + " " + string(v.Kind)
				if v.Refusal != nil {
					said += fmt.Sprint(" ", v.Refusal.Status)
				}
				if v.Hold != nil {
					v.Hold.Settle(t.Context(), created("T1"))
				}
				kinds <- said
			})
			synctest.Wait()
		}
		st, err := winner.Hold.Settle(t.Context(), dedup.Outcome{Kind: dedup.OutcomeRefused, Refusal: &dedup.Response{Status: 401}})
		if err != nil || st.Success {
			t.Errorf("the winner's settle: %+v, %v", st, err)
		}
		wg.Wait()
		count := map[string]int{}
		for range 3 {
			count[<-kinds]++
		}
		if count["same busy 401"] != 2 || count["other create"] != 1 {
			t.Errorf("said %v", count)
		}
	})
}

func TestAClientThatGoesWhileItWaitsGivesItsPlaceUp(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newReplicas(storetest.NewMemory(time.Now), 1)
		defer r.close()
		winner, _ := r.decide(t.Context(), 0, r.claim("A", ""))
		leaving, leave := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := r.decide(leaving, 0, r.claim("A", "")); !errors.Is(err, context.Canceled) {
				t.Errorf("the client that went: %v", err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			v, err := r.decide(t.Context(), 0, r.claim("A", ""))
			if v.Kind != dedup.Create || err != nil {
				t.Errorf("the one behind it: %s, %v", v.Kind, err)
				return
			}
			v.Hold.Settle(t.Context(), created("T1"))
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		if got := r.engines[0].Waiting(); got != 1 {
			t.Errorf("%d wait, want 1", got)
		}
		winner.Hold.Settle(t.Context(), dedup.Outcome{Kind: dedup.OutcomeRefused})
		wg.Wait()
	})
}

func TestAWaiterIsToldBusyWhenItHasWaitedLongEnough(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newReplicas(storetest.NewMemory(time.Now), 2)
		defer r.close()
		winner, _ := r.decide(t.Context(), 0, r.claim("A", ""))
		began := time.Now()
		told := time.Duration(0)
		c := r.claim("A", "")
		c.OnWait = func(d time.Duration) { told += d }
		v, err := r.decide(t.Context(), 1, c)
		if v.Kind != dedup.Busy || !v.Waited || v.RetryAfter < time.Second || err != nil {
			t.Errorf("after its wait: %+v, %v", v, err)
		}
		if waited := time.Since(began); waited < c.Wait || waited > c.Wait+time.Second || told != c.Wait {
			t.Errorf("waited %v, was told %v, want %v", waited, told, c.Wait)
		}
		winner.Hold.Settle(t.Context(), created("T1"))
	})
}

func TestAWaiterAtAnotherReplicaSeesTheAnswerSoon(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newReplicas(storetest.NewMemory(time.Now), 2)
		defer r.close()
		winner, _ := r.decide(t.Context(), 0, r.claim("A", ""))
		began := time.Now()
		time.AfterFunc(3*time.Second, func() { winner.Hold.Settle(context.Background(), created("T1")) })
		v, err := r.decide(t.Context(), 1, r.claim("A", ""))
		if v.Kind != dedup.Suppress || v.Reason != dedup.Race || err != nil || time.Since(began) > 4*time.Second {
			t.Errorf("%s %s after %v, %v", v.Kind, v.Reason, time.Since(began), err)
		}
	})
}
