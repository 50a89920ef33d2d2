package clients_test

import (
	"slices"
	"testing"
)

// TestStraightTheSameTroublesMakeTwoTickets is how it is without oneticket: the
// same clients, the same ticket systems. `make soak` plays all the clients.
func TestStraightTheSameTroublesMakeTwoTickets(t *testing.T) {
	t.Parallel()
	some := clients
	if !soak() {
		some = slices.DeleteFunc(slices.Clone(clients), func(c client) bool { return c.name != "curl" && c.name != "requests-retry" })
	}
	desks := map[string]*desk{}
	for name, sys := range systems {
		desks[name] = newDesk(t, sys.routes)
		if sys.secure {
			desks[name].startSecure(t)
		} else {
			desks[name].Start()
		}
	}
	var tb table
	each(some, func(c client) {
		d := desks[c.system]
		replies := meet(t, c, d, d.URL)
		for _, tr := range troubles {
			fault := tr.name + "." + c.name
			tb.put(c.name, tr.name, cell(d, fault, replies[fault]))
		}
	})
	for _, c := range []string{"curl", "requests-retry"} {
		if tickets, _ := desks["servicenow"].of("504-made." + c); len(tickets) != 2 {
			t.Errorf("%s has made %d tickets of a create that was answered by 504, want 2: the test shows nothing", c, len(tickets))
		}
	}
	t.Logf("straight, %s:\n%s", legend, tb.text(names(troubles)))
}
