package dedup_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

// A payment is a function that counts how often it is run.
type payment struct {
	ran  atomic.Int64
	take time.Duration
	err  error
}

func (p *payment) run(context.Context) ([]byte, error) {
	n := p.ran.Add(1)
	time.Sleep(p.take)
	return []byte{byte('0' + n)}, p.err
}

func onceOver(store dedup.Store, change ...func(*dedup.OnceOptions)) *dedup.Once {
	o := dedup.OnceOptions{Store: store, Name: "payments", Lease: 10 * time.Second}
	for _, f := range change {
		f(&o)
	}
	return dedup.NewOnce(o)
}

func TestOnceRunsOnceForAllWhoCallAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store := storetest.NewMemory(time.Now)
		one, two := onceOver(store), onceOver(store)
		defer one.Close()
		defer two.Close()
		pay := &payment{take: time.Second}
		var replays atomic.Int64
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				once := []*dedup.Once{one, two}[i%2]
				result, replayed, err := once.Do(t.Context(), "invoice-7", pay.run)
				if err != nil || string(result) != "1" {
					t.Errorf("%q, %v", result, err)
				}
				if replayed {
					replays.Add(1)
				}
			})
		}
		wg.Wait()
		if pay.ran.Load() != 1 || replays.Load() != 49 {
			t.Errorf("ran %d times, %d replays", pay.ran.Load(), replays.Load())
		}
	})
}

func TestOnceRunsAgainAfterAFailure(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		once := onceOver(storetest.NewMemory(time.Now))
		defer once.Close()
		broken := errors.New("card declined")
		pay := &payment{err: broken}
		if _, _, err := once.Do(t.Context(), "k", pay.run); err != broken {
			t.Errorf("the function's error as it is: %v", err)
		}
		pay.err = nil
		if result, replayed, err := once.Do(t.Context(), "k", pay.run); string(result) != "2" || replayed || err != nil {
			t.Errorf("run again: %q, %t, %v", result, replayed, err)
		}
	})
}

func TestOnceKeepsWhatIsInDoubt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		once := onceOver(storetest.NewMemory(time.Now))
		defer once.Close()
		timeout := errors.New("timeout")
		pay := &payment{err: dedup.Unsure(timeout)}
		if _, _, err := once.Do(t.Context(), "k", pay.run); !errors.Is(err, timeout) {
			t.Errorf("the function's error: %v", err)
		}
		for range 3 {
			time.Sleep(365 * 24 * time.Hour)
			if _, _, err := once.Do(t.Context(), "k", pay.run); !errors.Is(err, dedup.ErrInDoubt) {
				t.Errorf("a later call: %v", err)
			}
		}
		if n := pay.ran.Load(); n != 1 {
			t.Errorf("ran %d times", n)
		}
	})
}

func TestOnceRunsAgainAfterADoubtWhereItMay(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		once := onceOver(storetest.NewMemory(time.Now), func(o *dedup.OnceOptions) { o.RunAgainAfter = time.Minute })
		defer once.Close()
		pay := &payment{err: dedup.Unsure(errors.New("timeout"))}
		once.Do(t.Context(), "k", pay.run)
		pay.err = nil
		if _, _, err := once.Do(t.Context(), "k", pay.run); !errors.Is(err, dedup.ErrInDoubt) {
			t.Errorf("at once: %v", err)
		}
		time.Sleep(time.Minute)
		if result, replayed, err := once.Do(t.Context(), "k", pay.run); string(result) != "2" || replayed || err != nil {
			t.Errorf("after a minute: %q, %t, %v", result, replayed, err)
		}
	})
}

func TestOnceKeepsAPanicInDoubt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		once := onceOver(storetest.NewMemory(time.Now))
		defer once.Close()
		func() {
			defer func() {
				if recover() != "no money" {
					t.Error("the panic did not go on")
				}
			}()
			once.Do(t.Context(), "k", func(context.Context) ([]byte, error) { panic("no money") })
		}()
		if _, _, err := once.Do(t.Context(), "k", (&payment{}).run); !errors.Is(err, dedup.ErrInDoubt) {
			t.Errorf("after the panic: %v", err)
		}
	})
}

// TestOnceNoticesADeath: a process that dies in the function leaves its claim.
func TestOnceNoticesADeath(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store := storetest.NewMemory(time.Now)
		dead := dedup.NewEngine(dedup.EngineOptions{Store: store})
		p := dedup.Policy{TTL: time.Hour, Settle: 100 * 365 * 24 * time.Hour, Lease: 10 * time.Second, NoTicket: true}
		v, err := dead.Decide(t.Context(), dedup.Claim{
			Fault:  dedup.Fault{Ref: dedup.Ref{Rule: "payments", Key: "k"}, Fingerprint: dedup.Fingerprint{Severity: dedup.NoSeverity}},
			Policy: &p,
		})
		if v.Kind != dedup.Create || err != nil {
			t.Fatalf("%s, %v", v.Kind, err)
		}
		dead.Close()
		once := onceOver(store, func(o *dedup.OnceOptions) { o.Wait = 3 * time.Second })
		defer once.Close()
		pay := &payment{}
		if _, _, err := once.Do(t.Context(), "k", pay.run); !errors.Is(err, dedup.ErrRunning) {
			t.Errorf("while its lease runs: %v", err)
		}
		time.Sleep(10 * time.Second)
		if _, _, err := once.Do(t.Context(), "k", pay.run); !errors.Is(err, dedup.ErrInDoubt) {
			t.Errorf("when its lease is over: %v", err)
		}
		if err := store.Delete(t.Context(), dedup.Ref{Rule: "payments", Key: "k"}); err != nil {
			t.Fatal(err)
		}
		if result, _, err := once.Do(t.Context(), "k", pay.run); string(result) != "1" || err != nil {
			t.Errorf("when somebody has looked: %q, %v", result, err)
		}
	})
}

// TestOnceHoldsOnWhileTheFunctionRuns: for longer than the lease, and for
// longer than the result will be kept.
func TestOnceHoldsOnWhileTheFunctionRuns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		once := onceOver(storetest.NewMemory(time.Now), func(o *dedup.OnceOptions) {
			o.Keep, o.RunAgainAfter, o.Wait = time.Minute, time.Second, time.Second
		})
		defer once.Close()
		pay := &payment{take: 10 * time.Minute}
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, _, err := once.Do(t.Context(), "k", pay.run); err != nil {
				t.Errorf("the long run: %v", err)
			}
		})
		synctest.Wait()
		for range 5 {
			time.Sleep(time.Minute)
			if _, _, err := once.Do(t.Context(), "k", pay.run); !errors.Is(err, dedup.ErrRunning) {
				t.Errorf("meanwhile: %v", err)
			}
		}
		wg.Wait()
		if _, replayed, err := once.Do(t.Context(), "k", pay.run); !replayed || err != nil || pay.ran.Load() != 1 {
			t.Errorf("afterwards: replayed %t, %v, ran %d times", replayed, err, pay.ran.Load())
		}
	})
}

// TestOnceForgetsAResultInTime: what is kept no longer must not fill the store.
func TestOnceForgetsAResultInTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store := storetest.NewMemory(time.Now)
		once := onceOver(store)
		defer once.Close()
		pay := &payment{}
		once.Do(t.Context(), "paid", pay.run)
		pay.err = errors.New("declined")
		once.Do(t.Context(), "declined", pay.run)
		for _, key := range []dedup.Key{"paid", "declined"} {
			found, err := store.Get(t.Context(), dedup.Ref{Rule: "payments", Key: key})
			if err != nil || found.Record.KeepUntil.After(found.Now.Add(25*time.Hour)) {
				t.Errorf("%s is kept for %v, %v", key, found.Record.KeepUntil.Sub(found.Now), err)
			}
		}
		pay.err = nil
		time.Sleep(24 * time.Hour)
		if result, replayed, err := once.Do(t.Context(), "paid", pay.run); string(result) != "3" || replayed || err != nil {
			t.Errorf("a day later: %q, %t, %v", result, replayed, err)
		}
	})
}

func TestOnceReturnsTheResultThatCouldNotBeWritten(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		away := false
		store := &storetest.Faulty{Store: storetest.NewMemory(time.Now), Before: func(op string) error {
			if away {
				return storetest.ErrLost
			}
			return nil
		}}
		once := onceOver(store)
		defer once.Close()
		result, _, err := once.Do(t.Context(), "k", func(context.Context) ([]byte, error) {
			away = true
			return []byte("paid"), nil
		})
		if string(result) != "paid" || !errors.Is(err, storetest.ErrLost) {
			t.Errorf("%q, %v", result, err)
		}
	})
}

// TestOnceRunsNothingUnderALeaseThatIsOver: the reply to the claim came so late
// that another may have taken the key since.
func TestOnceRunsNothingUnderALeaseThatIsOver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		slow := &lateReply{Store: storetest.NewMemory(time.Now), by: 11 * time.Second}
		once := onceOver(slow)
		defer once.Close()
		pay := &payment{}
		ctx, gone := context.WithTimeout(t.Context(), 50*time.Second)
		defer gone()
		if _, _, err := once.Do(ctx, "k", pay.run); err == nil || pay.ran.Load() != 0 {
			t.Errorf("ran %d times, %v", pay.ran.Load(), err)
		}
	})
}
