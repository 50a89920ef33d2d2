package extproc

import (
	"time"

	"oneticket/dedup"
)

// Metrics is told what happens. Its methods are called on the path of
// requests, by many at once: they take no lock and make no call.
type Metrics interface {
	// Decision was made on a request of the rule, in so long (waiting included).
	Decision(rule string, kind dedup.Kind, reason string, took time.Duration)
	// Outcome is how a create of the rule ended.
	Outcome(rule string, kind dedup.OutcomeKind)
	// Unkeyed: a request of the rule was sent on untouched; why is one of dedup's Why constants.
	Unkeyed(rule, why string)
	// Conflict: a request met another's claim or ticket; kind is race, refire or busy.
	Conflict(rule, kind string)
	// Waiting changes the number of requests that wait for another one.
	Waiting(change int)
}

// noMetrics counts nothing.
type noMetrics struct{}

func (noMetrics) Decision(string, dedup.Kind, string, time.Duration) {}
func (noMetrics) Outcome(string, dedup.OutcomeKind)                  {}
func (noMetrics) Unkeyed(string, string)                             {}
func (noMetrics) Conflict(string, string)                            {}
func (noMetrics) Waiting(int)                                        {}
