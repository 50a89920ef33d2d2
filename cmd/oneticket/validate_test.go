package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"oneticket/extproc/envoy/envoytest"
)

const goodConfig = `backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "127.0.0.1:8081"
}

rule "faults" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci, kind = body.category }
  action   = "observe"
}
`

const warnedConfig = `backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "127.0.0.1:8081"
}

rule "faults" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci }
}
`

const brokenConfig = `backend "servicenow" {
  url     = "acme.service-now.com"
  tiemout = "10s"
}
`

// onDisk puts the store of a configuration where it outlives a restart: tests
// may run in memory.
const onDisk = `store "sqlite" {
  path = "/oneticket.db"
}

`

func TestValidate(t *testing.T) {
	cases := []struct {
		name, text string
		status     int
	}{
		{"good", onDisk + goodConfig, 0},
		{"warned", onDisk + warnedConfig, 0},
		{"broken", brokenConfig, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			folder := packageFolder(t)
			inFolder(t, map[string]string{"oneticket.hcl": c.text})
			human := execute(t, "validate")
			if human.status != c.status {
				t.Errorf("status %d", human.status)
			}
			golden(t, folder, "validate-"+c.name+".txt", human.out+"--\n"+human.errors)
			machine := execute(t, "validate", "--json")
			if machine.status != c.status || machine.errors != "" {
				t.Errorf("status %d, stderr %q", machine.status, machine.errors)
			}
			golden(t, folder, "validate-"+c.name+".json", machine.out)
		})
	}
}

func TestValidateJSONCountsAndPointsRight(t *testing.T) {
	inFolder(t, map[string]string{"a/oneticket.hcl": brokenConfig})
	var result struct {
		FormatVersion string `json:"format_version"`
		Valid         bool
		ErrorCount    int `json:"error_count"`
		Diagnostics   []struct {
			Range   struct{ Filename string }
			Snippet struct {
				Code  string
				Start int `json:"highlight_start_offset"`
				End   int `json:"highlight_end_offset"`
			}
		}
	}
	if err := json.Unmarshal([]byte(execute(t, "validate", "--json", "-c", "a").out), &result); err != nil {
		t.Fatal(err)
	}
	if result.FormatVersion != "1.0" || result.Valid || result.ErrorCount != 2 || len(result.Diagnostics) != 2 {
		t.Fatalf("%+v", result)
	}
	s := result.Diagnostics[1].Snippet
	if result.Diagnostics[1].Range.Filename != "a/oneticket.hcl" || s.Code[s.Start:s.End] != "tiemout" {
		t.Errorf("%+v", result.Diagnostics[1])
	}
}

// TestAMissingConfigurationIsSaidOnce, with what to do, by every command that
// reads one.
func TestAMissingConfigurationIsSaidOnce(t *testing.T) {
	inFolder(t, map[string]string{"empty/notes.txt": ""})
	const missing = "error: there is no configuration oneticket.hcl\n" +
		"  Write one with \"oneticket init\", or name another file or folder with -c or in ONETICKET_CONFIG.\n\n"
	execute(t, "validate").want(t, 1, "", missing)
	execute(t, "run").want(t, 1, "", missing)
	execute(t, "off").want(t, 1, "", missing)
	execute(t, "validate", "-c", "empty").want(t, 1, "", "error: the folder empty has no configuration\n"+
		"  Found no file that ends in \".hcl\". Write one with \"oneticket init\", or name another file or folder with -c.\n\n")
}

func TestRunCountsTheMistakes(t *testing.T) {
	inFolder(t, map[string]string{"oneticket.hcl": brokenConfig})
	got := execute(t, "run")
	if got.status != 1 || !strings.HasSuffix(got.errors, "oneticket: oneticket.hcl has 2 mistakes, see above\n") {
		t.Errorf("status %d: %s", got.status, got.errors)
	}
}

func TestAStoreInMemoryIsAWarning(t *testing.T) {
	memory, err := os.MkdirTemp("/dev/shm", "oneticket-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(memory) })
	inFolder(t, map[string]string{
		"path.hcl":  "store \"sqlite\" {\n  path = \"" + memory + "/keys.db\"\n}\n" + goodConfig,
		"state.hcl": "state_dir = \"" + memory + "\"\n" + goodConfig,
	})
	for name, place := range map[string]string{"path.hcl": "path.hcl:2:10", "state.hcl": "state.hcl:1:13"} {
		got := execute(t, "validate", "-c", name)
		if got.status != 0 {
			t.Errorf("status %d", got.status)
		}
		contains(t, got.errors, "warning: "+place+": the store is in memory\n", "set ")
		contains(t, got.out, ", 1 warning\n")
	}
}

func TestValidateAsksEnvoy(t *testing.T) {
	path := envoytest.Path(t)
	inFolder(t, map[string]string{"oneticket.hcl": onDisk + goodConfig})
	execute(t, "validate", "--envoy="+path).want(t, 0, "oneticket.hcl is valid: 1 backend, 1 rule, 1 of them only observing\n", "")
	execute(t, "validate", "--envoy", path).want(t, 0, "oneticket.hcl is valid: 1 backend, 1 rule, 1 of them only observing\n", "")
	if _, err := os.Stat(".oneticket"); err == nil {
		t.Error("validate made a state_dir")
	}
	got := execute(t, "validate", "--envoy=/nowhere/envoy")
	if got.status != 1 || got.out != "" {
		t.Errorf("status %d, %q", got.status, got.out)
	}
	contains(t, got.errors, "error: Envoy does not take the configuration\n", "/nowhere/envoy")
}

func TestValidateTakesNoOtherArgument(t *testing.T) {
	for _, args := range [][]string{{"validate", "oneticket.hcl"}, {"validate", "--envoy=/bin/envoy", "oneticket.hcl"}} {
		execute(t, args...).want(t, 1, "", "oneticket: validate takes no argument, found \"oneticket.hcl\": the configuration is named with -c\n")
	}
}

func TestValidateCountsOwnRules(t *testing.T) {
	const jira = "\nbackend \"jira\" {\n  url    = \"https://acme.atlassian.net\"\n  listen = \"127.0.0.1:8082\"\n}\n"
	for sum, text := range map[string]string{
		"1 backend, retries only (no rule)":                                    jira,
		"2 backends, 1 rule, 1 of them only observing, 1 backend retries only": goodConfig + jira,
	} {
		inFolder(t, map[string]string{"oneticket.hcl": onDisk + text})
		execute(t, "validate").want(t, 0, "oneticket.hcl is valid: "+sum+"\n", "")
	}
}

// TestASignalLeavesNothingOfValidateBehind: Envoy may be slow to answer, or
// hang.
func TestASignalLeavesNothingOfValidateBehind(t *testing.T) {
	inFolder(t, map[string]string{"oneticket.hcl": onDisk + goodConfig, "tmp/.keep": ""})
	temporary, err := filepath.Abs("tmp")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temporary)
	slow := filepath.Join(temporary, "..", "envoy")
	script := "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'envoy version: 0/1.38.0/Clean/RELEASE/BoringSSL'; exit; }\necho > " + temporary + "/asked\nexec sleep 60\n"
	if err := os.WriteFile(slow, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	signaled := make(chan struct{})
	go func() {
		defer close(signaled)
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(temporary, "asked")); err == nil {
				_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
				return
			}
		}
	}()
	if got := execute(t, "validate", "--envoy", slow); got.status != 1 {
		t.Errorf("%+v", got)
	}
	<-signaled
	left, err := filepath.Glob(temporary + "/oneticket-*")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
