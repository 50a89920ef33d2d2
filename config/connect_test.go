package config_test

import (
	"slices"
	"testing"
	"time"

	"oneticket/config"
	"oneticket/dedup"
)

func TestAPolicyCountsOnlyOnCallsThatAreMade(t *testing.T) {
	all := config.Connected{LookUp: true, Read: true, Update: true}
	type can struct{ lookUp, read, update, reopen bool }
	for _, c := range []struct {
		name, preset string
		by           config.Connected
		want         can
		verify       time.Duration
		settle       time.Duration
	}{
		{"nothing is made", "servicenow/incident", config.Connected{}, can{}, 0, 15 * time.Second},
		{"all are made", "servicenow/incident", all, can{true, true, true, true}, 5 * time.Minute, 15 * time.Second},
		{"only reads", "servicenow/incident", config.Connected{Read: true}, can{read: true}, 5 * time.Minute, 15 * time.Second},
		{"an index that lags", "jira/issue", all, can{true, true, true, false}, 5 * time.Minute, 30 * time.Second},
		{"the lag is not waited for where nobody asks", "jira/issue", config.Connected{Read: true}, can{read: true}, 5 * time.Minute, 15 * time.Second},
		{"a preset with a read alone", "servicenow/import", all, can{read: true}, 5 * time.Minute, 15 * time.Second},
		{"a preset without calls", "generic/json", all, can{}, 0, 15 * time.Second},
		{"one that remembers", "zendesk/ticket", all, can{true, true, true, true}, 5 * time.Minute, 15 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := parse(t, `backend "b" {
  url    = "https://acme.example.test"
  preset = "`+c.preset+`"
}
rule "r" {
  backend  = "b"
  identity = { host = body.host, check = body.check }
  ttl      = { default = "1h", core = "6h" }
}`)
			r := before.Connected(c.by).Rules[0]
			for class, p := range r.Policies() {
				if got := (can{p.CanLookUp, p.CanRead, p.CanUpdate, p.CanReopen}); got != c.want || p.VerifyEvery != c.verify || p.Settle != c.settle {
					t.Errorf("%s: %+v", class, p)
				}
			}
			if r.Policy("core").TTL != 6*time.Hour || r.Policy("other") != r.Policy(config.DefaultClass) {
				t.Error("classes are lost")
			}
			if p := before.Rules[0].Policy("core"); p.CanRead || p.CanUpdate || p.CanLookUp {
				t.Error("the configuration that it was made of has changed")
			}
		})
	}
}

func TestVerifyIsOffWhereTheRuleSaysSo(t *testing.T) {
	c := parse(t, `backend "servicenow" { url = "https://acme.example.test" }
rule "r" {
  backend      = "servicenow"
  identity     = { host = body.host, check = body.check }
  verify_every = "0"
  lookup       = { settle = "40s" }
  reopen       = null
}`).Connected(config.Connected{LookUp: true, Read: true, Update: true})
	if p := c.Rules[0].Policy(""); p.VerifyEvery != 0 || !p.CanRead || p.Settle != 40*time.Second || p.CanReopen {
		t.Errorf("%+v", p)
	}
}

func TestCallsThatARuleHas(t *testing.T) {
	for preset, want := range map[string]config.Connected{
		"generic/json": {}, "servicenow/import": {Read: true}, "jira/issue": {LookUp: true, Read: true, Update: true},
	} {
		if got := presetRule(t, preset).Calls(); got != want {
			t.Errorf("%s: %+v", preset, got)
		}
	}
}

func TestMemoryOfZendeskIsTwoHours(t *testing.T) {
	if p := presetRule(t, "zendesk/ticket").Policy(""); p.Memory != dedup.Remembers || p.MemoryFor != 2*time.Hour || p.Remember < 2*time.Hour {
		t.Errorf("%+v", p)
	}
}

func TestMethodsOfRequestsThatResolve(t *testing.T) {
	r := presetRule(t, "zendesk/ticket")
	if got := r.ResolveMethods(); !slices.Equal(got, []string{"DELETE", "GET", "PUT"}) {
		t.Error(got)
	}
	if got := r.Methods(); !slices.Equal(got, []string{"POST"}) {
		t.Error(got)
	}
}

func TestAResolveOfAnotherHostIsNotOurs(t *testing.T) {
	r := presetRule(t, "zendesk/ticket")
	req := wireRequest(t, "DELETE", "/api/v2/tickets/7", "", nil)
	if _, ok := r.Resolves(req); !ok {
		t.Error("not seen")
	}
	req.Host = "other.example.test"
	if id, ok := r.Resolves(req); ok {
		t.Errorf("%q", id)
	}
}
