package main

import (
	"strings"
	"testing"
	"time"
)

// TestEveryContestantIsMeasured: a short run; its numbers say nothing, but each
// request was checked to be answered as its load says.
func TestEveryContestantIsMeasured(t *testing.T) {
	var out, progress strings.Builder
	err := run(t.Context(), &out, &progress, []string{"-rounds", "1", "-turn", "60ms", "-paced", "200ms", "-faults", "8"})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for _, want := range []string{"Envoy alone", "Envoy, ext_proc that does nothing", "oneticket, sqlite", "oneticket, redis", "oneticket, postgres"} {
		n := 0
		for _, line := range lines {
			if rest, ok := strings.CutPrefix(line, want+" "); ok && strings.ContainsAny(rest, "123456789") {
				n++
			}
		}
		if wanted := 2 + strings.Count(want, "oneticket"); n != wanted {
			t.Errorf("%s stands in %d tables, want %d:\n%s", want, n, wanted, &out)
		}
	}
	if !strings.Contains(progress.String(), "turn 1 of 1") {
		t.Errorf("progress: %s", &progress)
	}
}

func TestAQuantileIsThatOfTheTimeBetweenTwoScrapes(t *testing.T) {
	before := histograms(`oneticket_decision_duration_seconds_bucket{rule="r",le="0.001"} 100
oneticket_decision_duration_seconds_bucket{rule="r",le="0.002"} 100
oneticket_decision_duration_seconds_bucket{rule="r",le="+Inf"} 100
`)
	after := histograms(`oneticket_decision_duration_seconds_bucket{rule="r",le="0.001"} 100
oneticket_decision_duration_seconds_bucket{rule="r",le="0.002"} 200
oneticket_decision_duration_seconds_bucket{rule="r",le="+Inf"} 200
oneticket_store_duration_seconds_bucket{op="claim",store="sqlite",le="0.0004"} 3
oneticket_store_duration_seconds_bucket{op="swap",store="sqlite",le="0.0004"} 5
oneticket_store_duration_seconds_count{op="claim",store="sqlite"} 3
`)
	const name = "oneticket_decision_duration_seconds"
	if got := after[name].minus(before[name]).quantile(0.5); got != 1500*time.Microsecond {
		t.Errorf("p50 %s", got)
	}
	if got := (histogram{}).quantile(0.99); got != 0 {
		t.Errorf("of nothing: %s", got)
	}
	if got := after["oneticket_store_duration_seconds"][0.0004]; got != 3 {
		t.Errorf("%d claims", got)
	}
}
