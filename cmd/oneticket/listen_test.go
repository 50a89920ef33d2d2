package main

import (
	"fmt"
	"net"
	"testing"

	"oneticket/config"
)

// TestRunSaysWhichListenIsTaken before it starts Envoy, and of every backend.
func TestRunSaysWhichListenIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	inFolder(t, map[string]string{"oneticket.hcl": fmt.Sprintf(`admin = "127.0.0.1:0"
backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = %q
}
backend "jira" {
  url    = "https://acme.atlassian.net"
  listen = "192.0.2.1:8081"
}
`, l.Addr())})
	got := execute(t, "run", "--envoy", "/nowhere/envoy")
	if got.status != 1 {
		t.Errorf("status %d", got.status)
	}
	contains(t, got.errors,
		fmt.Sprintf("backend \"servicenow\": listen %s is taken by another program: set another address (oneticket.hcl:4)\n", l.Addr()),
		"backend \"jira\": listen 192.0.2.1:8081 is no address of this machine: set one that is, such as 127.0.0.1:8081 (oneticket.hcl:8)\n")
}

func TestRunWithAnEnvoyThatIsNotThere(t *testing.T) {
	inFolder(t, map[string]string{"oneticket.hcl": "admin = \"127.0.0.1:0\"\nbackend \"jira\" {\n  url = \"https://acme.atlassian.net\"\n}\n"})
	got := execute(t, "run", "--envoy", "/nowhere/envoy")
	if got.status != 1 {
		t.Errorf("status %d", got.status)
	}
	contains(t, got.errors, "oneticket: --envoy: stat /nowhere/envoy: no such file or directory; name an Envoy ", "make tools")
}

func TestAStateDirThatCannotBeWrittenIsExplained(t *testing.T) {
	inFolder(t, map[string]string{"oneticket.hcl": "state_dir = \"state\"\nadmin = \"127.0.0.1:0\"\n" + goodConfig, "state/lock/x": ""})
	got := execute(t, "run")
	if got.status != 1 {
		t.Errorf("status %d", got.status)
	}
	contains(t, got.errors, "set state_dir to a folder that this user may write")
}

func TestActionsOfABackend(t *testing.T) {
	inFolder(t, map[string]string{"oneticket.hcl": goodConfig + `
rule "more" {
  backend = "servicenow"
  match   = { path = "/more" }
}

backend "jira" {
  url = "https://acme.atlassian.net"
}
`})
	cfg, diags := config.Load("oneticket.hcl")
	if cfg == nil {
		t.Fatal(diags)
	}
	for backend, want := range map[string]string{"servicenow": "rule faults: observe, rule more: enforce", "jira": "retries only"} {
		if got := actions(cfg, backend); got != want {
			t.Errorf("%s: %q, want %q", backend, got, want)
		}
	}
}
