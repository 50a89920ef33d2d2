package main_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// outageDouble has two sidecars open a ticket each for one fault while their
// store is away, and returns the one that reports its ticket as the double.
func outageDouble(t *testing.T, o *ticketOffice, credentials, settings string) *sidecar {
	t.Helper()
	r := newTroubledRedis(t)
	r.kill()
	var pair []*sidecar
	for range 2 {
		s := newOfficeSidecar(t, o, credentials, settings)
		s.rewrite("state_dir", r.block()+"state_dir")
		s.start()
		if a := s.fire(o, newClient(t), "core-1", lesser[o.system], "down"); a.status != 201 || a.replayed {
			t.Fatalf("saw %d %q (%s)", a.status, a.body, a.decision())
		}
		pair = append(pair, s)
	}
	r.start()
	var reports *sidecar
	waitFor(t, "the double", func() bool {
		for _, s := range pair {
			if s.metric("oneticket_reconciled_total", `result="duplicate"`) == 1 {
				reports = s
			}
		}
		return reports != nil
	})
	waitFor(t, "the return", func() bool { return provisional(pair) == 0 })
	if o.size() != 2 {
		t.Fatalf("%d tickets", o.size())
	}
	return reports
}

// refuses runs a command that has to fail, and returns what it says.
func (s *sidecar) refuses(args ...string) string {
	s.t.Helper()
	binary, err := built()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := exec.Command(binary, append(args, "-c", s.config)...).CombinedOutput()
	if err == nil {
		s.t.Errorf("oneticket %s has not failed: %s", strings.Join(args, " "), out)
	}
	return string(out)
}

// TestAnOperatorMergesTheDoublesOfAnOutage: told how, and which.
func TestAnOperatorMergesTheDoublesOfAnOutage(t *testing.T) {
	for _, c := range []struct {
		system, how string
		closed      bool
	}{{"servicenow", "close", true}, {"jira", "link", false}} {
		t.Run(c.system+", "+c.how, func(t *testing.T) {
			o := newTicketOffice(t, c.system)
			s := outageDouble(t, o, withCredentials, "")
			var listed, said struct{ Key, Ticket, Beside, Into, Result, Merge string }
			if err := json.Unmarshal([]byte(s.command("reconcile", "--json")), &listed); err != nil || listed.Result != "duplicate" {
				t.Fatalf("%+v, %v", listed, err)
			}
			if said := s.refuses("reconcile", "--merge", c.how, "idem:another"); !strings.Contains(said, "no double of this key") || o.changed() != 0 {
				t.Errorf("of another key it said %s; %d changes", said, o.changed())
			}
			if err := json.Unmarshal([]byte(s.command("reconcile", "--merge", c.how, "--json", listed.Key)), &said); err != nil {
				t.Fatal(err)
			}
			if said.Result != "merged" || said.Ticket != listed.Ticket || said.Into != listed.Beside {
				t.Errorf("it says %+v of %+v", said, listed)
			}
			double, stays := o.is(0), o.is(1)
			if double.id != listed.Ticket {
				double, stays = stays, double
			}
			if !stays.open || double.open == c.closed || double.names != stays.id {
				t.Errorf("%+v stays, and %+v is the double", stays, double)
			}
			if err := json.Unmarshal([]byte(s.command("reconcile", "--json")), &listed); err != nil || listed.Merge != "merged" {
				t.Errorf("after it, the list says %+v, %v", listed, err)
			}
			changes := o.changed()
			if again := s.command("reconcile", "--merge", c.how, "--json"); again != "" || o.changed() != changes {
				t.Errorf("once more it says %q, and changes %d", again, o.changed()-changes)
			}
			if strings.Contains(s.log.String(), ownUser) {
				t.Error("the log has the credentials")
			}
			s.end(syscall.SIGTERM)
			if said := s.refuses("reconcile", "--merge", c.how); !strings.Contains(said, "the oneticket that runs") {
				t.Errorf("without one that runs it says %s", said)
			}
		})
	}
}

// TestADoubleIsNotMergedWithoutCredentials, and it is said what is missing.
func TestADoubleIsNotMergedWithoutCredentials(t *testing.T) {
	o := newTicketOffice(t, "servicenow")
	s := outageDouble(t, o, "", "")
	said := s.refuses("reconcile", "--merge", "close")
	if !strings.Contains(said, `backend "servicenow" has no credentials`) || !strings.Contains(said, "1 of 1 are not merged") || o.changed() != 0 {
		t.Errorf("it said %s; %d changes", said, o.changed())
	}
	if said := s.refuses("reconcile", "--merge", "delete"); !strings.Contains(said, "want close or link") {
		t.Errorf("it said %s", said)
	}
	s.end(syscall.SIGTERM)
}

// TestADoubleOfAnOutageIsMergedUnasked where the rule says so, and listed so.
func TestADoubleOfAnOutageIsMergedUnasked(t *testing.T) {
	o := newTicketOffice(t, "servicenow")
	s := outageDouble(t, o, withCredentials, `merge = "close"`)
	waitFor(t, "the merge", func() bool { return s.metric("oneticket_merges_total", `result="merged"`) == 1 })
	waitFor(t, "the list to say so", func() bool { return strings.Contains(s.command("reconcile", "--json"), `"merge":"merged"`) })
	s.end(syscall.SIGTERM)
}
