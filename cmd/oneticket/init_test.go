package main

import (
	"os"
	"strings"
	"testing"

	"oneticket/config"
)

func TestInitWritesWhatValidateTakes(t *testing.T) {
	folder := packageFolder(t)
	inFolder(t, nil)
	got := execute(t, "init", "servicenow", "generic/json")
	if got.status != 0 || got.out != "" {
		t.Fatalf("%+v", got)
	}
	golden(t, folder, "init.txt", got.errors)
	golden(t, folder, "init.hcl", read(t, "oneticket.hcl"))
	unset := execute(t, "validate")
	if unset.status != 1 {
		t.Error("valid without an address")
	}
	contains(t, unset.errors, `The environment has no variable "SERVICENOW_URL"`, `The environment has no variable "GENERIC_URL"`)
}

// TestInitOfEveryPreset: the file is in form and without warnings, and so it is
// with the rule that it shows in comments.
func TestInitOfEveryPreset(t *testing.T) {
	for _, name := range config.Presets() {
		t.Run(name, func(t *testing.T) {
			inFolder(t, nil)
			if got := execute(t, "init", name); got.status != 0 {
				t.Fatalf("%+v", got)
			}
			family, _, _ := strings.Cut(name, "/")
			t.Setenv(strings.ToUpper(strings.ReplaceAll(family, "-", "_"))+"_URL", "https://desk.example.com")
			text := read(t, "oneticket.hcl")
			// Tests may run in memory, which is a warning of its own.
			text = strings.Replace(text, `# state_dir = "/var/lib/oneticket"`, `state_dir = "/"`, 1)
			write(t, "oneticket.hcl", text)
			wantValid(t, name, "oneticket.hcl is valid: 1 backend, retries only (no rule)")
			execute(t, "fmt", "--check").want(t, 0, "", "")

			before, rule, found := strings.Cut(text, "#\n# rule ")
			if !found {
				t.Fatal("no rule in the comments")
			}
			rule = strings.ReplaceAll("rule "+rule, "\n# ", "\n")
			write(t, "oneticket.hcl", before+rule)
			wantValid(t, name, "oneticket.hcl is valid: 1 backend, 1 rule, 1 of them only observing")
			execute(t, "fmt", "--check").want(t, 0, "", "")
		})
	}
}

// wantValid: an unproven preset is said to be one, and nothing else is.
func wantValid(t *testing.T, preset, says string) {
	t.Helper()
	info, _ := config.FindPreset(preset)
	if !info.Unproven {
		execute(t, "validate").want(t, 0, says+"\n", "")
		return
	}
	got := execute(t, "validate")
	if got.status != 0 || got.out != says+", 1 warning\n" || !strings.Contains(got.errors, `the preset "`+preset+`" is unproven`) {
		t.Errorf("%+v", got)
	}
	contains(t, read(t, "oneticket.hcl"), "# Unproven: ")
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestInitDoesNotOverwrite(t *testing.T) {
	inFolder(t, map[string]string{"oneticket.hcl": goodConfig})
	execute(t, "init", "servicenow").want(t, 1, "", "oneticket: oneticket.hcl is there already: --force overwrites it, -c FILE writes another\n")
	if read(t, "oneticket.hcl") != goodConfig {
		t.Error("overwritten")
	}
	if got := execute(t, "init", "servicenow", "--force"); got.status != 0 || read(t, "oneticket.hcl") == goodConfig {
		t.Errorf("%+v", got)
	}
	if got := execute(t, "init", "servicenow", "-c", "other.hcl"); got.status != 0 || !strings.Contains(got.errors, "oneticket run -c other.hcl\n") {
		t.Errorf("%+v", got)
	}
}

func TestInitKnowsNames(t *testing.T) {
	inFolder(t, nil)
	list := execute(t, "init")
	if list.status != 0 || strings.Count(list.out, "\n") != len(config.Presets()) {
		t.Errorf("%+v", list)
	}
	contains(t, list.out, "servicenow/incident  ", "ServiceNow, incidents by the Table API\n")
	got := execute(t, "init", "servicnow", "xyzzy")
	if got.status != 1 || got.out != "" {
		t.Errorf("%+v", got)
	}
	contains(t, got.errors, `no preset "servicnow": did you mean "servicenow"?`, `no preset "xyzzy": "oneticket init" lists the presets`)
	if _, err := os.Stat("oneticket.hcl"); err == nil {
		t.Error("a file was written")
	}
}

func TestTwoPresetsOfOneFamilyGetTwoNames(t *testing.T) {
	inFolder(t, nil)
	if got := execute(t, "init", "servicenow/incident", "servicenow/incident"); got.status != 0 {
		t.Fatalf("%+v", got)
	}
	contains(t, read(t, "oneticket.hcl"), `backend "servicenow_incident" {`, `backend "servicenow_incident_2" {`, "127.0.0.1:8081", "127.0.0.1:8082", `env("SERVICENOW_INCIDENT_2_URL")`)
}

// TestTheExamplesOfInitExist: who copies one gets a file.
func TestTheExamplesOfInitExist(t *testing.T) {
	examples := 0
	for line := range strings.Lines(execute(t, "init", "--help").out) {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] != "oneticket" || words[1] != "init" || words[2] == "PRESET..." {
			continue
		}
		examples++
		for _, name := range words[2:] {
			if name == "-c" {
				break
			}
			if _, ok := config.FindPreset(name); !ok {
				t.Errorf("%s: there is no preset %s", strings.TrimSpace(line), name)
			}
		}
	}
	if examples < 2 {
		t.Errorf("%d examples", examples)
	}
}
