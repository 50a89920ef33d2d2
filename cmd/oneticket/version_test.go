package main

import (
	"regexp"
	"testing"
)

// TestVersionIsSaidInOneWay, with what is known of the revision and no more.
func TestVersionIsSaidInOneWay(t *testing.T) {
	command, flag := execute(t, "version"), execute(t, "--version")
	if command != flag || command.status != 0 || command.errors != "" {
		t.Errorf("%+v, %+v", command, flag)
	}
	if !regexp.MustCompile(`^oneticket \S+ \(([0-9a-f]{12}, )?go1\.\S+( X:\S+)?\)\n$`).MatchString(command.out) {
		t.Errorf("%q", command.out)
	}
}
