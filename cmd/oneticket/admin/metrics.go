package admin

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"oneticket/dedup"
)

// Metrics are the instruments of a running oneticket, by their Prometheus
// names. Every method is safe for concurrent use; on the path of a request
// none of them takes a lock, once an instrument is there.
type Metrics struct {
	registry *prometheus.Registry

	decisions     *family[prometheus.Counter]
	durations     *family[prometheus.Observer]
	outcomes      *family[prometheus.Counter]
	conflicts     *family[prometheus.Counter]
	unkeyed       *family[prometheus.Counter]
	updateFailed  *family[prometheus.Counter]
	expiredOpen   *family[prometheus.Counter]
	severity      *family[prometheus.Counter]
	duplicates    *family[prometheus.Counter]
	suspects      *family[prometheus.Counter]
	merges        *family[prometheus.Counter]
	waiting       prometheus.Gauge
	storeUp       *family[prometheus.Gauge]
	storeDuration *family[prometheus.Observer]
	storeFlushes  *family[prometheus.Counter]
	bypassed      *family[prometheus.Counter]
	reloads       *family[prometheus.Counter]
	lookups       *family[prometheus.Counter]
	verifies      *family[prometheus.Counter]
	followed      *family[prometheus.Counter]
	lettersLost   *family[prometheus.Counter]
	lettersOver   *family[prometheus.Counter]
	reconciled    *family[prometheus.Counter]
	flushed       atomic.Bool
	refireGap     *family[prometheus.Observer]
	openTickets   *prometheus.GaugeVec
	closes        *family[prometheus.Counter]
	fields        *family[prometheus.Counter]

	census  census
	keyless keyless
	stores  stores
}

// NewMetrics registers the instruments.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		decisions: counters("oneticket_decisions_total",
			"Requests of a rule, by what was decided and why.", "rule", "decision", "reason"),
		durations: histograms("oneticket_decision_duration_seconds",
			"From the whole request to the decision, waiting for another request included.", callBuckets, "rule"),
		outcomes: counters("oneticket_outcomes_total",
			"Creates that were let go, by how they ended.", "rule", "outcome"),
		conflicts: counters("oneticket_claim_conflicts_total",
			"Claims that met another one: a running create, an open ticket, or too long a wait.", "rule", "kind"),
		unkeyed: counters("oneticket_unkeyed_total",
			"Requests that were sent on untouched because no key could be read, by reason.", "rule", "why"),
		updateFailed: counters("oneticket_update_failures_total",
			"Changes of a fault that did not reach its ticket.", "rule"),
		expiredOpen: counters("oneticket_expired_open_total",
			"Creates of a fault whose open record had outlived its TTL: the TTL is shorter than the gap between re-fires.", "rule", "class"),
		severity: counters("oneticket_unknown_severity_total",
			"Severities that the rule's map lacks.", "rule"),
		duplicates: counters("oneticket_duplicates_total",
			"Tickets that may be open beside the record's own: known for sure, or possible.", "rule", "kind"),
		suspects: counters("oneticket_suspect_total",
			"Faults whose requests have had five different titles: their identity may be too broad.", "rule"),
		merges: counters("oneticket_merges_total",
			"Tickets beside the record's own, by what became of merging them.", "rule", "result"),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "oneticket_waiting", Help: "Requests that wait for the answer of another one.",
		}),
		storeUp: gauges("oneticket_store_up", "1 while the store answers.", "store"),
		storeFlushes: counters("oneticket_store_flushes_total",
			"Times that the store was found emptied.", "store"),
		bypassed: counters("oneticket_bypassed_total",
			"Creates that passed the proxy unguarded: a double is possible.", "backend"),
		reloads: counters("oneticket_config_reloads_total",
			"Reloads of the configuration: applied, or rejected and without effect.", "result"),
		lookups: counters("oneticket_lookups_total",
			"Look-ups of a token: open, closed, absent or unanswered.", "backend", "result"),
		verifies: counters("oneticket_verifies_total",
			"Reads of a ticket: open, closed, gone or unanswered.", "backend", "result"),
		followed: counters("oneticket_followed_total",
			"Creates without a ticket that were gone on with: healed (found again), sent again with an outcome, dropped (too many were held), or corrected by the access log.", "rule", "result"),
		reconciled: counters("oneticket_reconciled_total",
			"What was opened while the shared store was away, by what came of it when it was back.", "result"),
		lettersLost: counters("oneticket_dead_letters_failed_total",
			"Creates without a ticket that could not be kept as dead letters.", "rule"),
		lettersOver: counters("oneticket_dead_letters_dropped_total",
			"Dead letters that were given up because of a bound (max_count, max_bytes, max_age; repeats: newer ones of the same fault are kept).", "rule", "bound"),
		closes: counters("oneticket_closes_total",
			"Calls of POST /v1/close: closed, no_change, kept, ignored, rejected or failed.", "backend", "result"),
		fields: counters("oneticket_field_rejected_total",
			"Creates that were refused because of our token in the backend's own field, and were sent again without it.", "backend"),
		storeDuration: histograms("oneticket_store_duration_seconds", "Calls of the store.", callBuckets, "store", "op"),
		refireGap: histograms("oneticket_refire_gap_seconds",
			"From one request of a fault that has a ticket to the next, as this replica sees them.", gapBuckets, "rule", "class"),
		openTickets: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "oneticket_open_tickets", Help: "Open tickets of the backend that carry one of our keys, as it counts them itself.",
		}, []string{"backend"}),
	}
	for _, f := range []*family[prometheus.Counter]{m.decisions, m.outcomes, m.conflicts, m.unkeyed, m.updateFailed, m.expiredOpen,
		m.severity, m.duplicates, m.suspects, m.merges, m.storeFlushes, m.bypassed, m.reloads, m.lookups, m.verifies, m.followed, m.lettersLost, m.lettersOver, m.closes, m.fields, m.reconciled} {
		m.registry.MustRegister(f.vec)
	}
	m.registry.MustRegister(m.durations.vec, m.storeDuration.vec, m.refireGap.vec, m.storeUp.vec, m.waiting, m.openTickets, &m.census,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Buckets of what takes a tenth of a millisecond to 26 seconds, and of what
// lies a second to a day and a half apart.
var (
	callBuckets = prometheus.ExponentialBuckets(0.0001, 2, 19)
	gapBuckets  = prometheus.ExponentialBuckets(1, 2, 18)
)

// Registry is where other parts register instruments of their own.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// Decision counts what was decided for one request of the rule, and in how
// long, waiting for another request included.
func (m *Metrics) Decision(rule string, kind dedup.Kind, reason string, took time.Duration) {
	m.decisions.of(rule, string(kind), reason).Inc()
	m.durations.of(rule).Observe(took.Seconds())
	switch kind {
	case dedup.Create, dedup.Suppress, dedup.Update, dedup.Busy:
		m.keyless.hasKey(rule)
	}
}

// Outcome counts how a create ended.
func (m *Metrics) Outcome(rule string, kind dedup.OutcomeKind) {
	m.outcomes.of(rule, string(kind)).Inc()
}

// Conflict counts a claim that met another one; kind is race, refire or busy.
func (m *Metrics) Conflict(rule, kind string) { m.conflicts.of(rule, kind).Inc() }

// Unkeyed counts a request without a key; why is one of dedup's Why constants.
func (m *Metrics) Unkeyed(rule, why string) {
	m.unkeyed.of(rule, why).Inc()
	m.keyless.hasNone(rule, why)
}

// UpdateFailed counts a change that did not reach its ticket.
func (m *Metrics) UpdateFailed(rule string) { m.updateFailed.of(rule).Inc() }

// ExpiredOpen counts a create over a record that was open but too old.
func (m *Metrics) ExpiredOpen(rule, class string) { m.expiredOpen.of(rule, class).Inc() }

// Refired observes the gap between two requests of a fault that has a ticket.
func (m *Metrics) Refired(rule, class string, gap time.Duration) {
	m.refireGap.of(rule, class).Observe(gap.Seconds())
}

// UnknownSeverity counts a severity that the rule's map lacks.
func (m *Metrics) UnknownSeverity(rule string) { m.severity.of(rule).Inc() }

// Duplicate counts a ticket that is (or, if it is only possible, may be) open
// beside the record's own.
func (m *Metrics) Duplicate(rule string, possible bool) {
	kind := "known"
	if possible {
		kind = "possible"
	}
	m.duplicates.of(rule, kind).Inc()
}

// Suspect counts a fault whose identity may be too broad.
func (m *Metrics) Suspect(rule string) { m.suspects.of(rule).Inc() }

// Merged counts a ticket beside the record's own by what became of merging it.
func (m *Metrics) Merged(rule string, result dedup.MergeResult) {
	m.merges.of(rule, string(result)).Inc()
}

// Waiting moves the number of waiting requests.
func (m *Metrics) Waiting(by int) { m.waiting.Add(float64(by)) }

// StoreCall observes one call of the store and whether it answered.
func (m *Metrics) StoreCall(store, op string, d time.Duration, up bool) {
	m.storeDuration.of(store, op).Observe(d.Seconds())
	up = up && !m.stores.troubled(store)
	value := 0.0
	if up {
		value = 1
	}
	m.storeUp.of(store).Set(value)
	m.stores.called(store, up)
}

// StoreFlushed counts a store that was found emptied.
func (m *Metrics) StoreFlushed(store string) {
	m.flushed.Store(true)
	m.storeFlushes.of(store).Inc()
}

// Bypassed counts a create that passed unguarded.
func (m *Metrics) Bypassed(backend string) { m.bypassed.of(backend).Inc() }

// Closed counts a call of the webhook. Of a backend that is not configured it
// has no name: what callers send does not become a label.
func (m *Metrics) Closed(backend, result string) { m.closes.of(backend, result).Inc() }

// FieldRejected counts a create that was refused because of our token in the
// backend's own field.
func (m *Metrics) FieldRejected(backend string) { m.fields.of(backend).Inc() }

// Reloaded counts a reload of the configuration.
func (m *Metrics) Reloaded(applied bool) {
	result := "rejected"
	if applied {
		result = "applied"
	}
	m.reloads.of(result).Inc()
}

// Provisional shows the number of creates that were decided without the shared
// store, and are not reconciled with it yet.
func (m *Metrics) Provisional(count func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "oneticket_provisional_creates", Help: "Creates that were decided while the shared store was away, and are not reconciled yet.",
	}, count))
}

// Reconciled counts what came of one of them.
func (m *Metrics) Reconciled(result string) { m.reconciled.of(result).Inc() }

// Flushed reports whether the store was ever found emptied.
func (m *Metrics) Flushed() bool { return m.flushed.Load() }

// DeadLetters shows the number of creates that are kept without a ticket.
func (m *Metrics) DeadLetters(count func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "oneticket_dead_letters", Help: "Creates that are kept because they have not become a ticket.",
	}, count))
}

// LookedUp counts a look-up of a token by its result.
func (m *Metrics) LookedUp(backend, result string) { m.lookups.of(backend, result).Inc() }

// Verified counts a read of a ticket by its result.
func (m *Metrics) Verified(backend, result string) { m.verifies.of(backend, result).Inc() }

// Healed counts a create whose ticket was found again.
func (m *Metrics) Healed(rule string) { m.followed.of(rule, "healed").Inc() }

// Resent counts a create that was sent again by ourselves.
func (m *Metrics) Resent(rule string, outcome dedup.OutcomeKind) {
	m.followed.of(rule, "resent_"+string(outcome)).Inc()
}

// NotFollowed counts a create without a ticket that was not gone on with,
// because too many are held already.
func (m *Metrics) NotFollowed(rule string) { m.followed.of(rule, "dropped").Inc() }

// Corrected counts an outcome that the access log has made known after all.
func (m *Metrics) Corrected(rule string, _ dedup.OutcomeKind) {
	m.followed.of(rule, "corrected").Inc()
}

// DeadLetterDropped counts a dead letter that was given up because of a bound.
func (m *Metrics) DeadLetterDropped(rule, bound string) {
	m.lettersOver.of(rule, bound).Inc()
}

// DeadLetter counts a create without a ticket that could not be kept.
func (m *Metrics) DeadLetter(rule string, kept bool) {
	if !kept {
		m.lettersLost.of(rule).Inc()
	}
}
