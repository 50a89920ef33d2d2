package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// A teller prints the story. On a terminal it shows progress on a line that
// is overwritten; elsewhere it leaves it out.
type teller struct {
	w        io.Writer
	terminal bool
	pending  int // columns of the progress line that is shown now
}

func newTeller(w io.Writer) *teller {
	t := &teller{w: w}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		t.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return t
}

func (t *teller) chapter(title string) { fmt.Fprintf(t.w, "\n%s\n", title) }

func (t *teller) say(format string, args ...any) {
	t.done()
	fmt.Fprintf(t.w, "  "+format+"\n", args...)
}

func (t *teller) progress(format string, args ...any) {
	if !t.terminal {
		return
	}
	line := "  " + fmt.Sprintf(format, args...)
	fmt.Fprintf(t.w, "\r%-*s", t.pending, line)
	t.pending = max(t.pending, len(line))
}

// done takes the progress line away.
func (t *teller) done() {
	if t.pending > 0 {
		fmt.Fprintf(t.w, "\r%s\r", strings.Repeat(" ", t.pending))
		t.pending = 0
	}
}

// A row is one chapter in the table.
type row struct {
	name                               string
	faults, requests, tickets, updates int
	suppressed                         int
	observed                           bool // suppressed says what would have been
}

func (t *teller) table(rows []row) {
	const widths = "  %-28s %8v %9v %8v %8v %11v\n"
	fmt.Fprintln(t.w)
	fmt.Fprintf(t.w, widths, "", "faults", "requests", "tickets", "updates", "suppressed")
	trial := false
	for _, r := range rows {
		suppressed := fmt.Sprint(r.suppressed)
		if r.observed {
			suppressed, trial = "("+suppressed+")", true
		}
		fmt.Fprintf(t.w, widths, r.name, r.faults, r.requests, r.tickets, r.updates, suppressed)
	}
	if trial {
		fmt.Fprintln(t.w, "  ( ) counted only: what the rule would have suppressed, had it been enforced")
	}
	fmt.Fprintln(t.w)
}
