package clients_test

import "testing"

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
	if len(tickets) != 1 || creates != 1 || c.named(tickets[0]) != first {
		t.Errorf("%s: %d creates, tickets %+v; want one, %s", fault, creates, tickets, first)
		return
	}
	if tk := tickets[0]; tk.severity != c.worse || tk.updates != 1 {
		t.Errorf("%s: the ticket has severity %s after %d updates, want %s after 1", fault, tk.severity, tk.updates, c.worse)
	}
	c.resolve(t, url, first)
	next := c.one(t, url, c.usual, fault)
	tickets, creates = d.of(fault)
	if len(tickets) != 2 || creates != 2 || next == first || !tickets[0].done || tickets[1].done {
		t.Errorf("%s: after the resolve: told of %s, %d creates, tickets %+v", fault, next, creates, tickets)
	}
}
