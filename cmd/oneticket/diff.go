package main

import (
	"fmt"
	"strings"
)

// difference is a unified diff of two texts whose lines correspond one to one:
// formatting moves blanks, never lines. It is for people, and for patch.
func difference(name string, old, formatted []byte) string {
	a, b := strings.SplitAfter(string(old), "\n"), strings.SplitAfter(string(formatted), "\n")
	if len(a) != len(b) {
		return fmt.Sprintf("--- %s\n+++ %s\n%s%s", name, name, marked("-", a), marked("+", b))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", name, name)
	for from := 0; from < len(a); {
		first := from
		for first < len(a) && a[first] == b[first] {
			first++
		}
		if first == len(a) {
			break
		}
		to := endOfHunk(a, b, first)
		start := max(from, first-diffContext)
		writeHunk(&out, a, b, start, to)
		from = to
	}
	return out.String()
}

// diffContext is how many lines around a change are shown.
const diffContext = 3

// endOfHunk is after the last line of the hunk that begins with the change at
// first: two changes that are near each other are in one.
func endOfHunk(a, b []string, first int) int {
	last := first
	for i := first; i < len(a) && i <= last+2*diffContext; i++ {
		if a[i] != b[i] {
			last = i
		}
	}
	return min(len(a), last+diffContext+1)
}

func writeHunk(out *strings.Builder, a, b []string, start, to int) {
	count := to - start
	if to == len(a) && a[to-1] == "" {
		count-- // behind the last line there is none
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", start+1, count, start+1, count)
	for i := start; i < to; {
		if a[i] == b[i] {
			out.WriteString(marked(" ", a[i:i+1]))
			i++
			continue
		}
		end := i
		for end < to && a[end] != b[end] {
			end++
		}
		out.WriteString(marked("-", a[i:end]))
		out.WriteString(marked("+", b[i:end]))
		i = end
	}
}

func marked(sign string, lines []string) string {
	var out strings.Builder
	for _, line := range lines {
		if line == "" {
			continue
		}
		out.WriteString(sign + line)
		if !strings.HasSuffix(line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
	return out.String()
}
