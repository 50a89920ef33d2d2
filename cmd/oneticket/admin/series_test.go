package admin_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"oneticket/cmd/oneticket/admin"
	"oneticket/dedup"
)

// TestCountingCostsNoAllocation once an instrument is there: it is on the path
// of every request.
func TestCountingCostsNoAllocation(t *testing.T) {
	m := admin.NewMetrics()
	count := func() {
		m.Decision("faults", dedup.Suppress, "refire", time.Millisecond)
		m.Conflict("faults", "refire")
		m.Outcome("faults", dedup.OutcomeCreated)
		m.Refired("faults", "core", time.Minute)
		m.StoreCall("redis", "claim", time.Millisecond, true)
	}
	if n := testing.AllocsPerRun(100, count); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestNoCountIsLostWhenInstrumentsAreMadeAtOnce.
func TestNoCountIsLostWhenInstrumentsAreMadeAtOnce(t *testing.T) {
	m := admin.NewMetrics()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 100 {
				m.Conflict(fmt.Sprint("rule-", i), "race")
			}
		})
	}
	wg.Wait()
	families, err := m.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum, rules := 0.0, 0
	for _, f := range families {
		if f.GetName() == "oneticket_claim_conflicts_total" {
			for _, one := range f.GetMetric() {
				sum += one.GetCounter().GetValue()
				rules++
			}
		}
	}
	if sum != 800 || rules != 100 {
		t.Errorf("%v counts of %d rules, want 800 of 100", sum, rules)
	}
}
