package main

import (
	"maps"
	"testing"
)

func TestDecisionsOfOneRuleAreAddedUpOverReasons(t *testing.T) {
	const text = `# HELP oneticket_decisions_total decisions
# TYPE oneticket_decisions_total counter
oneticket_decisions_total{decision="create",reason="first",rule="network_faults"} 20
oneticket_decisions_total{decision="suppress",reason="race",rule="network_faults"} 49
oneticket_decisions_total{rule="network_faults",reason="refire",decision="suppress"} 2e+02
oneticket_decisions_total{decision="suppress",reason="refire",rule="trial"} 7
oneticket_decisions_total{decision="suppress",reason="refire",rule="a\"b"} 1
oneticket_waiting 3
`
	got := parseDecisions(text, "network_faults")
	if want := (decisions{"create": 20, "suppress": 249}); !maps.Equal(got, want) {
		t.Errorf("decisions %v, want %v", got, want)
	}
	if sum := got.plus(decisions{"suppress": 1}); sum["suppress"] != 250 || got["suppress"] != 249 {
		t.Errorf("sum %v of %v", sum, got)
	}
}
