package pgstore_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/pgstore"
	"oneticket/dedup/pgstore/pgtest"
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

// modes are the ways in which statements are sent.
var modes = map[string]string{"described": "", "prepared": "&default_query_exec_mode=cache_statement"}

func BenchmarkWin(b *testing.B) {
	for name, mode := range modes {
		b.Run(name, func(b *testing.B) {
			store := open(b, pgstore.Options{URL: pgtest.Shared(b).SocketURL() + mode})
			bench(b, func(ctx context.Context, i int) {
				ref := refOf(strconv.Itoa(i))
				if found, err := store.Claim(ctx, ref, offerOf("h", ref)); err != nil || !found.Won {
					b.Fatal(found.Won, err)
				}
			})
		})
	}
}

func BenchmarkSuppress(b *testing.B) {
	for name, mode := range modes {
		b.Run(name, func(b *testing.B) {
			store := open(b, pgstore.Options{URL: pgtest.Shared(b).SocketURL() + mode})
			for i := range 1000 {
				opened(b, store, refOf(strconv.Itoa(i)))
			}
			bench(b, func(ctx context.Context, i int) {
				ref := refOf(strconv.Itoa(i % 1000))
				if found, err := store.Claim(ctx, ref, offerOf("other", ref)); err != nil || found.Won {
					b.Fatal(found.Won, err)
				}
			})
		})
	}
}

func BenchmarkSettle(b *testing.B) {
	for name, mode := range modes {
		b.Run(name, func(b *testing.B) {
			store := open(b, pgstore.Options{URL: pgtest.Shared(b).SocketURL() + mode})
			ref := refOf("settle")
			found := claimed(b, store, ref)
			next, version := openOf(found), found.Record.Version
			bench(b, func(ctx context.Context, i int) {
				var err error
				var rec dedup.Record
				if rec, err = store.Swap(ctx, ref, version, next, strconv.Itoa(i)); err != nil {
					b.Fatal(err)
				}
				version = rec.Version
			})
		})
	}
}
