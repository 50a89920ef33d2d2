package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A series names the part of a metric that has all the labels.
type series struct {
	metric string
	labels []string // as the text format has them: name="value"
}

// counters maps what a case calls a counter to the metrics of that meaning.
var counters = map[string][]series{
	"unkeyable":   {{"oneticket_unkeyed_total", nil}},
	"unkeyed":     {{"oneticket_unkeyed_total", nil}},
	"oversize":    {{"oneticket_unkeyed_total", []string{`why="too_large"`}}},
	"body_mode":   {{"oneticket_unkeyed_total", []string{`why="body_mode"`}}},
	"failed_open": {{"oneticket_decisions_total", []string{`reason="store_down"`}}, {"oneticket_unkeyed_total", []string{`why="store_down"`}}, {"oneticket_bypassed_total", nil}},
	"bypassed":    {{"oneticket_bypassed_total", nil}},
	"suspect":     {{"oneticket_suspect_total", nil}},
	"suppressed":  {{"oneticket_decisions_total", []string{`decision="suppress"`}}},
	"created":     {{"oneticket_decisions_total", []string{`decision="create"`}}},
	"updated":     {{"oneticket_decisions_total", []string{`decision="update"`}}},
	"busy":        {{"oneticket_decisions_total", []string{`reason="busy"`}}},
	"expired":     {{"oneticket_expired_open_total", nil}},
	"lookups":     {{"oneticket_lookups_total", nil}},
	"verifies":    {{"oneticket_verifies_total", nil}},
	"blind":       {{"oneticket_decisions_total", []string{`reason="retried_blind"`}}},
	"clears":      {{"oneticket_decisions_total", []string{`reason="unmatched_clear"`}}},
}

// readCounter reads /metrics and adds up the series that the name stands for.
func readCounter(admin, name string) (int, error) {
	parts, ok := counters[name]
	if !ok {
		return 0, fmt.Errorf("no metric is known as %q (known: %s)", name, strings.Join(slices.Sorted(maps.Keys(counters)), ", "))
	}
	text, err := fetch("http://" + admin + "/metrics")
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, s := range parts {
		sum += s.sum(text)
	}
	return int(sum), nil
}

func (s series) sum(text string) float64 {
	sum := 0.0
	for l := range strings.Lines(text) {
		name, value, ok := cutLast(strings.TrimSpace(l), " ")
		metric, labels, _ := strings.Cut(name, "{")
		if !ok || metric != s.metric || !s.has(labels) {
			continue
		}
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			sum += n
		}
	}
	return sum
}

func (s series) has(labels string) bool {
	for _, l := range s.labels {
		if !strings.Contains(labels, l) {
			return false
		}
	}
	return true
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// fetch gets a page of the admin address, whatever its status.
func fetch(url string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return string(text), err
}
