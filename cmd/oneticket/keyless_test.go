package main_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestARuleThatReadsTheWrongFieldIsLoud: all creates pass unguarded, which
// nobody would see without looking at the metrics.
func TestARuleThatReadsTheWrongFieldIsLoud(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", "")
	s.rewrite("fault_class = body.category", "fault_class = body.catgeory")
	s.start()
	client := newClient(t)
	for try := range 21 {
		if a := s.post(client, fault("core-1", try)); a.status != 201 || a.replayed {
			t.Fatalf("try %d saw %d, replayed %v", try, a.status, a.replayed)
		}
		if degraded := s.degraded(t); try < 19 && len(degraded) > 0 {
			t.Fatalf("degraded after %d: %v", try+1, degraded)
		}
	}
	degraded := strings.Join(s.degraded(t), "\n")
	if !strings.Contains(degraded, "rule faults has keyed none of its first 20 requests (missing fault_class)") {
		t.Errorf("/ready: %s", degraded)
	}
	s.kill() // the log is complete
	line := "level=ERROR msg=\"a rule has keyed none of its first requests: none of its creates is guarded\" rule=faults requests=20 why=missing field=fault_class do="
	if n := strings.Count(s.log.String(), line); n != 1 {
		t.Errorf("%d lines in the log: %s", n, s.log)
	}
}

func (s *sidecar) degraded(t *testing.T) []string {
	t.Helper()
	res, err := http.Get("http://" + s.admin + "/ready")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var state struct{ Degraded []string }
	if err := json.NewDecoder(res.Body).Decode(&state); err != nil {
		t.Fatal(err)
	}
	return state.Degraded
}
