package redisstore_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/redisstore"
)

// bench measures calls over a socket, and reports their median and 99th
// percentile beside the mean.
func bench(b *testing.B, call func(ctx context.Context, i int)) {
	b.Helper()
	b.ReportAllocs()
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		call(b.Context(), i)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
}

func benchStore(b *testing.B) *redisstore.Store {
	s := serve(b, "--appendonly", "yes")
	return open(b, redisstore.Options{URL: s.socketURL()})
}

func BenchmarkPing(b *testing.B) {
	store := benchStore(b)
	bench(b, func(ctx context.Context, _ int) {
		if err := store.Ping(ctx); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkWin(b *testing.B) {
	store := benchStore(b)
	bench(b, func(ctx context.Context, i int) {
		ref := refOf(strconv.Itoa(i))
		if found, err := store.Claim(ctx, ref, offerOf("h", ref)); err != nil || !found.Won {
			b.Fatal(found.Won, err)
		}
	})
}

func BenchmarkSuppress(b *testing.B) {
	store := benchStore(b)
	for i := range 1000 {
		opened(b, store, refOf(strconv.Itoa(i)))
	}
	bench(b, func(ctx context.Context, i int) {
		ref := refOf(strconv.Itoa(i % 1000))
		if found, err := store.Claim(ctx, ref, offerOf("other", ref)); err != nil || found.Won {
			b.Fatal(found.Won, err)
		}
	})
}

func BenchmarkSettle(b *testing.B) {
	store := benchStore(b)
	ref := refOf("settle")
	found := claimed(b, store, ref)
	next := openOf(found)
	version := found.Record.Version
	bench(b, func(ctx context.Context, i int) {
		var err error
		var rec dedup.Record
		if rec, err = store.Swap(ctx, ref, version, next, strconv.Itoa(i)); err != nil {
			b.Fatal(err)
		}
		version = rec.Version
	})
}
