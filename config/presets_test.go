package config_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"oneticket/config"
	"oneticket/dedup"
)

// A recorded request is what one unchanged client sends, and what its preset
// should read in it.
type recorded struct {
	Client string
	Method string
	Target string
	Body   json.RawMessage
	Want   struct {
		Matches                            bool
		Severity, Token, Identity, Witness string
	}
}

func (r *recorded) request(t *testing.T) *dedup.Request {
	t.Helper()
	target, err := url.Parse(r.Target)
	if err != nil {
		t.Fatal(err)
	}
	req := request(t, string(r.Body))
	req.Header = nil
	req.Path = target.Path
	if req.Query = nil; r.Method != "" {
		req.Method = r.Method
	}
	for name, values := range target.Query() {
		req.Query = append(req.Query, dedup.HeaderField{Name: name, Value: values[0]})
	}
	return req
}

func TestRecordedRequestsOfServiceNowClients(t *testing.T) {
	text, err := os.ReadFile("testdata/servicenow_incident.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	retry := parse(t, snowBackend).Rules[0]
	faults := parse(t, snowBackend+`rule "faults" {
  backend  = "servicenow"
  identity = { element_id = lower(body.cmdb_ci), category = body.category }
}`).Rules[0]
	keys := map[dedup.Key]string{}
	for _, c := range all {
		t.Run(c.Client, func(t *testing.T) {
			req := c.request(t)
			if got := retry.Matches(req); got != c.Want.Matches {
				t.Fatalf("matches: %v", got)
			}
			if !c.Want.Matches {
				return
			}
			f, err := retry.Fault(req)
			if err != nil || f.ClientToken != c.Want.Token || f.Witness != c.Want.Witness {
				t.Errorf("%+v, %v", f, err)
			}
			if other, ok := keys[f.Ref.Key]; ok {
				t.Errorf("shares a key with %s", other)
			}
			keys[f.Ref.Key] = c.Client
			wantFault(t, faults, req, &c)
		})
	}
}

// wantFault reads the request by a rule in fault mode, with an identity that
// most of these clients do not send.
func wantFault(t *testing.T, r *config.Rule, req *dedup.Request, c *recorded) {
	t.Helper()
	f, err := r.Fault(req)
	var unkeyed *dedup.Unkeyed
	switch {
	case c.Want.Identity == "" && !errors.As(err, &unkeyed):
		t.Errorf("a key without an identity: %+v", f)
	case c.Want.Identity != "" && (f.Identity != c.Want.Identity || f.Fingerprint.Severity != c.Want.Severity):
		t.Errorf("%+v, %v", f, err)
	}
}

func TestEveryPresetServesABareBackendAndARule(t *testing.T) {
	for _, name := range config.Presets() {
		t.Run(name, func(t *testing.T) {
			c, diags := config.Parse(map[string][]byte{"p.hcl": []byte(`backend "b" {
  url    = "https://example.test"
  preset = "` + name + `"
}
backend "c" {
  url    = "https://other.example.test"
  preset = "` + name + `"
}
rule "r" {
  backend  = "b"
  identity = { host = body.host, check = body.check }
}`)}, nil)
			info, _ := config.FindPreset(name)
			if diags := diags.ForServe(); diags.Len() > 0 != info.Unproven || strings.Count(diags.String(), "is unproven") != diags.Len() {
				t.Fatal(diags)
			}
			if r := c.Rule("c"); !r.Generated || !r.RetryMode || r.Preset != name || len(r.Methods()) == 0 {
				t.Errorf("%+v", r)
			}
			source, err := config.PresetSource(name)
			if err != nil || len(source) == 0 {
				t.Errorf("no source: %v", err)
			}
		})
	}
}

func TestGenericPresetTakesJSONOnly(t *testing.T) {
	r := parse(t, `backend "desk" { url = "https://acme.service-now.com" }`).Rules[0]
	if _, err := r.Fault(request(t, `{"title":"down"}`)); err != nil {
		t.Error(err)
	}
	if _, err := r.Fault(request(t, `user=bot&pass=x`)); !errors.Is(err, dedup.ErrNoMatch) {
		t.Errorf("a login form: %v", err)
	}
}

// TestOneRuleServesManyRequestsAtOnce is for the race detector.
func TestOneRuleServesManyRequestsAtOnce(t *testing.T) {
	r := snowRule(t, "class = [for f in body.fields : f.v if f.k == \"tier\"][0]\nttl = { core = \"2h\" }\n")
	want := fault(t, r, `{"cmdb_ci":"a","u_check":"b","fields":[{"k":"tier","v":"core"}]}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			req := request(t, `{"cmdb_ci":"a","u_check":"b","fields":[{"k":"tier","v":"core"}]}`)
			for range 100 {
				if got, err := r.Fault(req); err != nil || got != want {
					t.Errorf("%+v, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
}

// FuzzAnyBody: whatever is sent, a rule answers and does not panic.
func FuzzAnyBody(f *testing.F) {
	f.Add([]byte(expressionBody))
	f.Add([]byte(`{"cmdb_ci":[[[]]],"fields":{"k":1}}`))
	f.Add([]byte(`[1,{"a":null}]`))
	r := snowRule(f, "class = [for f in body.fields : lower(f.v) if f.k != \"tier\"][0]\nscope = try(jsondecode(body.text).k, regex(\"(.)(.)\", body.cmdb_ci)[1], body[body.u_check], pick(body.fields, \"k\", body.x).v, \"s\")\nttl = { core = \"2h\" }\n")
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := r.Fault(request(t, string(body)))
		var unkeyed *dedup.Unkeyed
		if err != nil && !errors.As(err, &unkeyed) {
			t.Fatal(err)
		}
		if err == nil && (got.Ref.Key == "" || got.Identity == "" || got.Fingerprint.Severity == "") {
			t.Fatalf("%+v", got)
		}
	})
}
