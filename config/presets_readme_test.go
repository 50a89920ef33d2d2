package config_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"oneticket/config"
)

// TestTheReadmeHasEverySystem: each preset is in one of its tables, and an
// unproven one is said to be that.
func TestTheReadmeHasEverySystem(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, systems, _ := strings.Cut(string(text), "\n## Systems\n")
	systems, _, _ = strings.Cut(systems, "\n## ")
	proven, unproven, found := strings.Cut(systems, "unproven.hcl")
	if !found {
		t.Fatal("README.md does not name the file of unproven presets")
	}
	for _, name := range config.Presets() {
		info, _ := config.FindPreset(name)
		row := regexp.MustCompile(`(?m)^\|[^|]*` + "`" + regexp.QuoteMeta(name) + "`" + `[^|]*\|`)
		table := proven
		if config.InUnproven(name) {
			table = unproven
		}
		cell := row.FindString(table)
		switch {
		case cell == "":
			t.Errorf("README.md has no row for %s in its table", name)
		case !config.InUnproven(name) && strings.Contains(cell, "(unproven)") != info.Unproven:
			t.Errorf("README.md does not say whether %s is unproven", name)
		}
	}
}
