package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A moment is an instant of a case, counted from its start, or none.
type moment struct {
	given bool
	after time.Duration
}

func parseMoment(s string) (moment, error) {
	if s == "" {
		return moment{}, nil
	}
	d, err := parseDuration(s)
	return moment{given: true, after: d}, err
}

var durationPart = regexp.MustCompile(`^(\d+(?:\.\d+)?)\s*(ms|days?|hours?|minutes?|seconds?|s|m|h|d)`)

var units = map[string]time.Duration{
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
}

// parseDuration reads "1200ms", "12d1m", "24 h" and "15 minutes".
func parseDuration(s string) (time.Duration, error) {
	rest, sum := strings.TrimSpace(s), time.Duration(0)
	if rest == "" {
		return 0, fmt.Errorf("no duration")
	}
	for rest != "" {
		m := durationPart.FindStringSubmatch(rest)
		if m == nil {
			return 0, fmt.Errorf("%q is no duration", s)
		}
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return 0, fmt.Errorf("%q is no duration", s)
		}
		unit := m[2]
		if unit != "ms" {
			unit = unit[:1]
		}
		sum += time.Duration(n * float64(units[unit]))
		rest = strings.TrimSpace(rest[len(m[0]):])
	}
	return sum, nil
}
