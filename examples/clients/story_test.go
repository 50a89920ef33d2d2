package clients_test

import (
	"cmp"
	"testing"
)

// TestEveryClientHasOneTicketAFault: each client opens a ticket, comes again,
// comes with a worse severity, resolves, and meets the fault anew.
func TestEveryClientHasOneTicketAFault(t *testing.T) {
	t.Parallel()
	s := newStage(t, true)
	each(clients, func(c client) { live(t, c, s.desks[c.system], s.urls[c.system]) })
}

func live(t *testing.T, c client, d *desk, url string) {
	fault := "db1." + c.name
	first := c.one(t, url, c.usual, fault)
	if first == "" {
		return
	}
	if again := c.one(t, url, c.usual, fault); again != first {
		t.Errorf("%s: the second run was told of %s, the first of %s", fault, again, first)
	}
	if worse := c.one(t, url, c.worse, fault); worse != first {
		t.Errorf("%s: the worse severity was told of %s, not of %s", fault, worse, first)
	}
	tickets, creates := d.of(fault)
	if len(tickets) != 1 || creates != 1 && !systems[c.system].folds || c.named(tickets[0]) != first {
		t.Errorf("%s: %d creates, tickets %+v; want one, %s", fault, creates, tickets, first)
		return
	}
	if tk, want := tickets[0], cmp.Or(c.graded, c.worse); tk.severity != want || tk.updates != 1 {
		t.Errorf("%s: the ticket has severity %s after %d updates, want %s after 1", fault, tk.severity, tk.updates, want)
	}
	if !c.deaf {
		meetAnew(t, c, d, url, fault, first)
	}
}

// meetAnew: after its own resolve the fault is another one.
func meetAnew(t *testing.T, c client, d *desk, url, fault, first string) {
	over := first
	if c.byFault {
		over = fault
	}
	c.resolve(t, url, over)
	next := c.one(t, url, c.usual, fault)
	tickets, _ := d.of(fault)
	if len(tickets) != 2 || !tickets[0].done || tickets[1].done || next != c.named(tickets[len(tickets)-1]) {
		t.Errorf("%s: after the resolve: told of %s, tickets %+v", fault, next, tickets)
	}
}
