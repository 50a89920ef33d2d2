package main

import (
	"maps"
	"regexp"
	"strconv"
	"strings"
)

// decisions is how often each decision was made.
type decisions map[string]int

// plus gives the sum of both.
func (d decisions) plus(more decisions) decisions {
	sum := maps.Clone(d)
	for decision, n := range more {
		sum[decision] += n
	}
	return sum
}

var label = regexp.MustCompile(`(\w+)="((?:[^"\\]|\\.)*)"`)

// parseDecisions reads oneticket_decisions_total of one rule out of the
// Prometheus text format, and adds up the reasons.
func parseDecisions(text, rule string) decisions {
	d := decisions{}
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "oneticket_decisions_total{")
		if !ok {
			continue
		}
		labels, value, _ := strings.Cut(rest, "} ")
		got := map[string]string{}
		for _, m := range label.FindAllStringSubmatch(labels, -1) {
			got[m[1]] = m[2]
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err == nil && got["rule"] == rule {
			d[got["decision"]] += int(n)
		}
	}
	return d
}
