package deadletter_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/deadletter"
)

// What the path of a request pays: p50 and p99 of one Put, beside the keeper.
func BenchmarkPut(b *testing.B) {
	for _, c := range []struct {
		name string
		body int
		kept int64 // max_count, where it is reached
	}{
		{"1KiB", 1 << 10, 0},
		{"64KiB", 64 << 10, 0},
		{"1KiB, each drops one", 1 << 10, 1000},
	} {
		b.Run(c.name, func(b *testing.B) {
			box := open(b, deadletter.Options{Bounds: deadletter.Bounds{MaxCount: c.kept}})
			body := bytes.Repeat([]byte("x"), c.body)
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				l := letter(i)
				l.Body = body
				began := time.Now()
				put(b, box, l)
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}

// The same create over and over, as an impatient client sends it.
func BenchmarkPutRepeated(b *testing.B) {
	box := open(b, deadletter.Options{})
	for b.Loop() {
		put(b, box, letter(1))
	}
}

// What every ticket pays while there are letters, of other keys.
func BenchmarkRemoveNothing(b *testing.B) {
	box := open(b, deadletter.Options{})
	for i := range 1000 {
		put(b, box, letter(i))
	}
	ref := dedup.Ref{Rule: "network_faults", Key: "idem:none"}
	for b.Loop() {
		if _, err := box.Remove(b.Context(), ref, 1); err != nil {
			b.Fatal(err)
		}
	}
}
