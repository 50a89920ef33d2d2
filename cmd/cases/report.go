package main

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
)

//go:embed exceptions.txt
var exceptionsText string

// A result is what came of one case.
type result struct {
	ID, Title string
	Findings  []finding
	Notes     []string // what was not checked
	Log       string   // of the processes
}

func (r result) passed() bool { return len(r.Findings) == 0 }

// parseExceptions reads the cases that are known to fail: an id and a reason
// on each line.
func parseExceptions(text string) (map[string]string, error) {
	out := map[string]string{}
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		id := strings.Fields(l)[0]
		reason := strings.TrimSpace(l[len(id):])
		if reason == "" {
			return nil, fmt.Errorf("exceptions: %s has no reason", id)
		}
		if out[id] != "" {
			return nil, fmt.Errorf("exceptions: %s stands twice", id)
		}
		out[id] = reason
	}
	return out, nil
}

// verdict is the line for one case, and whether it is as the list of
// exceptions says.
func (r result) verdict(exceptions map[string]string) (line string, good bool) {
	reason, excepted := exceptions[r.ID]
	switch {
	case r.passed() && excepted:
		return fmt.Sprintf("FAIL %s: wanted it to fail (on the list of exceptions: %s), saw it pass", r.ID, reason), false
	case r.passed():
		return "ok " + r.ID, true
	}
	f := r.Findings[0]
	line = fmt.Sprintf("FAIL %s: wanted %s, saw %s (%s)", r.ID, f.wanted, oneLine(f.saw), f.where)
	if excepted {
		return line + " [exception: " + reason + "]", true
	}
	return line, false
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// details prints all that is known of a case.
func (r result) details(w io.Writer) {
	for _, f := range r.Findings {
		fmt.Fprintf(w, "    %s\n", f)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "    (%s)\n", n)
	}
	if !r.passed() && r.Log != "" {
		for l := range strings.Lines(r.Log) {
			fmt.Fprintf(w, "    | %s\n", strings.TrimRight(l, "\n"))
		}
	}
}
