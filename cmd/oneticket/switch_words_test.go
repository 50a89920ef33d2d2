package main

import (
	"os"
	"path/filepath"
	"testing"

	"oneticket/dedup/sqlitestore"
)

// switchConfig has addresses in the environment of the process, which a person
// with a shell does not have.
const switchConfig = `state_dir = "state"
admin     = env("ONETICKET_TEST_UNSET")

backend "servicenow" {
  url    = env("ONETICKET_TEST_UNSET")
  listen = "127.0.0.1:8081"
}

rule "network_faults" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci, kind = env("ONETICKET_TEST_UNSET") }
}
`

const secondRule = `
backend "jira" {
  url = env("ONETICKET_TEST_UNSET")
}
`

// withStore writes the configuration and the store that run would have made,
// and returns what a command says of its place.
func withStore(t *testing.T, config string) (place string) {
	t.Helper()
	inFolder(t, map[string]string{"conf/oneticket.hcl": config, "conf/state/.keep": ""})
	path, err := filepath.Abs("conf/state/oneticket.db")
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlitestore.Open(t.Context(), sqlitestore.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ONETICKET_CONFIG", "conf/oneticket.hcl")
	return "store sqlite " + path + "\n"
}

// TestOffAndOnSayWhatHolds: a step is a command and what it says.
func TestOffAndOnSayWhatHolds(t *testing.T) {
	place := withStore(t, switchConfig+secondRule)
	const obeys = "; every replica obeys within 5s\n"
	for _, s := range []struct {
		args         []string
		status       int
		out, said    string
		notEvenBegun bool
	}{
		{args: []string{"off", "network_faults"}, out: "off  network_faults\non   jira\n", said: "1 of 2 rules is off" + obeys},
		{args: []string{"on", "jira"}, out: "off  network_faults\non   jira\n", said: "1 of 2 rules is off" + obeys},
		{args: []string{"on", "network_faults"}, out: "on   network_faults\non   jira\n", said: "all 2 rules are on" + obeys},
		{args: []string{"off"}, out: "off  network_faults\noff  jira\n", said: "all 2 rules are off" + obeys},
		{args: []string{"on", "jira"}, status: 1, out: "off  network_faults\noff  jira\n", said: "all 2 rules are off" + obeys +
			"oneticket: rule \"jira\" stays off, because all rules were switched off at once: take that back with \"oneticket on\", then switch off by name those that are to stay off\n"},
		{args: []string{"on"}, out: "on   network_faults\non   jira\n", said: "all 2 rules are on" + obeys},
		{args: []string{"off", "network_fault"}, status: 1, notEvenBegun: true,
			said: "oneticket: no rule \"network_fault\": did you mean \"network_faults\"? there are network_faults, jira\n"},
		{args: []string{"off", ""}, status: 1, notEvenBegun: true, said: "oneticket: no rule \"\": there are network_faults, jira\n"},
	} {
		said := place + s.said
		if s.notEvenBegun {
			said = s.said
		}
		execute(t, s.args...).want(t, s.status, s.out, said)
	}
}

func TestOffWithOneRule(t *testing.T) {
	place := withStore(t, switchConfig)
	execute(t, "off").want(t, 0, "off  network_faults\n", place+"the rule is off; every replica obeys within 5s\n")
	execute(t, "on").want(t, 0, "on   network_faults\n", place+"the rule is on; every replica obeys within 5s\n")
	execute(t, "off", "x").want(t, 1, "", "oneticket: no rule \"x\": there is one: network_faults\n")
}

// TestOffMakesNoStore: it would be one that no process reads.
func TestOffMakesNoStore(t *testing.T) {
	inFolder(t, map[string]string{"oneticket.hcl": switchConfig, "state/.keep": ""})
	got := execute(t, "off")
	if got.status != 1 || got.out != "" {
		t.Errorf("status %d, %q", got.status, got.out)
	}
	contains(t, got.errors, "/state/oneticket.db is not there", "state_dir")
	if _, err := os.Stat("state/oneticket.db"); err == nil {
		t.Error("off made a store")
	}
}
