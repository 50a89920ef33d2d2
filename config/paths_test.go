package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oneticket/config"
)

const relative = `state_dir = "state"
socket    = "unix:run/filter.sock?mode=0660"
tls       = { cert = "cert.pem", key = "/etc/key.pem", ca = "../ca.pem" }

store "sqlite" {
  path = "keys.db"
}

backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "127.0.0.1:8081"
}
`

// TestRelativePathsAreOfTheFolderOfTheFile, wherever the program is called from.
func TestRelativePathsAreOfTheFolderOfTheFile(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "oneticket.hcl")
	if err := os.WriteFile(file, []byte(relative), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(folder))
	for name, path := range map[string]string{"a file": file, "a folder": folder} {
		t.Run(name, func(t *testing.T) {
			c, diags := config.Load(path)
			if diags.Len() > 0 {
				t.Fatal(diags)
			}
			got := []string{c.StateDir, c.Socket, c.Store.Path, c.TLS["cert"], c.TLS["key"], c.TLS["ca"]}
			want := []string{folder + "/state", "unix:" + folder + "/run/filter.sock?mode=0660", folder + "/keys.db",
				folder + "/cert.pem", "/etc/key.pem", filepath.Dir(folder) + "/ca.pem"}
			if !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
	c, diags := config.Parse(map[string][]byte{"/etc/oneticket/oneticket.hcl": []byte(`store "redis" {
  url = "rediss://db:6379"
  tls = { ca = "ca.pem", server_name = "db" }
}
backend "jira" { url = "https://acme.atlassian.net" }`)}, nil)
	if c == nil || c.StateDir != "/etc/oneticket/.oneticket" || c.Store.TLS["ca"] != "/etc/oneticket/ca.pem" || c.Store.TLS["server_name"] != "db" || c.Socket != "" || c.Store.Path != "" {
		t.Errorf("%+v %v", c, diags)
	}
}

// TestLoadStoreReadsOnlyWhatItNeeds: the environment of the process is not
// that of a person who switches it off.
func TestLoadStoreReadsOnlyWhatItNeeds(t *testing.T) {
	folder := t.TempDir()
	write := func(text string) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, "oneticket.hcl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(folder, "oneticket.hcl")
	}
	c, diags := config.LoadStore(write(`
state_dir = "state"
admin     = env("UNSET_ADMIN")
store "sqlite" {
  timeout = "1s"
}
backend "servicenow" {
  url     = env("UNSET_URL")
  tiemout = "1s"
}
backend "jira" {
  url = env("UNSET_URL")
}
rule "faults" {
  backend  = "servicenow"
  identity = { ci = env("UNSET") }
}
`))
	if c == nil || diags.Len() > 0 {
		t.Fatal(diags)
	}
	var rules []string
	for _, r := range c.Rules {
		rules = append(rules, r.Name)
	}
	if c.StateDir != folder+"/state" || c.Store.Kind != "sqlite" || !slices.Equal(rules, []string{"faults", "jira"}) {
		t.Errorf("%+v %q", c, rules)
	}
	for text, part := range map[string]string{
		"state_dir = env(\"UNSET_STATE\")\n":    "UNSET_STATE",
		"store \"postgres\" {\n}":               "has no url",
		"store \"sqlite\" {\n  paht = \"x\"\n}": "paht",
		"}":                                     "closes nothing",
	} {
		if c, diags := config.LoadStore(write(text)); c != nil || !strings.Contains(diags.String(), part) {
			t.Errorf("%s: %s", text, diags)
		}
	}
	if c, diags := config.LoadStore(folder + "/none.hcl"); c != nil || diags.Errors() != 1 {
		t.Error(diags)
	}
}
