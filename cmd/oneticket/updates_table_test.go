package main_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

// updateTable is a table for a person: what is the same for every
// on_update_failed, or for both severities, stands once.
func updateTable(rows map[failedUpdate]lived) string {
	var b strings.Builder
	b.WriteString("| the update | `on_update_failed` | severity | the client sees | the record | the next re-fire | tickets at last |\n")
	b.WriteString("| :-- | :-- | :-- | :-- | :-- | :-- | :-- |\n")
	for i := range updateKinds {
		for _, line := range updateLines(&updateKinds[i], rows) {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(line, " | "))
		}
	}
	return b.String()
}

func updateLines(kind *updateKind, rows map[failedUpdate]lived) (lines [][]string) {
	type outcome struct {
		lived
		severity string
	}
	which := map[outcome][]string{}
	var order []outcome
	for _, severity := range []string{"1", "3"} {
		for _, onFailed := range []string{"forward", "error", "suppress"} {
			o := outcome{rows[failedUpdate{kind, onFailed, severity}], severity}
			if which[o] == nil {
				order = append(order, o)
			}
			which[o] = append(which[o], "`"+onFailed+"`")
		}
	}
	for _, o := range order {
		on, severity := strings.Join(which[o], ", "), map[string]string{"1": "worse", "3": "better"}[o.severity]
		if len(which[o]) == 3 {
			on = "any"
		}
		lines = append(lines, []string{kind.name, on, severity, o.saw, o.record, o.then, o.tickets})
	}
	return lines
}

const (
	tableBegins = "<!-- the table begins -->\n"
	tableEnds   = "<!-- the table ends -->\n"
)

// holdPage compares the table in the page with this one; with -update it writes it.
func holdPage(t *testing.T, path, table string) {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), tableBegins)
	written, after, ended := strings.Cut(rest, tableEnds)
	if !ok || !ended {
		t.Fatalf("%s has no place for the table", path)
	}
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, []byte(before+tableBegins+table+tableEnds+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if written != table {
		t.Errorf("%s does not say what happens (go test ./cmd/oneticket -run %s -update writes it):\n%s", path, t.Name(), table)
	}
}
