package pgstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/pgstore"
	"oneticket/dedup/pgstore/pgtest"
)

// A call whose reply was lost was applied. The store makes it again by itself
// when the connection breaks.
func TestARepetitionCannotLoseAWin(t *testing.T) {
	s := pgtest.Shared(t)
	p := proxyTo(t, s.Addr)
	store := open(t, pgstore.Options{URL: viaProxy(s, p, "")})
	for name, lost := range map[string]int{"one reply lost": 1, "two replies lost": 2} {
		t.Run(name, func(t *testing.T) {
			ref := refOf(name)
			p.loses(lost, false)
			found := claimed(t, store, ref)
			if found.Record.Episode != 1 || found.Record.Version != 1 {
				t.Errorf("episode %d, version %d", found.Record.Episode, found.Record.Version)
			}
			if !p.lost() {
				t.Fatal("the proxy lost nothing")
			}

			p.loses(lost, false)
			rec, err := store.Swap(t.Context(), ref, 1, openOf(found), "nonce")
			if err != nil || rec.Version != 2 {
				t.Fatalf("swap: version %d, %v", rec.Version, err)
			}
			p.loses(lost, false)
			if err := store.Delete(t.Context(), ref); err != nil {
				t.Fatal(err)
			}
			if now, err := store.Get(t.Context(), ref); err != nil || now.Record.Version != 3 {
				t.Fatalf("deleted: version %d, %v", now.Record.Version, err)
			}
		})
	}
}

// Where the connection stays and no reply comes, the call ends with its time,
// and the caller repeats it.
func TestACallRepeatedAfterSilenceHasWon(t *testing.T) {
	s := pgtest.Shared(t)
	p := proxyTo(t, s.Addr)
	store := open(t, pgstore.Options{URL: viaProxy(s, p, "")})
	ref := refOf("silence")

	p.loses(1, true)
	soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := store.Claim(soon, ref, offerOf("h", ref)); err == nil || errors.Is(err, dedup.ErrConflict) {
		t.Fatalf("a claim without a reply: %v", err)
	}
	found := claimed(t, store, ref)

	p.loses(1, true)
	soon, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := store.Swap(soon, ref, 1, openOf(found), "nonce"); err == nil || errors.Is(err, dedup.ErrConflict) {
		t.Fatalf("a swap without a reply: %v", err)
	}
	if rec, err := store.Swap(t.Context(), ref, 1, openOf(found), "nonce"); err != nil || rec.Version != 2 {
		t.Fatalf("the swap repeated: version %d, %v", rec.Version, err)
	}
	if _, err := store.Swap(t.Context(), ref, 1, openOf(found), "another"); !errors.Is(err, dedup.ErrConflict) {
		t.Fatalf("another swap: %v, want a conflict", err)
	}
}
