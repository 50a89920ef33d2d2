package main

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The envelope: what a decision and a round trip to the store may take, of
// ninety-nine in a hundred.
const (
	decisionMost = 3 * time.Millisecond
	storeMost    = 2 * time.Millisecond
)

// An envelope is what oneticket says of itself, while it is not crowded.
type envelope struct {
	name            string
	decision, store histogram
}

func (s *stage) envelopes(ctx context.Context, p plan) (all []envelope, err error) {
	for _, c := range s.contestants {
		if c.admin == "" {
			continue
		}
		s.say("%s at %d re-fires a second", c.name, p.rate)
		before, err := scrape(ctx, c.admin)
		if err != nil {
			return nil, err
		}
		sender := newSender(1)
		if err := sender.pace(ctx, c, p); err != nil {
			return nil, err
		}
		after, err := scrape(ctx, c.admin)
		if err != nil {
			return nil, err
		}
		all = append(all, envelope{
			name:     c.name,
			decision: after["oneticket_decision_duration_seconds"].minus(before["oneticket_decision_duration_seconds"]),
			store:    after["oneticket_store_duration_seconds"].minus(before["oneticket_store_duration_seconds"]),
		})
	}
	return all, nil
}

// A histogram is cumulative counts by upper bound.
type histogram map[float64]uint64

func (h histogram) minus(before histogram) histogram {
	out := histogram{}
	for bound, n := range h {
		out[bound] = n - before[bound]
	}
	return out
}

// quantile is interpolated in its bucket, as PromQL does it.
func (h histogram) quantile(q float64) time.Duration {
	var bounds []float64
	for bound := range h {
		bounds = append(bounds, bound)
	}
	slices.Sort(bounds)
	if len(bounds) == 0 || h[bounds[len(bounds)-1]] == 0 {
		return 0
	}
	rank := q * float64(h[bounds[len(bounds)-1]])
	low, below := 0.0, 0.0
	for _, bound := range bounds {
		n := float64(h[bound])
		if n >= rank {
			part := (rank - below) / (n - below)
			return time.Duration((low + part*(bound-low)) * float64(time.Second))
		}
		low, below = bound, n
	}
	return 0
}

// scrape reads the histograms that the envelope is about; of the store's calls,
// the claims.
func scrape(ctx context.Context, admin string) (map[string]histogram, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+admin+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	return histograms(string(text)), nil
}

var bucket = regexp.MustCompile(`(?m)^(oneticket_(?:decision|store)_duration_seconds)_bucket\{(.*)le="([^"]+)"\} (\S+)$`)

func histograms(text string) map[string]histogram {
	all := map[string]histogram{}
	for _, m := range bucket.FindAllStringSubmatch(text, -1) {
		name, labels := m[1], m[2]
		bound, err := strconv.ParseFloat(m[3], 64)
		n, errN := strconv.ParseFloat(m[4], 64)
		if err != nil || errN != nil || strings.Contains(labels, `op="`) && !strings.Contains(labels, `op="claim"`) {
			continue
		}
		if all[name] == nil {
			all[name] = histogram{}
		}
		all[name][bound] += uint64(n)
	}
	return all
}
