package config_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"oneticket/config"
	"oneticket/dedup"
)

// parse parses one file that must be good.
func parse(t testing.TB, text string) *config.Config {
	t.Helper()
	c, diags := config.Parse(map[string][]byte{"oneticket.hcl": []byte(text)}, func(name string) (string, bool) {
		return "value-of-" + name, name != "UNSET"
	})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return c
}

const snowBackend = `backend "servicenow" { url = "https://acme.service-now.com" }
`

// snowRule is a rule in fault mode with more settings.
func snowRule(t testing.TB, more string) *config.Rule {
	t.Helper()
	return parse(t, snowBackend+`rule "faults" {
  backend  = "servicenow"
  identity = {
    cmdb_ci = absent(trimsuffix(trimsuffix(lower(body.cmdb_ci), "."), ".corp.example"), ["n/a", "unknown", "-"])
    check   = body.u_check
  }
  fingerprint = { severity = severity(body.impact), cleared = body.state == "6" }
`+more+"}").Rules[0]
}

func fault(t testing.TB, r *config.Rule, body string) dedup.Fault {
	t.Helper()
	f, err := r.Fault(request(t, body))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return f
}

func TestSpellingsOfOneFaultShareAKey(t *testing.T) {
	r := snowRule(t, "")
	want := fault(t, r, `{"cmdb_ci":"db-07","u_check":"disk 1"}`).Ref
	if want.Rule != "faults" || want.Scope != "acme.service-now.com" || want.Key != dedup.KeyOf("check=disk 1|cmdb_ci=db-07") {
		t.Fatalf("unexpected ref %+v", want)
	}
	for name, body := range map[string]string{
		"member order and escapes":    `{ "u_check" : "disk\u00201", "cmdb_ci":"db-07" }`,
		"outer white space":           `{"cmdb_ci":"\t db-07\u00a0","u_check":"disk 1\n"}`,
		"case and domain":             `{"cmdb_ci":"DB-07.CORP.example.","u_check":"disk 1"}`,
		"clock and event id":          `{"cmdb_ci":"db-07","u_check":"disk 1","short_description":"#4 at 04:12","u_event":884213}`,
		"severity is not identity":    `{"cmdb_ci":"db-07","u_check":"disk 1","impact":"1"}`,
		"another member stands twice": `{"description":"one","description":"two","cmdb_ci":"db-07","u_check":"disk 1"}`,
		"a measurement that is NaN":   `{"cmdb_ci":"db-07","u_check":"disk 1","u_value":NaN}`,
	} {
		if got := fault(t, r, body).Ref; got != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestNumbersInAnIdentityAreExact(t *testing.T) {
	r := snowRule(t, "")
	key := func(value string) dedup.Key { return fault(t, r, `{"cmdb_ci":"shelf","u_check":`+value+`}`).Ref.Key }
	for _, one := range []string{"1.0", "1e0", "10e-1", `"1"`} {
		if key(one) != key("1") {
			t.Errorf("%s is not 1", one)
		}
	}
	for _, zero := range []string{"-0", "0.0"} {
		if key(zero) != key("0") {
			t.Errorf("%s is not 0", zero)
		}
	}
	for _, other := range []string{`"1.0"`, "2", "9007199254740993", "9007199254740992"} {
		for _, value := range []string{"1", "9007199254740994"} {
			if key(other) == key(value) {
				t.Errorf("%s is taken for %s", other, value)
			}
		}
	}
}

func TestDifferentFaultsHaveDifferentKeys(t *testing.T) {
	r := snowRule(t, "")
	seen := map[dedup.Key]string{}
	for _, body := range []string{
		`{"cmdb_ci":"a|b","u_check":"c"}`, `{"cmdb_ci":"a","u_check":"b|c"}`, `{"cmdb_ci":"x|u_check=y","u_check":"z"}`,
		`{"cmdb_ci":"x","u_check":"y|u_check=z"}`, `{"cmdb_ci":"a\\|b","u_check":"c"}`, `{"cmdb_ci":"a\\","u_check":"|b|c"}`,
		`{"cmdb_ci":"a\u0000b","u_check":"c"}`, `{"cmdb_ci":"a","u_check":"\u0000b|c"}`, `{"cmdb_ci":"db07","u_check":"disk /Var"}`,
		`{"cmdb_ci":"db07","u_check":"disk /var"}`, `{"cmdb_ci":"db07","u_check":"disk  /var"}`,
		`{"cmdb_ci":"web-m\u00fcnchen","u_check":"c"}`, `{"cmdb_ci":"web-munchen","u_check":"c"}`,
	} {
		key := fault(t, r, body).Ref.Key
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s share a key", body, other)
		}
		seen[key] = body
	}
}

func TestComposedAndDecomposedNamesAreOne(t *testing.T) {
	r := snowRule(t, "")
	want := fault(t, r, `{"cmdb_ci":"web-münchen","u_check":"c"}`).Ref.Key
	for _, body := range []string{`{"cmdb_ci":"web-m\u00fcnchen","u_check":"c"}`, `{"cmdb_ci":"web-mu\u0308nchen","u_check":"c"}`, `{"cmdb_ci":"WEB-MU\u0308NCHEN","u_check":"c"}`} {
		if fault(t, r, body).Ref.Key != want {
			t.Errorf("%s has a key of its own", body)
		}
	}
}

func TestWhatHasNoIdentityHasNoKey(t *testing.T) {
	r := snowRule(t, "")
	for _, body := range []string{
		`{"u_check":"ping"}`, `{"cmdb_ci":null,"u_check":"ping"}`, `{"cmdb_ci":"","u_check":"ping"}`, `{"cmdb_ci":"   ","u_check":"ping"}`,
		`{"cmdb_ci":"N/A","u_check":"ping"}`, `{"cmdb_ci":"{HOST.NAME}","u_check":"ping"}`, `{"cmdb_ci":{"value":"x"},"u_check":"ping"}`,
		`{"cmdb_ci":"db-07","u_check":"ping","cmdb_ci":"db-08"}`, `{"cmdb_ci":"db-07","u_check":"ping","imp`,
	} {
		_, err := r.Fault(request(t, body))
		var unkeyed *dedup.Unkeyed
		if !errors.As(err, &unkeyed) || unkeyed.Why != dedup.WhyMissing || unkeyed.Field != "cmdb_ci" {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestAnOptionalFieldThatIsAbsentIsAValueOfItsOwn(t *testing.T) {
	r := parse(t, snowBackend+`rule "disks" {
  backend  = "servicenow"
  identity = { host = body.host, mount = optional(regex("^/.*", body.mount)) }
}`).Rules[0]
	identities := map[string]string{
		`{"host":"srv-1","mount":"/var"}`: "host=srv-1|mount=/var",
		`{"host":"srv-1","mount":"/opt"}`: "host=srv-1|mount=/opt",
		`{"host":"srv-1"}`:                "host=srv-1",
		`{"host":"srv-1","mount":"C:"}`:   "host=srv-1",
	}
	for body, want := range identities {
		if got := fault(t, r, body).Identity; got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestFingerprintSaysHowBadItIs(t *testing.T) {
	var unknown []string
	r := snowRule(t, "")
	r.OnUnknownSeverity = func(rule string) { unknown = append(unknown, rule) }
	for body, want := range map[string]dedup.Fingerprint{
		`"impact":"1"`:                  {Severity: "critical"},
		`"impact":"1 - high"`:           {Severity: "critical"},
		`"impact":3`:                    {Severity: "minor"},
		`"impact":"3","state":6.0`:      {Severity: "minor", Cleared: true},
		`"state":"6"`:                   {Severity: dedup.NoSeverity, Cleared: true},
		`"other":"1"`:                   {Severity: dedup.NoSeverity},
		`"impact":"purple","state":"1"`: {Severity: "purple"},
	} {
		if got := fault(t, r, `{"cmdb_ci":"a","u_check":"b",`+body+`}`).Fingerprint; got != want {
			t.Errorf("%s: %+v, want %+v", body, got, want)
		}
	}
	if len(unknown) != 1 || unknown[0] != "faults" {
		t.Errorf("unknown severities counted: %v", unknown)
	}
	ranks := r.Policy("default").Severities
	if !(ranks["critical"] > ranks["major"] && ranks["major"] > ranks["minor"] && ranks["minor"] > ranks["purple"]) {
		t.Errorf("ranks %v", ranks)
	}
}

func TestRejectRefusesAnUnknownSeverity(t *testing.T) {
	r := snowRule(t, `on_missing = "reject"`+"\n")
	var unkeyed *dedup.Unkeyed
	if _, err := r.Fault(request(t, `{"cmdb_ci":"a","u_check":"b","impact":"purple"}`)); !errors.As(err, &unkeyed) || unkeyed.Field != "severity" {
		t.Errorf("got %v", err)
	}
	if !r.RejectMissing {
		t.Error("the rule does not reject")
	}
}

func TestClassChoosesTheTTL(t *testing.T) {
	r := snowRule(t, `class = body.u_tier
ttl = { default = "1h", access = "10m", core = "6h" }
`)
	for tier, want := range map[string]struct {
		class string
		ttl   time.Duration
	}{`"core"`: {"core", 6 * time.Hour}, `"access"`: {"access", 10 * time.Minute}, `"edge"`: {"default", time.Hour}, `null`: {"default", time.Hour}} {
		f := fault(t, r, `{"cmdb_ci":"a","u_check":"b","u_tier":`+tier+`}`)
		if f.Class != want.class || r.Policy(f.Class).TTL != want.ttl {
			t.Errorf("%s: class %q for %v", tier, f.Class, r.Policy(f.Class).TTL)
		}
	}
}

func TestRetryModeKeysTheRequestForItsWindow(t *testing.T) {
	r := parse(t, snowBackend).Rules[0]
	if !r.Generated || !r.RetryMode || r.Name != "servicenow" || r.Preset != "servicenow/incident" || r.Resend != 0 {
		t.Fatalf("unexpected rule %+v", r)
	}
	a := fault(t, r, `{"b":1,"a":"x"}`)
	if b := fault(t, r, `{ "a":"x", "b":1.0 }`); a.Ref.Key != b.Ref.Key {
		t.Error("two spellings of one request have two keys")
	}
	if b := fault(t, r, `{"a":"x","b":2}`); a.Ref.Key == b.Ref.Key {
		t.Error("two requests share a key")
	}
	if text := fault(t, r, `not JSON`); text.Ref.Key != dedup.RequestKey(dedup.RequestParts{Method: "POST", Path: "/api/now/table/incident", Body: []byte("not JSON")}, dedup.RequestKeyOptions{}) {
		t.Error("a body that is no JSON has no key of its text")
	}
	if a.Fingerprint != (dedup.Fingerprint{Severity: dedup.NoSeverity}) {
		t.Errorf("fingerprint %+v", a.Fingerprint)
	}
	if p := r.Policy(a.Class); p.TTL != 10*time.Minute || p.MaxAge != 10*time.Minute || p.Remember != 24*time.Hour {
		t.Errorf("policy %+v", p)
	}
}

func TestRequestsWithoutABodyHaveNoKey(t *testing.T) {
	for name, rule := range map[string]string{"generated": "", "request_key": `rule "r" {
  backend = "servicenow"
  key     = request_key()
}`} {
		var unkeyed *dedup.Unkeyed
		if f, err := parse(t, snowBackend+rule).Rules[0].Fault(request(t, "")); !errors.As(err, &unkeyed) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

func TestTheClientsKeyOrOneOfOurs(t *testing.T) {
	r := parse(t, snowBackend+`rule "api" {
  backend = "servicenow"
  key     = try(client_key(headers["idempotency-key"], "api"), request_key({ ignore = ["at"], unordered = ["tags"] }))
}`).Rules[0]
	if f := fault(t, r, `{}`); f.Ref.Key != "api:abc-1" || r.Policy(f.Class).TTL != 24*time.Hour {
		t.Errorf("client's key: %+v for %v", f, r.Policy(f.Class).TTL)
	}
	ours := func(body string) dedup.Fault {
		req := request(t, body)
		req.Header = nil
		f, err := r.Fault(req)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	a, b := ours(`{"at":1,"tags":["x","y"],"v":1}`), ours(`{"at":2,"tags":["y","x"],"v":1}`)
	if a.Ref.Key != b.Ref.Key || !strings.HasPrefix(string(a.Ref.Key), "idem:") || r.Policy(a.Class).TTL != 10*time.Minute {
		t.Errorf("our keys: %+v and %+v for %v", a, b, r.Policy(a.Class).TTL)
	}
	if c := ours(`{"at":1,"tags":["x","y"],"v":2}`); c.Ref.Key == a.Ref.Key {
		t.Error("two requests share a key")
	}
}

func TestScopeKeepsTenantsApart(t *testing.T) {
	r := snowRule(t, "scope = body.tenant\n")
	if f := fault(t, r, `{"cmdb_ci":"a","u_check":"b","tenant":"blue"}`); f.Ref.Scope != "blue" {
		t.Errorf("scope %q", f.Ref.Scope)
	}
	var unkeyed *dedup.Unkeyed
	if _, err := r.Fault(request(t, `{"cmdb_ci":"a","u_check":"b"}`)); !errors.As(err, &unkeyed) || unkeyed.Field != "scope" {
		t.Errorf("without a tenant: %v", err)
	}
}

func TestTheClientsOwnTokenStays(t *testing.T) {
	r := snowRule(t, "")
	if f := fault(t, r, `{"cmdb_ci":"a","u_check":"b","correlation_id":"corr-1"}`); f.ClientToken != "corr-1" {
		t.Errorf("token of the field: %q", f.ClientToken)
	}
	if f := fault(t, r, `{"cmdb_ci":"a","u_check":"b"}`); f.ClientToken != `"abc-1"` {
		t.Errorf("token of the header: %q", f.ClientToken)
	}
	volatile := snowRule(t, "token = { volatile = true }\n")
	if f := fault(t, volatile, `{"cmdb_ci":"a","u_check":"b"}`); f.ClientToken != "" || volatile.TokenField[0] != "correlation_id" {
		t.Errorf("a volatile token: %q", f.ClientToken)
	}
}

func TestMatchIsDecidedByTheDecodedHead(t *testing.T) {
	r := parse(t, snowBackend).Rules[0]
	for path, want := range map[string]bool{
		"/api/now/table/incident": true, "/api/now/v1/table/incident": true, "/api/now/v2/table/incident/": true,
		"/api/now/table/problem": false, "/api/now/table/incident/1": false, "/x/api/now/table/incident": false,
	} {
		req := request(t, `{}`)
		if req.Path = path; r.Matches(req) != want {
			t.Errorf("%s matches: %v", path, !want)
		}
	}
	for host, want := range map[string]bool{"acme.service-now.com": true, "acme.service-now.com:8443": false, "other.example": false} {
		req := request(t, `{}`)
		if req.Host = host; r.Matches(req) != want {
			t.Errorf("%s matches: %v", host, !want)
		}
	}
	get := request(t, `{}`)
	if get.Method = "GET"; r.Matches(get) {
		t.Error("a GET matches")
	}
}

func TestMatchByQueryHeaderAndBody(t *testing.T) {
	r := parse(t, `backend "events" {
  url   = "http://events.example.test:80"
  hosts = ["*.service-now.com"]
}
rule "triggers" {
  backend = "events"
  match = {
    method  = ["POST", "PUT"]
    path    = "^/api/.*$"
    query   = { tenant = "blue|green", validateOnly = "|false" }
    headers = { Content-Type = "application/json.*" }
    when    = body.event_action == "trigger"
  }
  identity = { source = body.payload.source }
}`).Rules[0]
	req := request(t, `{"event_action":"trigger","payload":{"source":"db"}}`)
	if !r.Matches(req) {
		t.Fatal("no match")
	}
	if f, err := r.Fault(req); err != nil || f.Identity != "source=db" {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := r.Fault(request(t, `{"event_action":"resolve","payload":{"source":"db"}}`)); !errors.Is(err, dedup.ErrNoMatch) {
		t.Errorf("a resolve: %v", err)
	}
	req.Query = append(req.Query, dedup.HeaderField{Name: "validateOnly", Value: "true"})
	if r.Matches(req) {
		t.Error("a trial run matches")
	}
}

// TestWantsAreEnough reads only the places that the rule names.
func TestWantsAreEnough(t *testing.T) {
	r := snowRule(t, "class = [for f in body.fields : f.v if f.k == \"tier\"][0]\nttl = { core = \"2h\" }\n")
	body := `{"noise":{"a":[1,2]},"cmdb_ci":"a","u_check":"b","impact":"1","state":"6","correlation_id":"c","fields":[{"x":1},{"k":"tier","v":"core"}],"short_description":"t"}`
	whole := fault(t, r, body)
	v, err := dedup.ReadJSON([]byte(body), r.Wants())
	if err != nil {
		t.Fatal(err)
	}
	req := request(t, body)
	req.Body = v
	if got, err := r.Fault(req); err != nil || got != whole {
		t.Errorf("%+v, %v; want %+v", got, err, whole)
	}
	if len(v.Member("noise").Members) > 0 {
		t.Error("the rule wants more than it reads")
	}
}

func TestTheWitnessHasNoClock(t *testing.T) {
	r := snowRule(t, "")
	a := fault(t, r, `{"cmdb_ci":"a","u_check":"b","short_description":"PROBLEM #884213: BGP down at 2026-03-01T04:12:07Z"}`)
	b := fault(t, r, `{"cmdb_ci":"a","u_check":"b","short_description":"PROBLEM #884390: BGP down at 2026-03-02T14:17:09Z"}`)
	if a.Witness == "" || a.Witness != b.Witness {
		t.Errorf("%q and %q", a.Witness, b.Witness)
	}
}

func BenchmarkFault(b *testing.B) {
	body := `{"cmdb_ci":"DB-07","u_check":"disk","impact":"1","urgency":"2","state":"1","u_tier":"core","short_description":"disk full","description":"` + strings.Repeat("x", 1800) + `"}`
	compiled := parse(b, snowBackend+`rule "r" {
  backend  = "servicenow"
  identity = { ci = lower(body.cmdb_ci), check = body.u_check }
  class    = body.u_tier
  ttl      = { core = "6h" }
}`).Rules[0]
	for name, r := range map[string]*config.Rule{"compiled": compiled, "evaluated": snowRule(b, "")} {
		v, err := dedup.ReadJSON([]byte(body), r.Wants())
		if err != nil {
			b.Fatal(err)
		}
		req := request(b, body)
		req.Body = v
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Fault(req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
