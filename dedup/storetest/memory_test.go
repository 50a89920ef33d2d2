package storetest_test

import (
	"sync/atomic"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, storetest.Harness{New: newMemory})
}

func newMemory(testing.TB) storetest.Data {
	var offset atomic.Int64
	store := storetest.NewMemory(func() time.Time { return time.Now().Add(time.Duration(offset.Load())) })
	return storetest.Data{
		Client:  func(testing.TB) dedup.Store { return store },
		Forward: func(d time.Duration) { offset.Add(int64(d)) },
	}
}
