package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"oneticket/cmd/oneticket/admin"
	"oneticket/config"
	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

// faultsOnly is a configuration with one rule.
func faultsOnly() *inForce {
	now := &inForce{}
	now.current.Store(&config.Config{Rules: []*config.Rule{{Name: "faults"}}})
	return now
}

// openRecords fills the store with so many open records of the rule.
func openRecords(t *testing.T, store dedup.Store, rule string, n int) {
	t.Helper()
	for i := range n {
		ref := dedup.Ref{Rule: rule, Key: dedup.Key(fmt.Sprint("key-", i))}
		later := time.Now().Add(time.Hour)
		rec := dedup.Record{V: dedup.Format, State: dedup.Open, Episode: 1, ExpiresAt: later, FreeAt: later, KeepUntil: later}
		if _, err := store.Swap(t.Context(), ref, 0, rec, "n"); err != nil {
			t.Fatal(err)
		}
	}
}

// shown is the sum of a gauge; false where it has no series.
func shown(t *testing.T, r *prometheus.Registry, name string) (sum float64, any bool) {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name {
				sum, any = sum+m.GetGauge().GetValue(), true
			}
		}
	}
	return sum, any
}

// TestACensusIsBoundedAndSaysSo: it looks at so many records and no more.
func TestACensusIsBoundedAndSaysSo(t *testing.T) {
	store := storetest.NewMemory(time.Now)
	openRecords(t, store, "faults", 300)
	var log bytes.Buffer
	m := admin.NewMetrics()
	c := newCensus(faultsOnly(), store, nil, m, slog.New(slog.NewTextHandler(&log, nil)))
	c.pass(t.Context())
	if n, _ := shown(t, m.Registry(), "oneticket_live_keys"); n != 300 || log.Len() > 0 {
		t.Errorf("%v live keys; %s", n, &log)
	}
	c.most = 100
	c.pass(t.Context())
	c.pass(t.Context())
	if n, _ := shown(t, m.Registry(), "oneticket_live_keys"); n != 100 || strings.Count(log.String(), "more records than are counted") != 1 {
		t.Errorf("%v live keys; %s", n, &log)
	}
}

// TestAStoreThatDoesNotAnswerShowsNoNumbers: old ones would lie.
func TestAStoreThatDoesNotAnswerShowsNoNumbers(t *testing.T) {
	away := ""
	store := &storetest.Faulty{Store: storetest.NewMemory(time.Now), Before: func(op string) error {
		if op == away {
			return storetest.ErrLost
		}
		return nil
	}}
	openRecords(t, store, "faults", 3)
	m := admin.NewMetrics()
	c := newCensus(faultsOnly(), store, nil, m, slog.New(slog.DiscardHandler))
	for _, away = range []string{"", "get", "", "list", ""} {
		c.pass(t.Context())
		for _, name := range []string{"oneticket_live_keys", "oneticket_doubtful", "oneticket_doubtful_oldest_seconds"} {
			if _, any := shown(t, m.Registry(), name); any != (away == "") {
				t.Errorf("with %q failing, %s is shown: %t", away, name, any)
			}
		}
	}
}

// TestACensusEndsWhenItIsClosed, in the middle of a rest too.
func TestACensusEndsWhenItIsClosed(t *testing.T) {
	c := newCensus(faultsOnly(), storetest.NewMemory(time.Now), nil, admin.NewMetrics(), slog.New(slog.DiscardHandler))
	c.close() // before it has begun
	c.start()
	ended := make(chan struct{})
	go func() { c.close(); close(ended) }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	select {
	case <-ended:
	case <-ctx.Done():
		t.Error("it goes on")
	}
}
