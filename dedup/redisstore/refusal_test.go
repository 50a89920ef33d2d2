package redisstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/redisstore"
)

// What Redis refuses is an error, so that somebody else decides; it is never
// a conflict or a lost claim, which would swallow the create.
func TestWhatRedisRefusesIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		refuse func(*server)
		words  []string
	}{
		"its memory is full":          {func(s *server) { s.do("CONFIG", "SET", "maxmemory", "1") }, []string{"OOM", "raise maxmemory"}},
		"it has become a replica":     {func(s *server) { s.do("REPLICAOF", "127.0.0.1", "1") }, []string{"READONLY", "replica"}},
		"too few replicas follow":     {func(s *server) { s.do("CONFIG", "SET", "min-replicas-to-write", "1") }, []string{"NOREPLICAS"}},
		"its user has lost the right": {func(s *server) { s.do("ACL", "SETUSER", "default", "-evalsha") }, []string{"NOPERM", "ACL"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			store := open(t, redisstore.Options{URL: s.url()})
			found := claimed(t, store, refOf("before"))
			c.refuse(s)
			mentions(t, refusedClaim(store, refOf("new")), c.words...)
			_, err := store.Swap(t.Context(), refOf("before"), found.Record.Version, openOf(found), "n")
			mentions(t, err, c.words...)
			if errors.Is(err, dedup.ErrConflict) {
				t.Error("it is told as a conflict")
			}
		})
	}
}

func refusedClaim(store dedup.Store, ref dedup.Ref) error {
	_, err := store.Claim(context.Background(), ref, offerOf("h", ref))
	return err
}

func TestNamesThatAnotherProgramUsesAreAnError(t *testing.T) {
	s := serve(t)
	store := open(t, redisstore.Options{URL: s.url()})
	ref := refOf("taken")
	s.do("SET", "oneticket:record:{"+ref.Rule+"/"+ref.Scope+"/"+string(ref.Key)+"}", "x")
	mentions(t, refusedClaim(store, ref), "WRONGTYPE", "prefix")
	mentions(t, store.List(t.Context(), "", func(dedup.Ref, dedup.Record) bool { return true }), "WRONGTYPE")
}

// A full server cannot prolong a life; the record is there all the same, and
// a second ticket would be worse.
func TestARefireIsAnsweredWhereItsLifeCannotBeProlonged(t *testing.T) {
	s := serve(t)
	var ahead time.Duration
	store := open(t, redisstore.Options{URL: s.url(), Offset: func() time.Duration { return ahead }})
	ref := refOf("full")
	rec := opened(t, store, ref)
	s.do("CONFIG", "SET", "maxmemory", "1")
	ahead = 30 * time.Minute
	found, err := store.Claim(t.Context(), ref, offerOf("other", ref))
	if err != nil || found.Won || found.Record.Version != rec.Version || found.Record.Response == nil {
		t.Fatalf("%+v, %v", found, err)
	}
	s.do("CONFIG", "SET", "maxmemory", "0")
	if found, err = store.Claim(t.Context(), ref, offerOf("other", ref)); err != nil || found.Record.Version != rec.Version+1 {
		t.Fatalf("%+v, %v", found, err)
	}
	ahead = 60 * time.Minute
	s.do("REPLICAOF", "127.0.0.1", "1")
	mentions(t, refusedClaim(store, ref), "READONLY")
}

func TestAServerThatStillLoadsIsOutOfReach(t *testing.T) {
	s := serve(t)
	store := open(t, redisstore.Options{URL: s.url(), Timeout: 500 * time.Millisecond})
	for i := range 100 {
		s.do("SET", i, strings.Repeat("x", 1000))
	}
	s.do("CONFIG", "SET", "rdbcompression", "no")
	ref := refOf("loading")
	claimed(t, store, ref)
	s.do("SAVE")
	s.kill()
	s.args = append(s.args, "--key-load-delay", "20000", "--loading-process-events-interval-bytes", "1024")
	s.start()
	s.eventually("the server says that it loads", func() bool {
		err := refusedClaim(store, ref)
		return err != nil && !errors.Is(err, dedup.ErrConflict) && strings.Contains(err.Error(), "LOADING")
	})
}

func TestAServerThatIsFrozenEndsACallInTime(t *testing.T) {
	s := serve(t)
	store := open(t, redisstore.Options{URL: s.url(), Timeout: 50 * time.Millisecond})
	ref := refOf("frozen")
	claimed(t, store, ref)
	thaw := s.freeze()
	defer thaw()
	mentions(t, refusedClaim(store, ref), s.addr, "no answer within 50ms")
	thaw()
	s.eventually("it works again", func() bool { return refusedClaim(store, ref) == nil })
}

func TestAStoreMadeWhileRedisIsAwayWorksWhenItIsBack(t *testing.T) {
	s := newServer(t)
	store, err := redisstore.New(redisstore.Options{URL: s.url(), Watch: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	mentions(t, store.Start(t.Context()), s.addr, "start")
	s.start()
	s.answers()
	s.eventually("it works", func() bool { return refusedClaim(store, refOf("late")) == nil })
	if n := store.Flushes(); n != 0 {
		t.Errorf("%d flushes were counted", n)
	}
	if _, changed, err := store.Epoch(t.Context()); changed || err != nil {
		t.Errorf("changed %v, %v", changed, err)
	}
}
