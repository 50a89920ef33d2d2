package config_test

import (
	"slices"
	"testing"

	"oneticket/config"
)

// TestUnconnectedSettingsAreSettings: a name that is written wrong would warn
// of nothing.
func TestUnconnectedSettingsAreSettings(t *testing.T) {
	var marked []string
	for _, s := range config.Settings() {
		if s.Lacks != "" {
			marked = append(marked, s.Block+"."+s.Name)
		}
	}
	table := config.Unconnected()
	slices.Sort(marked)
	slices.Sort(table)
	if !slices.Equal(marked, table) {
		t.Errorf("the table has %q, settings are marked %q", table, marked)
	}
}

func TestABackendKnowsWhereItsListenStands(t *testing.T) {
	c := parse(t, "backend \"jira\" {\n  url    = \"https://acme.atlassian.net\"\n  listen = \"127.0.0.1:8081\"\n}\nbackend \"zendesk\" {\n  url = \"https://acme.zendesk.com\"\n}\n")
	if got := []string{c.Backends[0].ListenAt, c.Backends[1].ListenAt}; !slices.Equal(got, []string{"oneticket.hcl:3", ""}) {
		t.Errorf("%q", got)
	}
}
