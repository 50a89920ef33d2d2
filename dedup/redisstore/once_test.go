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

// TestAResultIsKeptNoLongerThanAskedFor: Redis removes it by itself, a minute
// later at most, and what came of a failed run too.
func TestAResultIsKeptNoLongerThanAskedFor(t *testing.T) {
	s := serve(t)
	store, err := redisstore.New(redisstore.Options{URL: "unix://" + s.sock, Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	once := dedup.NewOnce(dedup.OnceOptions{Store: store, Name: "payments", Keep: time.Hour})
	once.Do(t.Context(), "paid", func(context.Context) ([]byte, error) { return []byte("paid"), nil })
	once.Do(t.Context(), "declined", func(context.Context) ([]byte, error) { return nil, errors.New("declined") })
	once.Close()
	names, err := s.admin().Keys(t.Context(), "*payments*").Result()
	if err != nil || len(names) != 2 {
		t.Fatalf("%q, %v", names, err)
	}
	for _, name := range names {
		left, err := s.admin().PTTL(t.Context(), name).Result()
		most := time.Hour + time.Minute + time.Second // Redis counts in whole ones
		if strings.Contains(name, "declined") {
			most = time.Minute + time.Second
		}
		if err != nil || left <= 0 || left > most {
			t.Errorf("%s is kept for %s, %v; want %s at most", name, left, err, most)
		}
	}
}
