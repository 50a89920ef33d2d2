package redisstore_test

import (
	"testing"
	"time"

	"oneticket/dedup/redisstore"
)

func TestAStoreThatIsEmptiedIsNoticed(t *testing.T) {
	s := serve(t)
	flushed := make(chan redisstore.Flush, 9)
	watching := redisstore.Options{URL: s.url(), Watch: 10 * time.Millisecond, OnFlush: func(f redisstore.Flush) { flushed <- f }}
	store := open(t, watching)
	beside := open(t, redisstore.Options{URL: s.url(), Watch: time.Hour})
	began, changed, err := store.Epoch(t.Context())
	if err != nil || changed || began == "" {
		t.Fatalf("epoch %q, changed %v, %v", began, changed, err)
	}
	same, _, _ := beside.Epoch(t.Context())
	if same != began {
		t.Errorf("another replica has the epoch %q, not %q", same, began)
	}

	s.do("FLUSHALL")
	noticed(t, flushed)
	now, changed, err := store.Epoch(t.Context())
	if err != nil || !changed || now == began {
		t.Errorf("epoch %q, changed %v, %v", now, changed, err)
	}
	if theirs, changed, err := beside.Epoch(t.Context()); theirs != now || !changed || err != nil {
		t.Errorf("the other replica: %q, changed %v, %v", theirs, changed, err)
	}
	if store.Flushes() != 1 || beside.Flushes() != 1 {
		t.Errorf("%d and %d flushes, want one each", store.Flushes(), beside.Flushes())
	}

	s.do("FLUSHALL")
	noticed(t, flushed)
	if n := store.Flushes(); n != 2 {
		t.Errorf("%d flushes, want 2", n)
	}
}

func TestARestartThatLosesNothingIsNoFlush(t *testing.T) {
	s := serve(t, "--appendonly", "yes", "--appendfsync", "always")
	store := open(t, redisstore.Options{URL: s.url(), Watch: time.Hour})
	began, _, err := store.Epoch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rec := opened(t, store, refOf("kept"))
	s.kill()
	s.start()
	s.answers()
	if now, changed, err := store.Epoch(t.Context()); now != began || changed || err != nil {
		t.Errorf("epoch %q, changed %v, %v", now, changed, err)
	}
	if found, err := store.Get(t.Context(), refOf("kept")); err != nil || found.Record.Version != rec.Version {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestAFullServerStillHasItsEpoch(t *testing.T) {
	s := serve(t)
	store := open(t, redisstore.Options{URL: s.url()})
	s.do("CONFIG", "SET", "maxmemory", "1")
	if _, changed, err := store.Epoch(t.Context()); changed || err != nil {
		t.Errorf("changed %v, %v", changed, err)
	}
}
