package main_test

import (
	"strings"
	"syscall"
	"testing"
)

// newOutageSidecar is a sidecar in front of the office, whose store is away from
// the beginning; it heals nothing by itself, so that what is lost in the outage
// is left for the return.
func newOutageSidecar(t *testing.T, o *ticketOffice, r *troubledRedis, settings string) *sidecar {
	s := newOfficeSidecar(t, o, withCredentials, "heal_within = \"0\"\n resend = 0\n lookup = { settle = \"1s\" }\n"+settings)
	s.rewrite("state_dir", r.block()+"state_dir")
	r.kill()
	s.start()
	return s
}

// loses sends a create of which the office makes what it will, and no answer
// comes.
func (s *sidecar) loses(o *ticketOffice, path, body string) {
	s.t.Helper()
	if a := s.send(newClient(s.t), path, body); a.status < 500 {
		s.t.Errorf("the client of a lost answer saw %d %q", a.status, a.body)
	}
	waitFor(s.t, "the dead letter", func() bool { return s.metric("oneticket_dead_letters") == 1 })
}

func (s *sidecar) reconciles(result string) {
	s.t.Helper()
	waitFor(s.t, result, func() bool {
		return s.metric("oneticket_reconciled_total", `result="`+result+`"`) == 1 && s.metric("oneticket_provisional_creates") == 0
	})
}

// systems are those that the office can be; the path of some says where their API
// is.
var systems = map[string]struct{ system, base string }{
	"servicenow":             {"servicenow", ""},
	"jira":                   {"jira", ""},
	"jira on a context path": {"jira", "/tracker"},
	"zendesk":                {"zendesk", ""},
}

// TestACreateWhoseAnswerIsLostInAnOutage is looked up on the return: the ticket
// that is found is the key's own, and the dead letter goes.
func TestACreateWhoseAnswerIsLostInAnOutage(t *testing.T) {
	for name, c := range systems {
		for _, restarted := range []bool{false, true} {
			if restarted {
				name += ", after a restart"
			}
			t.Run(name, func(t *testing.T) {
				o, r := newTicketOffice(t, c.system), newTroubledRedis(t)
				o.base, o.loses = c.base, true
				s := newOutageSidecar(t, o, r, "")
				path, body := o.createOf("core-1", lesser[c.system], "down")
				s.loses(o, c.base+path, body)
				if restarted {
					s.end(syscall.SIGTERM)
					s.start()
				}
				r.start()
				s.reconciles("taken_over")
				if a := s.send(newClient(t), c.base+path, body); !a.replayed || !strings.Contains(a.body, o.is(0).id) {
					t.Errorf("a re-fire saw %d %q (%s)", a.status, a.body, a.decision())
				}
				waitFor(t, "the letter to go", func() bool { return s.metric("oneticket_dead_letters") == 0 })
				if o.size() != 1 {
					t.Errorf("%d tickets", o.size())
				}
				if got := s.metric("oneticket_lookups_total", `result="open"`); got == 0 {
					t.Error("nothing was looked up")
				}
				s.end(syscall.SIGTERM)
			})
		}
	}
}

// TestACreateThatMadeNoTicketInAnOutage is looked up too: it is surely not there,
// and its dead letter stays.
func TestACreateThatMadeNoTicketInAnOutage(t *testing.T) {
	for name, c := range systems {
		t.Run(name, func(t *testing.T) {
			o, r := newTicketOffice(t, c.system), newTroubledRedis(t)
			o.base, o.drops = c.base, true
			s := newOutageSidecar(t, o, r, "")
			path, body := o.createOf("core-1", lesser[c.system], "down")
			s.loses(o, c.base+path, body)
			r.start()
			s.reconciles("absent")
			if got := s.metric("oneticket_dead_letters"); got != 1 {
				t.Errorf("%v dead letters", got)
			}
			o.set(func() { o.drops = false })
			if a := s.send(newClient(t), c.base+path, body); a.status != 201 || a.replayed || o.size() != 1 {
				t.Errorf("the next create saw %d %q (%s); %d tickets", a.status, a.body, a.decision(), o.size())
			}
			s.end(syscall.SIGTERM)
		})
	}
}

// TestACreateThatCarriedNoToken cannot be looked up by it: that it is not found
// says nothing, so it is not called absent.
func TestACreateThatCarriedNoToken(t *testing.T) {
	o, r := newTicketOffice(t, "zendesk"), newTroubledRedis(t)
	o.loses = true
	s := newOutageSidecar(t, o, r, "")
	path, body := o.createOf("core-1", "low", "down")
	s.loses(o, path, strings.Replace(body, `"priority"`, `"external_id":"event-7","priority"`, 1))
	r.start()
	waitFor(t, "the end of the reconciling", func() bool { return s.metric("oneticket_provisional_creates") == 0 })
	if got := s.metric("oneticket_reconciled_total", `result="doubtful"`); got != 1 {
		t.Errorf("%v are in doubt: %s", got, s.command("reconcile"))
	}
	if got := s.metric("oneticket_dead_letters"); got != 1 {
		t.Errorf("%v dead letters", got)
	}
	s.end(syscall.SIGTERM)
}
