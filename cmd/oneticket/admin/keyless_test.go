package admin_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"oneticket/cmd/oneticket/admin"
	"oneticket/dedup"
)

// TestARuleThatKeysNothingIsReportedOnce: at its twentieth request, with the
// field that is missing most often.
func TestARuleThatKeysNothingIsReportedOnce(t *testing.T) {
	m := admin.NewMetrics()
	var reports []admin.Keyless
	m.OnKeyless(func(k admin.Keyless) { reports = append(reports, k) })
	for i := range 60 {
		switch {
		case i%5 == 0:
			m.Unkeyed("faults", dedup.WhyUnparsed)
		case i%3 == 0:
			m.MissingField("faults", "fault_class")
			m.Unkeyed("faults", dedup.WhyMissing)
		default:
			m.MissingField("faults", "element_id")
			m.Unkeyed("faults", dedup.WhyMissing)
		}
		if i == 18 && len(reports) > 0 {
			t.Error("reported before the twentieth")
		}
	}
	want := admin.Keyless{Rule: "faults", Requests: 20, Why: dedup.WhyMissing, Field: "element_id"}
	if len(reports) != 1 || reports[0] != want {
		t.Errorf("%+v", reports)
	}
	if degraded := m.Keyless(); len(degraded) != 1 || degraded[0] != want || want.Do() == "" {
		t.Errorf("%+v", degraded)
	}
	m.Decision("faults", dedup.Create, string(dedup.First), 0)
	if degraded := m.Keyless(); len(degraded) != 0 {
		t.Errorf("still degraded: %+v", degraded)
	}
}

func TestWhatIsNoSignOfAKeylessRule(t *testing.T) {
	cases := map[string]func(*admin.Metrics){
		"one key among the first": func(m *admin.Metrics) {
			for i := range 40 {
				if i == 12 {
					m.Decision("faults", dedup.Suppress, string(dedup.Refire), 0)
				}
				m.Unkeyed("faults", dedup.WhyMissing)
			}
		},
		"a store that is down": func(m *admin.Metrics) {
			for range 40 {
				m.Unkeyed("faults", dedup.WhyStoreDown)
				m.Decision("faults", dedup.Pass, dedup.WhyStoreDown, 0)
			}
		},
		"a rule that is off": func(m *admin.Metrics) {
			for range 40 {
				m.Decision("faults", dedup.Pass, "off", 0)
			}
		},
		"nineteen before and nineteen after a reload": func(m *admin.Metrics) {
			for range 2 {
				for range 19 {
					m.Unkeyed("faults", dedup.WhyMissing)
				}
				m.NewRules()
			}
		},
	}
	for name, happens := range cases {
		t.Run(name, func(t *testing.T) {
			m := admin.NewMetrics()
			m.OnKeyless(func(k admin.Keyless) { t.Errorf("reported: %+v", k) })
			happens(m)
			if degraded := m.Keyless(); len(degraded) != 0 {
				t.Errorf("%+v", degraded)
			}
		})
	}
}

// TestManyRequestsAtOnceReportOnce is for the race detector, too.
func TestManyRequestsAtOnceReportOnce(t *testing.T) {
	m := admin.NewMetrics()
	var reports atomic.Int64
	m.OnKeyless(func(admin.Keyless) { reports.Add(1) })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				m.MissingField("faults", "host")
				m.Unkeyed("faults", dedup.WhyMissing)
				m.Keyless()
			}
		})
	}
	wg.Wait()
	if reports.Load() != 1 {
		t.Errorf("%d reports", reports.Load())
	}
}
