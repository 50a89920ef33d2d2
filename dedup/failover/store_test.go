package failover_test

import (
	"sync/atomic"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/failover"
	"oneticket/dedup/storetest"
)

// patience bounds every wait of these tests.
const patience = 30 * time.Second

// TestWithBothUpItIsTheSharedStore tells every story of a store, with both up.
func TestWithBothUpItIsTheSharedStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Harness{New: func(t testing.TB) storetest.Data {
		var offset atomic.Int64
		now := func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
		shared := storetest.NewMemory(now)
		return storetest.Data{
			Client: func(t testing.TB) dedup.Store {
				s := failover.New(failover.Options{Shared: shared, Local: storetest.NewMemory(now), Deadline: patience})
				t.Cleanup(func() { s.Close() })
				return s
			},
			Forward: func(d time.Duration) { offset.Add(int64(d)) },
		}
	}})
}
