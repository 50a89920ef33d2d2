package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// A table has a name and columns in its first row.
type table [][]string

// print aligns the first column to the left and the others to the right.
func (t table) print(w io.Writer) {
	widths := make([]int, len(t[0]))
	for _, row := range t {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t {
		var line strings.Builder
		fmt.Fprintf(&line, "%-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			fmt.Fprintf(&line, "  %*s", widths[i+1], cell)
		}
		fmt.Fprintln(w, line.String())
	}
	fmt.Fprintln(w)
}

// printResults prints ratios first: the median time of a request as a multiple
// of what Envoy alone takes for it.
func printResults(w io.Writer, contestants []contestant, results [][]result) {
	ratios := table{{"median time of a request, Envoy alone = 1"}}
	times := table{{"p50 / p99 in ms, requests a second"}}
	for _, l := range loads {
		ratios[0], times[0] = append(ratios[0], l.name), append(times[0], l.name)
	}
	for i, c := range contestants {
		ratio, took := []string{c.name}, []string{c.name}
		for l, r := range results[i] {
			ratio = append(ratio, fmt.Sprintf("%.1f", float64(r.took.quantile(0.5))/float64(max(1, results[0][l].took.quantile(0.5)))))
			took = append(took, fmt.Sprintf("%s / %s, %.0f", millis(r.took.quantile(0.5)), millis(r.took.quantile(0.99)), float64(len(r.took))/r.turns.Seconds()))
		}
		ratios, times = append(ratios, ratio), append(times, took)
	}
	ratios.print(w)
	times.print(w)
}

func millis(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/float64(time.Millisecond)) }

// printEnvelopes prints what oneticket's own histograms say.
func printEnvelopes(w io.Writer, p plan, all []envelope) {
	t := table{{
		fmt.Sprintf("p50 / p99 in ms, at %d re-fires a second", p.rate),
		"decision (envelope " + millis(decisionMost) + ")", "store round trip (envelope " + millis(storeMost) + ")",
	}}
	for _, e := range all {
		t = append(t, []string{e.name, e.decision.against(decisionMost), e.store.against(storeMost)})
	}
	t.print(w)
}

// against says where the p99 stands to the envelope.
func (h histogram) against(most time.Duration) string {
	p99 := h.quantile(0.99)
	text := millis(h.quantile(0.5)) + " / " + millis(p99)
	if p99 > most {
		text += ", over"
	}
	return text
}
