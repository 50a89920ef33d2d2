package main_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"oneticket/dedup"
	"oneticket/dedup/sqlitestore"
)

var titles = []string{"ring down", "fan broken", "disk full", "power lost", "no answer", "bad checksum", "clock wrong", "link flaps", "door open", "too hot"}

// TestManyTitlesUnderOneKeyAreNoticed: the identity leaves out which fault it is.
// Digits and times make no title another one.
func TestManyTitlesUnderOneKeyAreNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		settings string
		passed   int // of ten titles
	}{
		"counted":                      {"", 0},
		"sent on":                      {`on_suspect = "forward"`, 6},
		"by the title that a rule has": {"on_suspect = \"forward\"\n  witness = body.title", 6},
	} {
		t.Run(name, func(t *testing.T) {
			o := newTicketOffice(t, "servicenow")
			s := newOfficeSidecar(t, o, "", c.settings)
			s.start()
			client := newClient(t)
			fire := func(title string) answer {
				body := fmt.Sprintf(`{"cmdb_ci":"core-1","category":"link","urgency":"3",%q:%q}`, map[bool]string{true: "title", false: "short_description"}[strings.Contains(c.settings, "body.title")], title)
				return s.send(client, "/api/now/table/incident", body)
			}
			first := fire(titles[0] + " 12:30:01")
			for i := range 4 {
				if a := fire(fmt.Sprintf("%s 12:31:%02d, %d %%", titles[0], i, i*7)); !a.replayed {
					t.Fatalf("the same title at another time: %s", a.decision())
				}
			}
			passed := 0
			for i, title := range titles {
				a := fire(title)
				switch {
				case a.decision() == "pass; reason=suspect" && !a.replayed && a.status == 201:
					passed++
				case !a.replayed || a.body != first.body:
					t.Errorf("%q: %s, %d %q", title, a.decision(), a.status, a.body)
				}
				if c.passed > 0 && i < 4 { // the first four are known before the fifth comes
					waitFor(t, "the title in the record", func() bool { return s.titlesKept() == i+1 })
				}
			}
			waitFor(t, "the count", func() bool { return s.metric("oneticket_suspect_total", `rule="faults"`) == 1 })
			if passed != c.passed || o.size() != 1+c.passed {
				t.Errorf("%d of ten were sent on, want %d; %d tickets", passed, c.passed, o.size())
			}
			if a := fire(titles[0]); !a.replayed {
				t.Errorf("the first title again: %s", a.decision())
			}
			if got := strings.Count(s.log.String(), "the identity may be too broad"); got != 1 {
				t.Errorf("logged %d times", got)
			}
			if got := s.metric("oneticket_decisions_total", `decision="pass"`, `reason="suspect"`); got != float64(c.passed) {
				t.Errorf("counted %v", got)
			}
		})
	}
}

// TestUpdatesOfOneTicketAreBounded: of a fault that goes up and down all the
// time, what got worse reaches the ticket, and the rest does no more often than
// the rate. Another fault has a rate of its own.
func TestUpdatesOfOneTicketAreBounded(t *testing.T) {
	o := newTicketOffice(t, "servicenow")
	s := newOfficeSidecar(t, o, "", `update_rate = "4/h"`)
	s.start()
	client := newClient(t)
	s.fire(o, client, "core-1", "3", "down")
	for i, c := range []struct{ severity, decision, ticket string }{
		{"2", "update; reason=changed", "2"},
		{"3", "update; reason=changed", "3"},
		{"1", "update; reason=changed", "1"},
		{"2", "update; reason=changed", "2"},
		{"3", "suppress; reason=changed", "2"}, // the fifth in an hour, and not worse
		{"2", "suppress; reason=refire", "2"},
		{"1", "update; reason=changed", "1"}, // worse: at once
		{"2", "suppress; reason=changed", "1"},
		{"3", "suppress; reason=changed", "1"},
	} {
		a := s.fire(o, client, "core-1", c.severity, "down")
		if a.decision() != c.decision || a.status != 201 || o.is(0).severity != c.ticket {
			t.Errorf("step %d, to %s: %s, %d; the ticket says %s, want %s and %s", i, c.severity, a.decision(), a.status, o.is(0).severity, c.decision, c.ticket)
		}
	}
	if got := s.metric("oneticket_update_failures_total", `rule="faults"`); got != 3 {
		t.Errorf("%v changes are counted that did not reach the ticket, want 3", got)
	}
	s.fire(o, client, "core-2", "3", "down")
	if a := s.fire(o, client, "core-2", "2", "down"); a.decision() != "update; reason=changed" {
		t.Errorf("another fault: %s", a.decision())
	}
}

// TestASeverityThatNobodyRanksIsAskedAgain: it may be worse, so it is not told
// of a success.
func TestASeverityThatNobodyRanksIsAskedAgain(t *testing.T) {
	o := newTicketOffice(t, "servicenow")
	s := newOfficeSidecar(t, o, "", "update_rate = \"1/h\"\n  fingerprint = { severity = body.urgency }")
	s.start()
	client := newClient(t)
	s.fire(o, client, "core-1", "30", "down")
	s.fire(o, client, "core-1", "20", "down")
	a := s.fire(o, client, "core-1", "10", "down")
	if after, err := strconv.Atoi(a.header.Get("Retry-After")); a.status != 503 || err != nil || after < 1 || o.is(0).severity != "20" {
		t.Errorf("%s, %d, Retry-After %q; the ticket says %s", a.decision(), a.status, a.header.Get("Retry-After"), o.is(0).severity)
	}
}

func TestAChangeIsNotSentWhereTheRuleSaysSo(t *testing.T) {
	o := newTicketOffice(t, "servicenow")
	s := newOfficeSidecar(t, o, "", `on_update = "suppress"`)
	s.start()
	client := newClient(t)
	first := s.fire(o, client, "core-1", "3", "down")
	for range 2 {
		if a := s.fire(o, client, "core-1", "1", "down"); a.decision() != "suppress; reason=changed" || a.body != first.body || o.changed() != 0 {
			t.Errorf("%s, %q; %d changes", a.decision(), a.body, o.changed())
		}
	}
	if got := s.metric("oneticket_update_failures_total"); got != 0 {
		t.Errorf("%v are counted as failures", got)
	}
	s.send(client, "/api/now/table/incident", `{"cmdb_ci":"core-1","category":"link","urgency":"3","state":"6"}`)
	if o.is(0).open {
		t.Error("a clear did not close the ticket")
	}
	if a := s.fire(o, client, "core-1", "3", "down"); a.decision() != "create; reason=closed" {
		t.Errorf("after it: %s", a.decision())
	}
}

// TestTheLogTellsARuleOnTrial from one that acts.
func TestTheLogTellsARuleOnTrial(t *testing.T) {
	for action, want := range map[string]bool{"observe": true, "enforce": false} {
		t.Run(action, func(t *testing.T) {
			o := newTicketOffice(t, "servicenow")
			s := newOfficeSidecar(t, o, "", fmt.Sprintf("action = %q", action))
			s.verbose = true
			s.start()
			client := newClient(t)
			for range 2 {
				s.fire(o, client, "core-1", "3", "down")
			}
			for _, kind := range []string{"create", "suppress"} {
				line := ""
				waitFor(t, "the decision "+kind, func() bool { line = s.logged("reason=", kind); return line != "" })
				if got := strings.Contains(line, "action=observe") || strings.Contains(line, `"action":"observe"`); got != want {
					t.Errorf("%s", line)
				}
			}
		})
	}
}

// titlesKept is how many titles the one open record knows.
func (s *sidecar) titlesKept() (n int) {
	s.t.Helper()
	store, err := sqlitestore.Open(s.t.Context(), sqlitestore.Options{Path: filepath.Join(s.dir, "state", "oneticket.db")})
	if err != nil {
		s.t.Fatal(err)
	}
	defer store.Close()
	err = store.List(s.t.Context(), "faults", func(_ dedup.Ref, rec dedup.Record) bool {
		n = len(rec.Witness)
		return true
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// logged is the first line of the log that has all the parts.
func (s *sidecar) logged(parts ...string) string {
lines:
	for line := range strings.Lines(s.log.String()) {
		for _, part := range parts {
			if !strings.Contains(line, part) {
				continue lines
			}
		}
		return line
	}
	return ""
}
