package main

import (
	"strings"
	"testing"

	"oneticket/config"
)

// written is the configuration that a case would run with.
func written(t *testing.T, profile string, lines ...string) (string, error) {
	t.Helper()
	s, err := newSetup(profile)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.configure(lines); err != nil {
		return "", err
	}
	r := &run{setup: s, dir: "/d", ports: []*port{{addr: "127.0.0.1:1"}}}
	for range s.hosts {
		r.ports = append(r.ports, &port{addr: "127.0.0.1:2"})
	}
	p := &product{dir: "/d/1", admin: "127.0.0.1:3", socket: "/d/1/s", listen: map[string]string{}}
	text, err := r.config(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), nil
}

func TestConfigLinesBecomeSettingsThatTheProductTakes(t *testing.T) {
	for line, want := range map[string]string{
		"identity: /cmdb_ci, /u_slot":                               `u_slot  = body.u_slot`,
		"normalise /cmdb_ci: lower case, strip domain corp.example": `cmdb_ci = trimsuffix(trimsuffix(lower(body.cmdb_ci), "."), ".corp.example")`,
		"absent values of /cmdb_ci: N/A, unknown, -":                `absent(body.cmdb_ci, ["N/A", "unknown", "-"])`,
		"optional: /u_part":                                         `u_part  = optional(body.u_part)`,
		"largest body to be keyed: 2 MiB":                           `max_body = "2MiB"`,
		"largest answer to be stored: 256 KiB":                      `max_response = "256KiB"`,
		"TTL 24 h, sliding":                                         `ttl          = "24h0m0s"`,
		"greatest age of a record 72 h":                             `max_age      = "72h0m0s"`,
		"settle 7 s":                                                `settle       = "7s"`,
		"verify every 15 minutes":                                   `verify_every = "15m0s"`,
		"heal within 2 s":                                           `heal_within  = "2s"`,
		"resend 4 tries":                                            `resend       = 4`,
		"wait 2 s":                                                  `wait = "2s"`,
		"on_missing = \"reject\"":                                   `on_missing   = "reject"`,
		"reopen within 7 days (absent: never)":                      `reopen_within = "168h0m0s"`,
		"create route also: POST /api/now/import/u_incident":        `/table/incident|/api/now/import/u_incident"`,
		"a create has worked only if /result/0/status is a or b":    `when = contains(["a", "b"], body.result[0].status)`,
		"already there: status 409, or status 400 with a body that matches 'x'":                             `status = [409]`,
		"cleared when /u_event_value is 0":                                                                  `cleared  = body.u_event_value == "0"`,
		"before suppressing on a record older than 15 minutes, ask whether its ticket is open (at most so)": `verify_every = "15m0s"`,
	} {
		t.Run(line, func(t *testing.T) {
			text, err := written(t, "snow", line)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text, want) {
				t.Errorf("want %s in\n%s", want, text)
			}
			if _, diags := config.Parse(map[string][]byte{"case.hcl": []byte(text)}, nil); diags.HasErrors() {
				t.Errorf("the product refuses it: %v", diags)
			}
		})
	}
}

func TestAConfigLineThatIsNotUnderstoodFailsTheCase(t *testing.T) {
	for _, line := range []string{
		"the moon is full", "settle soon", "no_such_setting = \"1\"", "normalise /cmdb_ci: in Latin", "normalise /nothing: lower case",
	} {
		if _, err := written(t, "snow", line); err == nil {
			t.Errorf("%q is taken", line)
		}
	}
}

func TestASecondInstanceHasNamesAndAnAddressOfItsOwn(t *testing.T) {
	text, err := written(t, "pd", "events.eu.example.test is a second instance under the same profile")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`backend "pd_2" {`, `rule "pd_2" {`, `"http://127.0.0.1:2"`} {
		if !strings.Contains(text, want) {
			t.Errorf("want %s in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "in_flight {"); n != 1 {
		t.Errorf("in_flight stands %d times", n)
	}
}

func TestPathsOfProfilesBecomeExpressions(t *testing.T) {
	for pointer, want := range map[string]string{
		"/cmdb_ci":                             "body.cmdb_ci",
		"/result/0/sys_id":                     "body.result[0].sys_id",
		"/ticket/custom_fields[id=3601]/value": `pick(body.ticket.custom_fields, "id", "3601").value`,
		"/a b/c":                               `body["a b"].c`,
	} {
		if got := exprOf(pointer); got != want {
			t.Errorf("%s: %s, want %s", pointer, got, want)
		}
	}
}
