package redisstore_test

import (
	"sync/atomic"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/redisstore"
	"oneticket/dedup/storetest"
)

func TestStore(t *testing.T) {
	s := serve(t)
	storetest.Run(t, harness(redisstore.Options{URL: s.socketURL()}, s))
}

// harness gives every story a prefix of its own on the same servers.
func harness(o redisstore.Options, servers ...*server) storetest.Harness {
	var stories atomic.Int64
	return storetest.Harness{New: func(t testing.TB) storetest.Data {
		o := o
		var ahead atomic.Int64
		o.Offset = func() time.Duration { return time.Duration(ahead.Load()) }
		o.Prefix = "story-" + string(rune('a'+stories.Load()%26)) + time.Now().Format("150405.000000000")
		stories.Add(1)
		return storetest.Data{
			Client:  func(t testing.TB) dedup.Store { return open(t, o) },
			Forward: func(d time.Duration) { ahead.Add(int64(d)) },
			Stall: func(t testing.TB) func() {
				var thaws []func()
				for _, s := range servers {
					thaws = append(thaws, s.freeze())
				}
				return func() {
					for _, thaw := range thaws {
						thaw()
					}
				}
			},
		}
	}}
}
