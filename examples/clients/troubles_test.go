package clients_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

// troubles are what the first create of a fault meets.
var troubles = []trouble{
	{name: "fine", commits: true},
	{name: "lost-answer", commits: true, reset: true},
	{name: "504-made", commits: true, status: 504},
	{name: "500-made", commits: true, status: 500},
	{name: "429-not-made", status: 429, header: [2]string{"Retry-After", "1"}},
	{name: "503-not-made", status: 503},
	{name: "slow", commits: true, slow: true},
}

// rarer are played in `make soak` besides.
var rarer = []trouble{
	{name: "half-answer", commits: true, half: true},
	{name: "503-retry-after", status: 503, header: [2]string{"Retry-After", "1"}},
	{name: "500-not-made", status: 500},
	{name: "reset-not-made", reset: true},
	{name: "closed-made", commits: true, closed: true},
	{name: "409-not-made", status: 409, header: [2]string{"Retry-After", "1"}, left: true},
	{name: "slow-then-lost", commits: true, slow: true, reset: true},
}

func init() {
	if soak() {
		troubles = append(troubles, rarer...)
	}
}

// A table has a row for each client, a column for each trouble.
type table struct {
	mu    sync.Mutex
	cells map[string]map[string]string
}

func (tb *table) put(client, trouble, cell string) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if tb.cells == nil {
		tb.cells = map[string]map[string]string{}
	}
	if tb.cells[client] == nil {
		tb.cells[client] = map[string]string{}
	}
	tb.cells[client][trouble] = cell
}

// text has the columns in the order of the troubles.
func (tb *table) text(columns []string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "client\t"+strings.Join(columns, "\t"))
	for _, name := range slices.Sorted(maps.Keys(tb.cells)) {
		fmt.Fprint(w, name)
		for _, c := range columns {
			fmt.Fprint(w, "\t", tb.cells[name][c])
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // to memory
	return b.String()
}

func names(all []trouble) []string {
	var out []string
	for _, tr := range all {
		out = append(out, tr.name)
	}
	return out
}

// legend says what a cell is.
const legend = "creates that reached the ticket system / tickets / + the client was told of the ticket, - it was not (its next run is)"

// TestEveryTroubleEndsInOneTicket: whatever happens to the first create, there
// is one ticket in the end; a client that waits is told of a ticket that was
// made, and the next run of every client is.
func TestEveryTroubleEndsInOneTicket(t *testing.T) {
	t.Parallel()
	s := newStage(t, true)
	var tb table
	each(part(), func(c client) { suffer(t, c, s.desks[c.system], s.urls[c.system], &tb) })
	t.Logf("through oneticket, %s:\n%s", legend, tb.text(names(troubles)))
}

func suffer(t *testing.T, c client, d *desk, url string, tb *table) {
	replies := meet(t, c, d, url)
	for _, tr := range troubles {
		fault := tr.name + "." + c.name
		if !tr.left && !until(t, fault+" has a ticket", func() bool { tickets, _ := d.of(fault); return len(tickets) > 0 }) {
			continue
		}
		told := replies[fault]
		tb.put(c.name, tr.name, cell(d, fault, told))
		if tickets, _ := d.of(fault); told.ticket != "" && (len(tickets) == 0 || told.ticket != c.named(tickets[0])) {
			t.Errorf("%s: told of %s, the tickets are %+v", fault, told.ticket, tickets)
		}
		if mustKnow := tr.commits && !tr.half && (!tr.slow || c.again); mustKnow && told.ticket == "" {
			t.Errorf("%s: there is a ticket and the client was told: %s", fault, told.why)
		}
	}
	checkNextRun(t, c, d, url, faults(c, names(slices.DeleteFunc(slices.Clone(troubles), func(tr trouble) bool { return tr.left }))))
	for _, tr := range troubles {
		if fault := tr.name + "." + c.name; tr.left {
			ticket := c.one(t, url, c.usual, fault)
			if tickets, _ := d.of(fault); len(tickets) != 1 || ticket != c.named(tickets[0]) {
				t.Errorf("%s: the next run was told of %s, the tickets are %+v", fault, ticket, tickets)
			}
		}
	}
}

// meet arms all troubles and lets the client run into them: into the slow ones
// with less patience.
func meet(t *testing.T, c client, d *desk, url string) map[string]reply {
	var quick, slow []string
	for _, tr := range troubles {
		fault := tr.name + "." + c.name
		if tr.name != "fine" {
			d.arm(fault, tr)
		}
		if tr.slow {
			slow = append(slow, fault)
		} else {
			quick = append(quick, fault)
		}
	}
	replies := c.create(t, url, c.usual, time.Minute, quick...)
	maps.Copy(replies, c.create(t, url, c.usual, patience, slow...))
	return replies
}

// checkNextRun lets the client run again: of each fault it is told the one
// ticket, and nothing new reaches the ticket system.
func checkNextRun(t *testing.T, c client, d *desk, url string, all []string) {
	before := map[string]int{}
	for _, f := range all {
		_, before[f] = d.of(f)
	}
	for f, r := range c.create(t, url, c.usual, time.Minute, all...) {
		tickets, creates := d.of(f)
		if len(tickets) != 1 || creates != before[f] && !systems[c.system].folds {
			t.Errorf("%s: %d tickets after %d creates, %d of them of the next run", f, len(tickets), creates, creates-before[f])
		} else if want := c.named(tickets[0]); r.ticket != want {
			t.Errorf("%s: the next run was told %q (%s), the ticket is %s", f, r.ticket, r.why, want)
		}
	}
}

func faults(c client, troubles []string) []string {
	var all []string
	for _, tr := range troubles {
		all = append(all, tr+"."+c.name)
	}
	return all
}

func cell(d *desk, fault string, told reply) string {
	tickets, creates := d.of(fault)
	sign := "+"
	if told.ticket == "" {
		sign = "-"
	}
	return fmt.Sprintf("%d/%d/%s", creates, len(tickets), sign)
}
