package admin

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// mostLabels is how many labels an instrument has at most.
const mostLabels = 3

// A family is the instruments of one name. Each is found without a lock, and
// without an allocation, once it is there; they are few, since labels are
// words of the configuration and of this program.
type family[T any] struct {
	vec interface {
		prometheus.Collector
		WithLabelValues(...string) T
	}
	known atomic.Pointer[map[[mostLabels]string]T]
	mu    sync.Mutex // of who adds one
}

// of is the instrument with the labels.
func (f *family[T]) of(labels ...string) T {
	var key [mostLabels]string
	copy(key[:], labels)
	if known := f.known.Load(); known != nil {
		if one, ok := (*known)[key]; ok {
			return one
		}
	}
	return f.add(key, len(labels))
}

func (f *family[T]) add(key [mostLabels]string, labels int) T {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := map[[mostLabels]string]T{}
	if known := f.known.Load(); known != nil {
		next = maps.Clone(*known)
	}
	one := f.vec.WithLabelValues(slices.Clone(key[:labels])...)
	next[key] = one
	f.known.Store(&next)
	return one
}

func counters(name, help string, labels ...string) *family[prometheus.Counter] {
	return &family[prometheus.Counter]{vec: prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)}
}

func gauges(name, help string, labels ...string) *family[prometheus.Gauge] {
	return &family[prometheus.Gauge]{vec: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)}
}

func histograms(name, help string, buckets []float64, labels ...string) *family[prometheus.Observer] {
	return &family[prometheus.Observer]{vec: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)}
}
