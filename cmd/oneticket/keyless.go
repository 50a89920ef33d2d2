package main

import (
	"errors"
	"fmt"
	"log/slog"

	"oneticket/cmd/oneticket/admin"
	"oneticket/config"
	"oneticket/dedup"
)

// shoutKeyless says loudly of a rule that it guards nothing: otherwise only a
// metric would know.
func shoutKeyless(m *admin.Metrics, log *slog.Logger) {
	m.OnKeyless(func(k admin.Keyless) {
		args := []any{"rule", k.Rule, "requests", k.Requests, "why", k.Why}
		if k.Field != "" {
			args = append(args, "field", k.Field)
		}
		log.Error("a rule has keyed none of its first requests: none of its creates is guarded", append(args, "do", k.Do())...)
	})
}

// keylessSentences are the same for /ready.
func keylessSentences(m *admin.Metrics) []string {
	var all []string
	for _, k := range m.Keyless() {
		why := k.Why
		if k.Field != "" {
			why += " " + k.Field
		}
		all = append(all, fmt.Sprintf("rule %s has keyed none of its first %d requests (%s): %s", k.Rule, k.Requests, why, k.Do()))
	}
	return all
}

// readingFault is the rule's Fault, which also notes which field was missing.
func readingFault(r *config.Rule, m *admin.Metrics) func(*dedup.Request) (dedup.Fault, error) {
	return func(req *dedup.Request) (dedup.Fault, error) {
		f, err := r.Fault(req)
		var unkeyed *dedup.Unkeyed
		if err != nil && errors.As(err, &unkeyed) && unkeyed.Field != "" {
			m.MissingField(r.Name, unkeyed.Field)
		}
		return f, err
	}
}
