package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRoundsOfAFaultDifferInAllButTheFault(t *testing.T) {
	f := faults("test", 1)[0]
	var first, second map[string]string
	for round, into := range []*map[string]string{&first, &second} {
		if err := json.Unmarshal(body(f, round, usual), into); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"cmdb_ci", "short_description", "description", "u_event_id"} {
		if first[name] == second[name] {
			t.Errorf("%s is %q in both rounds", name, first[name])
		}
	}
	if !strings.EqualFold(first["cmdb_ci"], second["cmdb_ci"]) || first["category"] != second["category"] {
		t.Errorf("another fault: %v, %v", first, second)
	}
}
