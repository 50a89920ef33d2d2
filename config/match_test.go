package config_test

import (
	"testing"

	"oneticket/config"
)

// TestWhatMayBeACreateByItsMethodAndPath, for entries that know no more.
func TestWhatMayBeACreateByItsMethodAndPath(t *testing.T) {
	c, diags := config.Parse(map[string][]byte{"c.hcl": []byte(`
backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "127.0.0.1:8081"
}
backend "jira" {
  url    = "https://acme.example/jira/"
  listen = "127.0.0.1:8082"
}
backend "soap" {
  url    = "https://acme.service-now.com"
  preset = "servicenow/soap"
  listen = "127.0.0.1:8083"
}
rule "off" {
  backend = "soap"
  action  = "off"
}
`)}, nil)
	if c == nil {
		t.Fatal(diags)
	}
	for _, r := range []struct {
		backend, method, path string
		want                  bool
	}{
		{"servicenow", "POST", "/api/now/table/incident", true},
		{"servicenow", "POST", "/api/now/v2/table/incident/", true},
		{"servicenow", "POST", "/api/now/t%61ble/incident", true},
		{"servicenow", "GET", "/api/now/table/incident", false},
		{"servicenow", "PATCH", "/api/now/table/incident/0123456789abcdef0123456789abcdef", false},
		{"servicenow", "POST", "/api/now/attachment/file", false},
		{"jira", "POST", "/rest/api/2/issue", true},
		{"jira", "POST", "/jira/rest/api/2/issue", true}, // as it is sent on
		{"jira", "POST", "/rest/api/2/issue/OPS-7/transitions", false},
		{"servicenow", "POST", "", true}, // its path may hold a credential
		{"servicenow", "GET", "", false},
		{"soap", "POST", "/incident.do", false}, // its rule is off
		{"unknown", "GET", "/", true},
	} {
		if got := c.MayCreate(r.backend, r.method, r.path); got != r.want {
			t.Errorf("%s %s %s: %v", r.backend, r.method, r.path, got)
		}
	}
}
