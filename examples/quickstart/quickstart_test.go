// Package quickstart_test plays the story of the demo as `make demo` does,
// through a real Envoy, and reads the table that it prints.
package quickstart_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A line is what the table says of a chapter.
type line struct{ faults, requests, tickets, updates, suppressed int }

func TestOneTicketAFaultFromStormToResolve(t *testing.T) {
	table := parseTable(t, play(t))
	checkReadme(t, table)
	for chapter, check := range map[string]func(line) bool{
		"re-fires, without oneticket": func(l line) bool { return l.tickets == l.requests && l.suppressed == 0 },
		"re-fires":                    oneTicketEach,
		"race":                        oneTicketEach,
		"lost acknowledgement":        oneTicketEach,
		"severity change":             func(l line) bool { return oneTicketEach(l) && l.updates == l.faults },
		"resolve":                     func(l line) bool { return oneTicketEach(l.without(l.updates)) },
		"restart":                     oneTicketEach,
		"observe":                     func(l line) bool { return l.tickets == l.requests && l.suppressed == l.requests-l.faults },
	} {
		l, ok := table[chapter]
		if !ok || l.faults == 0 || l.requests <= l.faults || !check(l) {
			t.Errorf("%s: %+v (in the table: %v)", chapter, l, ok)
		}
	}
}

func oneTicketEach(l line) bool {
	return l.tickets == l.faults && l.suppressed == l.requests-l.faults-l.updates
}

// without takes updates that the automation has sent itself out of the line.
func (l line) without(updates int) line {
	l.updates -= updates
	return l
}

// build builds oneticket from this tree.
func build(t *testing.T) string {
	t.Helper()
	oneticket := filepath.Join(t.TempDir(), "oneticket")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", oneticket, "./cmd/oneticket")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build oneticket: %v\n%s", err, out)
	}
	return oneticket
}

// play runs the demo's script with an oneticket built from this tree.
func play(t *testing.T) string {
	t.Helper()
	oneticket := build(t)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	demo := exec.CommandContext(ctx, "./run.sh")
	demo.Env = append(os.Environ(), "ONETICKET="+oneticket)
	// Asked to end, the story ends what it has started.
	demo.Cancel = func() error { return demo.Process.Signal(syscall.SIGTERM) }
	demo.WaitDelay = 30 * time.Second
	out, err := demo.CombinedOutput()
	if err != nil {
		t.Fatalf("the demo: %v\n%s", err, out)
	}
	return string(out)
}

var lineForm = regexp.MustCompile(`^  (\S.*?) +(\d+) +(\d+) +(\d+) +(\d+) +\(?(\d+)\)?$`)

func parseTable(t *testing.T, out string) map[string]line {
	t.Helper()
	table := map[string]line{}
	for text := range strings.Lines(out) {
		m := lineForm.FindStringSubmatch(strings.TrimSuffix(text, "\n"))
		if m == nil {
			continue
		}
		var n [5]int
		for i := range n {
			n[i], _ = strconv.Atoi(m[i+2]) // digits, by the pattern
		}
		table[m[1]] = line{n[0], n[1], n[2], n[3], n[4]}
	}
	if len(table) == 0 {
		t.Fatalf("no table in the output:\n%s", out)
	}
	return table
}
