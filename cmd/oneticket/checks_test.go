package main_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The five checks of a set-up: each has a fault planted, and its metric has to
// name it.

// TestAnAlertHandlerWhoseRuleNeverSuppressesIsSeenInTheDecisionMix: the title
// is in its identity, and every title is another.
func TestAnAlertHandlerWhoseRuleNeverSuppressesIsSeenInTheDecisionMix(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", `
rule "titles" {
  backend  = "servicenow"
  preset   = "servicenow/incident"
  match    = { headers = { "x-handler" = "titles" } }
  identity = { element_id = body.cmdb_ci, title = body.short_description }
}
`)
	s.rewrite(`  identity = {
    element_id  =`, `  match = { headers = { "x-handler" = "" } }
  identity = {
    element_id  =`)
	s.start()
	client := newClient(t)
	for i := range 12 {
		s.post(client, fault("ne-1", i))
		s.post(client, fault("ne-1", i), "X-Handler", "titles")
	}
	for _, want := range []struct {
		rule             string
		creates, answers float64
	}{{"faults", 1, 11}, {"titles", 12, 0}} {
		rule := fmt.Sprintf("rule=%q", want.rule)
		creates := s.metric("oneticket_decisions_total", rule, `decision="create"`)
		answers := s.metric("oneticket_decisions_total", rule, `decision="suppress"`)
		if creates != want.creates || answers != want.answers {
			t.Errorf("rule %s: %v creates and %v suppressed, want %v and %v", want.rule, creates, answers, want.creates, want.answers)
		}
	}
}

// counted waits until the metrics say so many live keys and open tickets. The
// backend is asked after the store was looked through.
func (s *sidecar) counted(live, open float64) {
	s.t.Helper()
	waitFor(s.t, fmt.Sprintf("%v live keys and %v open tickets", live, open), func() bool {
		return s.metric("oneticket_open_tickets", `backend="servicenow"`) == open && s.metric("oneticket_live_keys", `rule="faults"`) == live
	})
}

// withReporter gives the backend credentials that may count its tickets.
func (s *sidecar) withReporter() {
	s.rewrite(`timeout = "5s"`, fmt.Sprintf("timeout = \"5s\"\n  credentials = { authorization = %q }",
		"Basic "+base64.StdEncoding.EncodeToString([]byte("reporter:secret"))))
}

func TestTicketsWithoutALiveKeyAreSeenWhenTheStoreWasWiped(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", "")
	s.withReporter()
	s.start()
	client := newClient(t)
	for i := range 5 {
		s.post(client, fault(fmt.Sprint("ne-", i), 0))
	}
	s.kill()
	s.start()
	s.counted(5, 5)
	s.kill()
	files, err := filepath.Glob(filepath.Join(s.dir, "state", "oneticket.db*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no store: %v", err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	s.start()
	s.counted(0, 5)
}

func TestLiveKeysWhoseTicketsSomebodyClosedByHandAreSeen(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", "")
	s.withReporter()
	s.start()
	client := newClient(t)
	for i := range 5 {
		s.post(client, fault(fmt.Sprint("ne-", i), 0))
	}
	d.mu.Lock()
	for i := range 3 {
		for _, id := range d.tickets[fmt.Sprint("ne-", i)] {
			d.closed[id] = true
		}
	}
	d.mu.Unlock()
	s.kill()
	s.start()
	s.counted(5, 2)
	if s.metric("oneticket_doubtful") != 0 || s.metric("oneticket_doubtful_oldest_seconds") != 0 {
		t.Error("there is no doubt about any of them")
	}
}

// TestABackendThatDoesNotSayHowManyTicketsItHasHasNoNumber, and that is told
// once.
func TestABackendThatDoesNotSayHowManyTicketsItHasHasNoNumber(t *testing.T) {
	s := newSidecar(t, newDesk(t), "", "")
	s.withReporter()
	s.rewrite("Basic ", "Basic x")
	s.start()
	waitFor(t, "a word about it", func() bool { return strings.Contains(s.log.String(), "does not say how many tickets") })
	if text := s.metrics(); strings.Contains(text, "\noneticket_open_tickets{") {
		t.Error("a number that nobody has said")
	}
}

func TestARaceOfClientsIsCountedAsOne(t *testing.T) {
	d := newDesk(t)
	d.delay.Store(int64(300 * time.Millisecond))
	s := newSidecar(t, d, "", "")
	s.start()
	client := newClient(t)
	atInstant(30, func(i int) string { return s.post(client, fault("ne-1", i)).body })
	s.post(client, fault("ne-1", 30))
	race, refire := s.metric("oneticket_claim_conflicts_total", `rule="faults"`, `kind="race"`), s.metric("oneticket_claim_conflicts_total", `kind="refire"`)
	if race < 20 || race+refire != 30 || refire < 1 {
		t.Errorf("%v of 30 raced, and %v re-fired", race, refire)
	}
}

// TestAKeyThatExpiresUnderAnOpenFaultIsCountedAndTold: with the gap, and a ttl
// that would have held.
func TestAKeyThatExpiresUnderAnOpenFaultIsCountedAndTold(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, `class = body.u_tier
  ttl = { default = "1h", access = "1s" }`, "")
	s.start()
	client := newClient(t)
	access := strings.Replace(fault("ne-1", 0), "{", `{"u_tier":"access",`, 1)
	s.post(client, access)
	s.post(client, fault("ne-2", 0))
	const gap = 1500 * time.Millisecond
	time.Sleep(gap) // the gap of this fault
	s.post(client, access)
	s.post(client, fault("ne-2", 1))
	if n := s.metric("oneticket_expired_open_total", `rule="faults"`, `class="access"`); n != 1 || s.metric("oneticket_expired_open_total") != 1 {
		t.Errorf("%v expired", n)
	}
	for _, class := range []string{"access", "default"} {
		seen := s.metric("oneticket_refire_gap_seconds_count", `class="`+class+`"`)
		if sum := s.metric("oneticket_refire_gap_seconds_sum", `class="`+class+`"`); seen != 1 || sum < gap.Seconds() {
			t.Errorf("class %s: %v gaps of %v s in all", class, seen, sum)
		}
	}
	line := lineWith(s.log.String(), "expired under an open fault")
	for _, part := range []string{"level=WARN", "rule=faults", "class=access", "ticket=" + d.of("ne-1")[0], "gap=", "ttl=1s", "ttl_that_would_have_held="} {
		if !strings.Contains(line, part) {
			t.Errorf("no %q in %q", part, line)
		}
	}
}

// lineWith is the first line of the text that has the part.
func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}

// TestAFlappingSeverityIsSeenInTheUpdatesOfItsTicket, and the log names the
// field.
func TestAFlappingSeverityIsSeenInTheUpdatesOfItsTicket(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, `update_rate = "100/s"`, "")
	s.start()
	client := newClient(t)
	for i := range 9 {
		s.post(client, strings.Replace(fault("ne-1", i), `"urgency":"2"`, fmt.Sprintf(`"urgency":"%d"`, 1+i%2), 1))
		s.post(client, fault("ne-2", i))
	}
	line := lineWith(s.log.String(), "updated again and again")
	for _, part := range []string{"level=WARN", "rule=faults", "ticket=" + d.of("ne-1")[0], "updates=4", "field=severity", "was=2", "is=1"} {
		if !strings.Contains(line, part) {
			t.Errorf("no %q in %q", part, line)
		}
	}
	if n := strings.Count(s.log.String(), "updated again and again"); n != 2 {
		t.Errorf("told %d times of 8 updates, want at the fourth and the eighth", n)
	}
	s.kill()
	s.start()
	waitFor(t, "both tickets to be counted", func() bool { return s.metric("oneticket_updates_per_ticket_count", `rule="faults"`) == 2 })
	if sum, calm := s.metric("oneticket_updates_per_ticket_sum", `rule="faults"`), s.metric("oneticket_updates_per_ticket_bucket", `le="4"`); sum != 8 || calm != 1 {
		t.Errorf("%v updates in all, %v ticket with four or fewer; want 8 and 1", sum, calm)
	}
}
