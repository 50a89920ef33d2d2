package clients_test

import (
	"sync"
	"testing"
	"time"
)

// TestAnAbsentTicketSystemComesBack: nobody listens when the creates come, and
// a little later somebody does.
func TestAnAbsentTicketSystemComesBack(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	var tb table
	var back sync.WaitGroup
	back.Go(func() {
		if until(t, "Envoy has been refused", func() bool { return s.refused() >= len(part()) }) {
			s.open()
		}
	})
	each(part(), func(c client) {
		d, fault := s.desks[c.system], "absent."+c.name
		told := c.createAtOnce(t, s.urls[c.system], c.usual, time.Minute, fault)[fault]
		until(t, fault+" has a ticket", func() bool { tickets, _ := d.of(fault); return len(tickets) > 0 })
		tb.put(c.name, "absent", cell(d, fault, told))
		checkNextRun(t, c, d, s.urls[c.system], []string{fault})
	})
	back.Wait()
	t.Logf("through oneticket, %s:\n%s", legend, tb.text([]string{"absent"}))
}
