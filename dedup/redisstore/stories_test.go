package redisstore_test

import (
	"testing"
	"time"

	"oneticket/dedup/redisstore"
	"oneticket/dedup/storetest"
)

// What a store has to keep, told by the suite's own words.
var (
	refOf   = storetest.RefOf
	offerOf = storetest.OfferOf
	openOf  = storetest.OpenOf
	claimed = storetest.Claimed
	opened  = storetest.Opened
)

func noticed(t *testing.T, flushed chan redisstore.Flush) {
	t.Helper()
	select {
	case f := <-flushed:
		if f.Was == f.Now || f.Was == "" || f.Now == "" {
			t.Errorf("flush %+v", f)
		}
	case <-time.After(patience):
		t.Fatal("nobody noticed")
	}
}
