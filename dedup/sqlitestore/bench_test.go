package sqlitestore_test

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/sqlitestore"
)

// bench measures calls as the filter makes them, each with a deadline, and
// reports their median and 99th percentile beside the mean.
func bench(b *testing.B, call func(ctx context.Context, i int)) {
	b.Helper()
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		start := time.Now()
		call(ctx, i)
		took = append(took, time.Since(start))
		cancel()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
}

func benchStore(b *testing.B) *sqlitestore.Store {
	return open(b, sqlitestore.Options{Path: filepath.Join(b.TempDir(), "oneticket.db")})
}

func benchRef(i int) dedup.Ref {
	return dedup.Ref{Rule: "network_faults", Scope: "acme.service-now.com", Key: dedup.Key("idem:0123456789abcdef01234567" + strconv.Itoa(i))}
}

func BenchmarkWin(b *testing.B) {
	store := benchStore(b)
	bench(b, func(ctx context.Context, i int) {
		if found, err := store.Claim(ctx, benchRef(i), offerOf("h", benchRef(i))); err != nil || !found.Won {
			b.Fatal(found.Won, err)
		}
	})
}

func benchOpen(b *testing.B, store *sqlitestore.Store, i int) {
	b.Helper()
	found, err := store.Claim(b.Context(), benchRef(i), offerOf("h", benchRef(i)))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := store.Swap(b.Context(), benchRef(i), found.Record.Version, openOf(found), "n"); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkSuppress(b *testing.B) {
	store := benchStore(b)
	for i := range 1000 {
		benchOpen(b, store, i)
	}
	bench(b, func(ctx context.Context, i int) {
		ref := benchRef(i % 1000)
		if found, err := store.Claim(ctx, ref, offerOf("other", ref)); err != nil || found.Won {
			b.Fatal(found.Won, err)
		}
	})
}

func BenchmarkSettle(b *testing.B) {
	store := benchStore(b)
	ref := benchRef(0)
	found, err := store.Claim(b.Context(), ref, offerOf("h", ref))
	if err != nil {
		b.Fatal(err)
	}
	next := openOf(found)
	bench(b, func(ctx context.Context, i int) {
		if _, err := store.Swap(ctx, ref, int64(i+1), next, "n"); err != nil {
			b.Fatal(err)
		}
	})
}
