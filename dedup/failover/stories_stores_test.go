package failover_test

import (
	"crypto/rand"
	"testing"
	"testing/synctest"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

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
