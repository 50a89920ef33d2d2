package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oneticket/config"
	"oneticket/dedup"
)

func TestOneBackendIsAWholeConfiguration(t *testing.T) {
	c := parse(t, `backend "jira" { url = "https://Acme.atlassian.net:443" }`)
	b := c.Backends[0]
	if b.Host != "acme.atlassian.net" || b.Preset != "jira/issue" || b.Timeout != time.Minute || b.FailClosed {
		t.Errorf("backend %+v", b)
	}
	if len(c.Rules) != 1 || c.Rules[0].Name != "jira" || c.Rules[0].Backend != b {
		t.Errorf("rules %+v", c.Rules)
	}
	want := config.Config{StateDir: "./.oneticket", Admin: "127.0.0.1:9911",
		InFlight: config.InFlight{Wait: 20 * time.Second, Busy: 503, MaxWaiters: 4096},
		Limits:   config.Limits{MaxBody: 4 << 20, MaxResponse: 256 << 10}}
	if c.StateDir != want.StateDir || c.Admin != want.Admin || c.InFlight != want.InFlight || c.Limits != want.Limits {
		t.Errorf("defaults %+v", c)
	}
	if c.Store.Kind != "sqlite" || c.Store.Timeout != 250*time.Millisecond || c.DeadLetter.MaxAge != 30*24*time.Hour {
		t.Errorf("defaults %+v", c)
	}
}

func TestTheExampleOfTheManual(t *testing.T) {
	c := parse(t, `
store "redis" {
  url     = "redis://${env("REDIS_HOST")}"
  timeout = "100ms"
}
backend "jira" {
  url = "https://acme.atlassian.net"
}
backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "127.0.0.1:8081"
}
rule "network_faults" {
  backend = "servicenow"
  preset  = "servicenow/incident"
  identity = {
    element_id  = lower(body.cmdb_ci)
    fault_class = body.category
  }
  fingerprint = {
    severity = severity(body.urgency)
    cleared  = body.state == "6"
  }
  class  = body.u_tier
  ttl    = { default = "1h", access = "10m", core = "6h" }
  action = "enforce"
}`)
	if c.Store.Kind != "redis" || c.Store.URL != "redis://value-of-REDIS_HOST" || c.Store.Timeout != 100*time.Millisecond {
		t.Errorf("store %+v", c.Store)
	}
	if len(c.Rules) != 2 || c.Rules[0].Name != "network_faults" || c.Rules[1].Name != "jira" {
		t.Fatalf("rules %+v", c.Rules)
	}
	r := c.Rule("network_faults")
	if r.RetryMode || r.TokenHeader != "idempotency-key" || r.TokenField[0] != "correlation_id" || r.TokenMax != 100 || r.Resend != 4 {
		t.Errorf("rule %+v", r)
	}
	if c.Match(request(t, `{}`)) != r {
		t.Error("the request has another rule")
	}
}

func TestWhoOverridesWhom(t *testing.T) {
	rule := func(backend, rule string) *config.Rule {
		return parse(t, `backend "servicenow" {
  url = "https://acme.service-now.com"
  `+backend+`
}
rule "r" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci }
  `+rule+`
}`).Rules[0]
	}
	r := rule("", `match = { when = body.category == "network" }`)
	other := request(t, `{"category":"network","cmdb_ci":"a"}`)
	if other.Path = "/api/now/table/problem"; r.Matches(other) {
		t.Error("the preset's path is lost")
	}
	if r = rule("", `match = { path = null }`); !r.Matches(other) {
		t.Error("null does not take the preset's path away")
	}
	if r = rule("", `token = { header = "X-Key" }`); r.TokenHeader != "x-key" || r.TokenField == nil {
		t.Errorf("token %q %v", r.TokenHeader, r.TokenField)
	}
	if r = rule(`preset = "generic/json"`, ""); r.Preset != "generic/json" || r.TokenField != nil {
		t.Error("the backend's preset is not the rule's")
	}
	if r = rule(`preset = "generic/json"`, `preset = "servicenow"`); r.Preset != "servicenow/incident" {
		t.Error("the rule's preset is overridden")
	}
	if r = rule(`timeout = "20s"`, ""); r.Policy("").Lease != 30*time.Second {
		t.Errorf("lease %v", r.Policy("").Lease)
	}
	if r = rule("", `settle = "20s"`); r.Policy("").Settle != 20*time.Second {
		t.Errorf("settle %v", r.Policy("").Settle)
	}
}

func TestPolicyOfARule(t *testing.T) {
	plain := snowRule(t, "").Policy("default")
	if plain.TTL != time.Hour || plain.MaxAge != 24*time.Hour || plain.Remember != 24*time.Hour || plain.Settle != 15*time.Second ||
		plain.Lease != 70*time.Second || plain.Memory != dedup.NoMemory || plain.VerifyEvery != 0 || plain.ReopenWithin != 0 ||
		plain.OnRefireForward || plain.DowngradeIgnore || plain.Observe || plain.CanRead || plain.CanLookUp || plain.CanUpdate || plain.NoTicket {
		t.Errorf("defaults %+v", plain)
	}
	set := snowRule(t, `ttl = "2d"
max_age = "0"
remember = "1h"
reopen_within = "36h"
memory = { kind = "remembers", for = "2h" }
downgrade = "ignore"
action = "observe"
`).Policy("default")
	if set.TTL != 48*time.Hour || set.MaxAge != 0 || set.ReopenWithin != 36*time.Hour || set.Remember != 36*time.Hour ||
		set.Memory != dedup.Remembers || set.MemoryFor != 2*time.Hour || !set.DowngradeIgnore || !set.Observe {
		t.Errorf("%+v", set)
	}
}

func TestHashIsOfTheContents(t *testing.T) {
	a, again := parse(t, snowBackend), parse(t, snowBackend)
	other := parse(t, snowBackend+"\n# a comment\n")
	if a.Hash != again.Hash || a.Hash == other.Hash || len(a.Hash) != 16 {
		t.Errorf("%q %q %q", a.Hash, again.Hash, other.Hash)
	}
}

func TestLoadReadsAFileOrAFolder(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"a.hcl": snowBackend, "b.hcl": `rule "r" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci }
}`, "notes.txt": "not read"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	whole, diags := config.Load(folder)
	if diags.HasErrors() || len(whole.Rules) != 1 || len(whole.Files) != 2 {
		t.Fatalf("%v %+v", diags, whole)
	}
	if single, diags := config.Load(filepath.Join(folder, "a.hcl")); diags.HasErrors() || !single.Rules[0].Generated {
		t.Fatalf("%v %+v", diags, single)
	}
	if c, diags := config.Load(filepath.Join(folder, "none.hcl")); c != nil || !strings.Contains(diags.Error(), "none.hcl") {
		t.Errorf("%v", diags)
	}
}

// TestEverySettingIsKnown holds the table against itself.
func TestEverySettingIsKnown(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range config.Settings() {
		name := s.Block + "." + s.Label + "." + s.Name
		if seen[name] || s.Means == "" || s.Kind == "" || (s.Kind == config.Choice) != (len(s.Choices) > 0) {
			t.Errorf("%s: %+v", name, s)
		}
		seen[name] = true
	}
}
