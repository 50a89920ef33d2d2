package admin

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A Census is what a look through the store has found, at one time or another
// while it lasted.
type Census struct {
	Live     map[string]int64   // by rule: keys with a ticket that is open for all we know
	Updates  map[string]Updates // by rule
	Doubtful int64              // creates without a known outcome
	Oldest   time.Duration      // since the oldest of these was sent
}

// updateBounds are the upper bounds of the buckets of updates of one ticket.
var updateBounds = [...]int64{0, 1, 2, 4, 8, 16, 32, 64}

// Updates are how often the tickets of a rule were updated.
type Updates struct {
	tickets int64
	sum     int64
	upTo    [len(updateBounds)]int64 // how many have as many updates or fewer
}

// Add counts a ticket that has had n updates.
func (u *Updates) Add(n int64) {
	u.tickets++
	u.sum += n
	for i, bound := range updateBounds {
		if n <= bound {
			u.upTo[i]++
		}
	}
}

func (u *Updates) buckets() map[float64]uint64 {
	all := make(map[float64]uint64, len(updateBounds))
	for i, bound := range updateBounds {
		all[float64(bound)] = uint64(u.upTo[i])
	}
	return all
}

// Counted shows a census in place of the one before; nil shows none.
func (m *Metrics) Counted(c *Census) { m.census.last.Store(c) }

// OpenTickets shows how many tickets the backend says are open.
func (m *Metrics) OpenTickets(backend string, n int64) {
	m.openTickets.WithLabelValues(backend).Set(float64(n))
}

// NoOpenTickets shows nothing of the backend any more: it does not say.
func (m *Metrics) NoOpenTickets(backend string) { m.openTickets.DeleteLabelValues(backend) }

// census collects what the last one has found; nothing before the first, and
// nothing while the store cannot be looked through: an old number would lie.
type census struct{ last atomic.Pointer[Census] }

var (
	liveKeysDesc = prometheus.NewDesc("oneticket_live_keys",
		"Keys with a ticket that is open for all we know, in the whole store, as they were counted last.", []string{"rule"}, nil)
	updatesDesc = prometheus.NewDesc("oneticket_updates_per_ticket",
		"Updates that each ticket has had, of the tickets that are in the store now.", []string{"rule"}, nil)
	doubtfulDesc = prometheus.NewDesc("oneticket_doubtful",
		"Creates in the store that were sent and have no known outcome.", nil, nil)
	oldestDesc = prometheus.NewDesc("oneticket_doubtful_oldest_seconds",
		"How long ago the oldest of these was sent; 0 when there is none.", nil, nil)
)

// Describe is prometheus.Collector's.
func (c *census) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{liveKeysDesc, updatesDesc, doubtfulDesc, oldestDesc} {
		to <- d
	}
}

// Collect is prometheus.Collector's.
func (c *census) Collect(to chan<- prometheus.Metric) {
	last := c.last.Load()
	if last == nil {
		return
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for rule, n := range last.Live {
		gauge(liveKeysDesc, float64(n), rule)
	}
	for rule, u := range last.Updates {
		to <- prometheus.MustNewConstHistogram(updatesDesc, uint64(u.tickets), float64(u.sum), u.buckets(), rule)
	}
	gauge(doubtfulDesc, float64(last.Doubtful))
	gauge(oldestDesc, last.Oldest.Seconds())
}
