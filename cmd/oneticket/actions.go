package main

import (
	"fmt"
	"strings"

	"oneticket/config"
)

// actions says what the rules of a backend do.
func actions(cfg *config.Config, backend string) string {
	var rules []string
	for _, r := range cfg.Rules {
		switch {
		case r.Backend.Name != backend:
		case r.Generated:
			rules = append(rules, "retries only")
		default:
			rules = append(rules, fmt.Sprintf("rule %s: %s", r.Name, r.Action))
		}
	}
	return strings.Join(rules, ", ")
}
