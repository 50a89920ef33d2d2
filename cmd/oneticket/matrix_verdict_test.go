package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/deadletter"
)

// records are those of a rule, or all.
func (m *matrix) records(rule string) map[dedup.Key]dedup.Record {
	found := map[dedup.Key]dedup.Record{}
	err := m.store.List(m.t.Context(), rule, func(ref dedup.Ref, rec dedup.Record) bool {
		found[ref.Key] = rec
		return true
	})
	if err != nil {
		m.t.Error(err)
	}
	return found
}

// letters are how many dead letters there are of each key.
func (m *matrix) letters() map[dedup.Key]int {
	binary, err := built()
	if err != nil {
		m.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(m.t.Context(), 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, binary, "deadletter", "list", "--json", "-c", m.sidecar.config).Output()
	if err != nil {
		m.t.Fatalf("deadletter list: %v", err)
	}
	count := map[dedup.Key]int{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var l deadletter.Letter
		if err := dec.Decode(&l); err != nil {
			m.t.Fatal(err)
		}
		count[l.Ref.Key]++
	}
	return count
}

// judge compares each row with what there is of it, and prints what came of all.
func (m *matrix) judge(rows []*row, when string) {
	records, letters := m.records(""), m.letters()
	m.sums = map[string]*sum{}
	for _, k := range m.kinds {
		m.sums[k.name] = &sum{}
	}
	for _, r := range rows {
		e := end{tickets: r.desk.of(r.String()), record: records[r.key()], letters: letters[r.key()]}
		wrong := r.verdict(e)
		m.sums[r.kind.name].add(r, e, wrong)
		if len(wrong) > 0 {
			m.t.Errorf("%s: %v: %s (saw %s; %d creates, %d tickets, %d dead letters, record %s)",
				when, r, strings.Join(wrong, "; "), r.statuses(), r.creates.Load(), len(e.tickets), e.letters, e.record.State)
		}
	}
	m.t.Logf("%s:\n%s", when, m.table())
}

// table is what came of the rows.
func (m *matrix) table() string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "backend\trows\tone ticket\tdead letter only\tpossible doubles\tdoubled\tlost\ttold of a ticket at once\twrong")
	for _, k := range m.kinds {
		s := m.sums[k.name]
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", k.name, s.rows, s.one, s.letter, s.possible, s.doubled, s.lost, s.told, s.wrong)
	}
	table.Flush()
	return text.String()
}

// seen is what those saw first who waited.
func (m *matrix) seen() string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, k := range m.kinds {
		fmt.Fprint(table, "\t", k.name)
	}
	for _, f := range m.failures {
		fmt.Fprint(table, "\n", f.name)
		for _, k := range m.kinds {
			fmt.Fprint(table, "\t", m.firstSeen(f, k))
		}
	}
	table.Flush()
	return text.String()
}

// firstSeen are the first statuses of the clients that waited; a star is one
// that came with a ticket.
func (m *matrix) firstSeen(f *failure, k *deskKind) string {
	var all []string
	for _, r := range m.rows[f] {
		if r.kind != k || r.leaves {
			continue
		}
		one := fmt.Sprint(r.saw[0].status)
		if r.saw[0].ticket() != "" {
			one += "*"
		}
		all = append(all, one)
	}
	return strings.Join(slices.Compact(all), " ")
}

// A sum is what came of the rows of one kind.
type sum struct{ rows, one, letter, possible, doubled, lost, told, wrong int }

func (s *sum) add(r *row, e end, wrong []string) {
	s.rows++
	switch n := len(e.tickets); {
	case n == 1:
		s.one++
	case n > 1 && r.doubles():
		s.possible++
	case n > 1:
		s.doubled++
	case e.letters > 0:
		s.letter++
	default:
		s.lost++
	}
	if len(r.saw) > 0 && r.saw[0].ticket() != "" {
		s.told++
	}
	if len(wrong) > 0 {
		s.wrong++
	}
}
