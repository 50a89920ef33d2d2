package dedup_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
)

// TestEveryStateMeetsEveryEvent walks every state and every event through the
// shipped functions and compares what they say with the tables of doc.go, so
// that the document cannot lie and no pair is forgotten.
func TestEveryStateMeetsEveryEvent(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for line := range strings.Lines(string(source)) {
		if text, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "//\t"); ok && strings.Contains(text, "|") {
			documented = append(documented, text)
		}
	}
	var want []string
	for _, table := range stateTables() {
		want = append(want, table.lines()...)
	}
	for i := range max(len(want), len(documented)) {
		if i >= len(want) || i >= len(documented) || want[i] != documented[i] {
			t.Fatalf("line %d of the tables in doc.go differs from what the functions do; they do:\n\n//\t%s", i+1, strings.Join(want, "\n//\t"))
		}
	}
}

// A stateTable is one table of doc.go.
type stateTable struct {
	title  string
	policy dedup.Policy
	rows   []stateRow
	events []stateEvent
}

// A stateRow is a record at a time.
type stateRow struct {
	name string
	rec  dedup.Record
	now  time.Time
}

type stateEvent struct {
	name string
	is   func(p *dedup.Policy, r stateRow) string
}

func (t stateTable) lines() []string {
	cells := [][]string{{t.title}}
	for _, e := range t.events {
		cells[0] = append(cells[0], e.name)
	}
	alike := map[string]int{}
	for _, r := range t.rows {
		line := []string{r.name}
		for _, e := range t.events {
			line = append(line, e.is(&t.policy, r))
		}
		cells = append(cells, line)
		alike[strings.Join(line[1:], "|")]++
	}
	cells = mostAlikeLast(cells, alike)
	var lines []string
	for _, line := range cells {
		var b strings.Builder
		for i, cell := range line {
			if i > 0 {
				b.WriteString(" | ")
			}
			fmt.Fprintf(&b, "%-*s", widest(cells, i), cell)
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// mostAlikeLast puts the rows that are most often alike into one line, the last.
func mostAlikeLast(cells [][]string, alike map[string]int) [][]string {
	var most string
	for cell, n := range alike {
		if n > 3 && n > alike[most] {
			most = cell
		}
	}
	if most == "" {
		return cells
	}
	cells = slices.DeleteFunc(cells, func(line []string) bool { return strings.Join(line[1:], "|") == most })
	return append(cells, append([]string{"any other"}, strings.Split(most, "|")...))
}

func widest(cells [][]string, column int) int {
	n := 0
	for _, line := range cells {
		n = max(n, len(line[column]))
	}
	return n
}

func stateTables() []stateTable {
	full := policyOf(systemNamed("look"), false, true, true)
	bare := policyOf(systemNamed("nothing"), false, false, false)
	folds := policyOf(systemNamed("folds"), false, false, false)
	return []stateTable{
		{title: "claim of", policy: full, rows: rowsOf(&full), events: []stateEvent{fires("same fire", "A"), fires("other fire", "B"), fires("clear", "C")}},
		{title: "same, nobody to ask", policy: bare, rows: bareRows(&bare), events: []stateEvent{fires("same fire", "A"), fires("other fire", "B"), fires("clear", "C")}},
		{title: "same, folds", policy: folds, rows: bareRows(&folds)[:3], events: []stateEvent{fires("same fire", "A"), fires("other fire", "B"), fires("clear", "C")}},
		{title: "create", policy: full, rows: rowsOf(&full), events: createEvents()},
		{title: "update", policy: full, rows: rowsOf(&full), events: updateEvents()},
		{title: "close, look-up", policy: full, rows: rowsOf(&full), events: append(closeEvents(), lookUpEvents()...)},
		{title: "read", policy: full, rows: rowsOf(&full), events: readEvents()},
	}
}

const theHolder = "h1"

func claimWith(p *dedup.Policy, holder, severity string) dedup.Claim {
	q := request{sev: severity}
	return dedup.Claim{Fault: dedup.Fault{Ref: dedup.Ref{Key: "k"}, Fingerprint: q.fingerprint()}, Policy: p, Holder: holder}
}

func sendOf(rec dedup.Record, holder string) dedup.Send {
	return dedup.Send{Holder: holder, Episode: rec.Episode, Token: rec.Token, Fingerprint: dedup.Fingerprint{Severity: "A"}, Reason: dedup.First}
}

// rowsOf makes a record in each state, by the shipped functions.
func rowsOf(p *dedup.Policy) []stateRow {
	now := at(1000)
	first := claimWith(p, theHolder, "A")
	claimed := first.Offer().Take(dedup.Record{}, now)
	claimed.Sent = true
	doubtful := *dedup.Settle(claimed, sendOf(claimed, theHolder), dedup.Outcome{Kind: dedup.OutcomeUnknown}, p, now).Next
	settled := now.Add(p.Settle)
	open := *dedup.Settle(claimed, sendOf(claimed, theHolder), dedup.Outcome{Kind: dedup.OutcomeCreated, Ticket: dedup.Ticket{ID: "T1"}}, p, now).Next
	updating := *dedup.Decide(open, claimWith(p, theHolder, "B"), now).Next
	clearing := *dedup.Decide(open, claimWith(p, theHolder, "C"), now).Next
	closed := *dedup.CloseTicket(open, "T1", p, now)
	inDoubt := closing(clearing, dedup.UpdateUnknown, p, now)
	attempts := closed
	attempts.Attempts = doubtful.Attempts
	attempts.FreeAt = attempts.KeepUntil
	reopening, observed, newer := closed, open, open
	if p.ReopenWithin > 0 {
		reopening = *dedup.Decide(closed, claimWith(p, theHolder, "A"), now).Next
	}
	observed.Observed, observed.FreeAt = true, time.Time{}
	newer.V++
	looking := func(when time.Time) dedup.Record {
		if d := dedup.Decide(doubtful, claimWith(p, theHolder, "A"), when); d.Kind == dedup.LookUp {
			return *d.Next
		}
		return doubtful
	}
	over := now.Add(p.Lease)
	return []stateRow{
		{"none", dedup.Record{}, now},
		{"claimed", claimed, now},
		{"claimed, lease over", claimed, over},
		{"doubtful", doubtful, now},
		{"doubtful, settled", doubtful, settled},
		{"looking", looking(now), now},
		{"looking, settled", looking(settled), settled},
		{"open", open, now},
		{"open, check due", open, now.Add(p.VerifyEvery)},
		{"open, expired", open, open.ExpiresAt},
		{"open, updating", updating, now},
		{"open, clearing", clearing, now},
		{"open, update over", updating, over},
		{"open, clear over", clearing, over},
		{"closed lately", closed, now},
		{"closed", closed, now.Add(p.ReopenWithin)},
		{"closed, gone", closing(updating, dedup.UpdateGone, p, now), now},
		{"closed, attempts", attempts, settled},
		{"closed?, may land", inDoubt, now},
		{"closed?", inDoubt, inDoubt.LandsUntil},
		{"closed, reopening", reopening, now},
		{"closed, reopen over", reopening, over},
		{"observed", observed, now},
		{"newer", newer, now},
	}
}

func closing(rec dedup.Record, kind dedup.UpdateKind, p *dedup.Policy, now time.Time) dedup.Record {
	return *dedup.SettleUpdate(rec, changeOf(rec, now), dedup.UpdateOutcome{Kind: kind}, p, now).Next
}

func changeOf(rec dedup.Record, now time.Time) dedup.Change {
	ch := dedup.Change{Holder: theHolder, Episode: rec.Episode, Ticket: rec.Ticket, Fingerprint: dedup.Fingerprint{Severity: "B"}, At: now}
	if rec.Update != nil {
		ch.Fingerprint = rec.Update.Fingerprint
	}
	return ch
}

// bareRows are the states where asking would help, but nobody can be asked.
func bareRows(p *dedup.Policy) []stateRow {
	var rows []stateRow
	for _, r := range rowsOf(p) {
		switch r.name {
		case "claimed, lease over", "doubtful", "doubtful, settled", "closed, attempts", "closed?, may land", "closed?":
			rows = append(rows, r)
		}
	}
	return rows
}
