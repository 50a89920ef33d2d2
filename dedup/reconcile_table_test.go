package dedup_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
)

var update = flag.Bool("update", false, "write what the functions do into testdata")

// TestEveryLocalStateMeetsEverySharedState compares what Reconcile says of each
// pair with testdata/reconcile.txt, which a person reads beside the design.
func TestEveryLocalStateMeetsEverySharedState(t *testing.T) {
	t.Parallel()
	const file = "testdata/reconcile.txt"
	var b strings.Builder
	b.WriteString("A local state | the shared states | what Reconcile says: the result, what is reported beside it, and after \">\" the shared state then.\n" +
		"Below the first table: only the lines that are not in it.\n")
	var first []string
	for _, table := range reconcileTables() {
		lines := table.lines()
		differ := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(first, line) })
		if first == nil {
			first = lines
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", table.title, strings.Join(differ, "\n"))
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, documented := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(documented)) {
		if i >= len(got) || i >= len(documented) || got[i] != documented[i] {
			t.Fatalf("line %d of %s differs from what Reconcile does (go test -update writes it):\n%s", i+1, file, got[min(i, len(got)-1)])
		}
	}
}

// A reconcileTable is one way in which the look-ups go.
type reconcileTable struct {
	title  string
	policy dedup.Policy
	asked  dedup.Asked
	same   bool // both know the ticket T1
}

func reconcileTables() []reconcileTable {
	full := policyOf(systemNamed("look"), false, true, true)
	found := func(id string, open bool) *dedup.LookUpResult {
		return &dedup.LookUpResult{Answered: true, Tickets: []dedup.FoundTicket{{Ticket: dedup.Ticket{ID: id}, Open: open}}}
	}
	absent := &dedup.LookUpResult{Answered: true}
	return []reconcileTable{
		{"nothing asked yet", full, dedup.Asked{}, false},
		{"the same ticket", full, dedup.Asked{}, true},
		{"both tokens found open", full, dedup.Asked{Local: found("L2", true), Shared: found("T2", true)}, false},
		{"both tokens found closed", full, dedup.Asked{Local: found("L2", false), Shared: found("T2", false)}, false},
		{"both tokens absent", full, dedup.Asked{Local: absent, Shared: absent}, false},
		{"nobody to ask", full, dedup.Asked{Nobody: true}, false},
	}
}

// lines are one for each local state and what is said of it, with all shared
// states of which the same is said.
func (rt reconcileTable) lines() []string {
	var lines []string
	for _, local := range rowsOf(&rt.policy) {
		var said []string
		meets := map[string][]string{}
		most := ""
		for _, shared := range rowsOf(&rt.policy) {
			cell := rt.cell(local, shared)
			if meets[cell] == nil {
				said = append(said, cell)
			}
			meets[cell] = append(meets[cell], shared.name)
			if len(meets[cell]) > len(meets[most]) {
				most = cell
			}
		}
		for _, cell := range append(slices.DeleteFunc(said, func(c string) bool { return c == most }), most) {
			names := strings.Join(meets[cell], "; ")
			if cell == most {
				names = "any other"
			}
			lines = append(lines, fmt.Sprintf("%s | %s | %s", local.name, names, cell))
		}
	}
	return lines
}

func (rt reconcileTable) cell(local, shared stateRow) string {
	rec := local.rec
	if !rt.same {
		rec = elsewhere(rec)
	}
	asked := rt.asked
	for _, result := range []**dedup.LookUpResult{&asked.Local, &asked.Shared} {
		if *result != nil {
			now := dedup.LookUpResult{Answered: (*result).Answered, Tickets: slices.Clone((*result).Tickets)}
			for i := range now.Tickets {
				now.Tickets[i].Created = shared.now
			}
			*result = &now
		}
	}
	return tellReconciliation(dedup.Reconcile(rec.Shifted(shared.now.Sub(local.now)), shared.rec, asked, &rt.policy, shared.now))
}

// elsewhere is the record as another store would have it: its own token, holder
// and ticket.
func elsewhere(rec dedup.Record) dedup.Record {
	if rec.State == "" {
		return rec
	}
	rec.Token, rec.Provisional = "k.p1234abcd", true
	if rec.Holder != "" {
		rec.Holder = "l1"
	}
	if rec.Ticket.ID != "" {
		rec.Ticket.ID = "L1"
	}
	rec.Attempts = slices.Clone(rec.Attempts)
	for i := range rec.Attempts {
		rec.Attempts[i].Token, rec.Attempts[i].Holder = rec.Token, "l1"
	}
	return rec
}

func tellReconciliation(r dedup.Reconciliation) string {
	if r.Step != dedup.ReconcileDone {
		return string(r.Step)
	}
	words := []string{string(r.Result)}
	for _, t := range r.Tickets {
		words = append(words, "+"+t.ID)
	}
	for _, token := range r.Uncertain {
		words = append(words, "+"+token)
	}
	if r.Close != "" {
		words = append(words, "close "+r.Close)
	}
	if r.Next != nil {
		words = append(words, "> "+tellState(*r.Next)+" "+r.Next.Ticket.ID)
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// TestReconcileIsDoneOnce calls it again after each part of what it said has
// happened: nothing is opened or reported beside what was before.
func TestReconcileIsDoneOnce(t *testing.T) {
	t.Parallel()
	for _, rt := range reconcileTables() {
		for _, local := range rowsOf(&rt.policy) {
			for _, shared := range rowsOf(&rt.policy) {
				rt.doneOnce(t, local, shared)
			}
		}
	}
}

func (rt reconcileTable) doneOnce(t *testing.T, local, shared stateRow) {
	rec := local.rec.Shifted(shared.now.Sub(local.now))
	if !rt.same {
		rec = elsewhere(rec)
	}
	first := dedup.Reconcile(rec, shared.rec, rt.asked, &rt.policy, shared.now)
	if first.Step != dedup.ReconcileDone || first.Next == nil {
		return
	}
	written := *first.Next
	written.Version++
	again := dedup.Reconcile(rec, written, rt.asked, &rt.policy, shared.now.Add(time.Second))
	where := fmt.Sprintf("%s: local %s, shared %s", rt.title, local.name, shared.name)
	switch {
	case again.Step != dedup.ReconcileDone:
		t.Errorf("%s: said %s, and then %s", where, tellReconciliation(first), tellReconciliation(again))
	case again.Next != nil && (again.Next.Episode != written.Episode || again.Next.Ticket.ID != written.Ticket.ID || again.Next.State != written.State):
		t.Errorf("%s: said %s, and then %s", where, tellReconciliation(first), tellReconciliation(again))
	case len(again.Tickets) > len(first.Tickets) || len(again.Uncertain) > len(first.Uncertain):
		t.Errorf("%s: reports %s, and then %s", where, tellReconciliation(first), tellReconciliation(again))
	}
}

// TestNothingProvisionalIsLeftInTheSharedStore, and no token is met twice.
func TestNothingProvisionalIsLeftInTheSharedStore(t *testing.T) {
	t.Parallel()
	for _, rt := range reconcileTables() {
		for _, local := range rowsOf(&rt.policy) {
			for _, shared := range rowsOf(&rt.policy) {
				rec := elsewhere(local.rec.Shifted(shared.now.Sub(local.now)))
				rec.Episode += 3
				r := dedup.Reconcile(rec, shared.rec, rt.asked, &rt.policy, shared.now)
				if r.Next == nil {
					continue
				}
				if n := r.Next; n.Provisional || n.Version != shared.rec.Version || n.Episode < shared.rec.Episode || n.Token == rec.Token && n.Episode < rec.Episode {
					t.Errorf("%s: local %s, shared %s: %+v", rt.title, local.name, shared.name, *n)
				}
			}
		}
	}
}
