package config_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"oneticket/config"
	"oneticket/dedup"
)

// request is a create with the body.
func request(t testing.TB, body string) *dedup.Request {
	t.Helper()
	r := &dedup.Request{
		Method: "POST", Host: "acme.service-now.com", Path: "/api/now/table/incident", Raw: []byte(body),
		Header: []dedup.HeaderField{{Name: "content-type", Value: "application/json"}, {Name: "idempotency-key", Value: `"abc-1"`},
			{Name: "x-twice", Value: "a"}, {Name: "x-twice", Value: "b"}},
		Query: []dedup.HeaderField{{Name: "tenant", Value: "blue"}},
	}
	if v, err := dedup.ReadJSON([]byte(body), nil); err == nil {
		r.Body = v
	}
	return r
}

const expressionBody = `{"cmdb_ci":"  DB-07.Corp ","state":6.0,"flag":true,"no":null,"blank":"  ","macro":"{HOST.NAME}",
 "deep":{"a":{"b":"x"}},"tags":["b","a"],"empty":{},"none":[],"text":"{\"k\":{\"v\":7}}","which":"state",
 "fields":[{"id":3601,"value":"prn-12"},{"id":"3602","value":"offline"},{"value":"no id"}],
 "double":[{"id":1,"v":"a"},{"id":1,"v":"b"}],"urgency":"3","impact":"1","odd":"purple","fields_twice":{"a":1,"a":2}}`

// missingText is what a table of expressions wants of one that is missing.
const missingText = "(missing)"

func TestExpressionsReadBodiesAsText(t *testing.T) {
	cases := []struct{ name, expression, want string }{
		{"a path, trimmed", `body.cmdb_ci`, "DB-07.Corp"},
		{"lower", `lower(body.cmdb_ci)`, "db-07.corp"},
		{"a domain cut off", `trimsuffix(lower(body.cmdb_ci), ".corp")`, "db-07"},
		{"a number is its digits", `body.state`, "6"},
		{"a number equals its text", `body.state == "6"`, "true"},
		{"a number equals a number", `body.state == 6`, "true"},
		{"a number equals a number of another spelling", `6.00 == body.state`, "true"},
		{"a boolean equals its text", `body.flag == "true"`, "true"},
		{"a boolean equals a boolean", `body.flag == true`, "true"},
		{"absent", `body.nothing`, missingText},
		{"absent at depth", `body.nothing.at.all[7].here`, missingText},
		{"below a scalar", `body.cmdb_ci.x.y`, missingText},
		{"null", `body.no`, missingText},
		{"blank", `body.blank`, missingText},
		{"a macro", `body.macro`, missingText},
		{"an object", `body.deep`, missingText},
		{"a list", `body.tags`, missingText},
		{"an object as JSON", `jsonencode(body.deep)`, `{"a":{"b":"x"}}`},
		{"an empty object as JSON", `jsonencode(body.empty)`, missingText},
		{"JSON of what cannot be read", `jsonencode(body.fields_twice)`, missingText},
		{"JSON of an item", `jsonencode([for f in body.fields : f][0])`, `{"id":"3601","value":"prn-12"}`},
		{"scalars in JSON are texts", `jsonencode(body.fields[0])`, `{"id":"3601","value":"prn-12"}`},
		{"coalesce passes over what is absent", `coalesce(body.a.b, body.no, body.blank, body.deep.a.b)`, "x"},
		{"coalesce of nothing", `coalesce(body.a, body.b)`, missingText},
		{"coalesce passes over the empty text", `coalesce("", "x")`, "x"},
		{"== with a missing side is false", `body.a == "x"`, "false"},
		{"!= with a missing side is missing", `body.a != "x"`, missingText},
		{"!=", `body.state != "7"`, "true"},
		{"== null", `body.a == null`, "true"},
		{"!= null", `body.a != null`, "false"},
		{"null == ", `null == body.state`, "false"},
		{"an object is not null", `body.deep != null`, "true"},
		{"an empty object is null", `body.empty == null`, "true"},
		{"the body is there", `body != null`, "true"},
		{"a function of null is null", `lower(body.a) == null`, "true"},
		{"format of null is null", `coalesce(format("%s-%s", body.a, "x"), "fallback")`, "fallback"},
		{"a template with null fails", `"${body.a}-x"`, missingText},
		{"a template", `"${body.state}/${body.deep.a.b}"`, "6/x"},
		{"join of a list", `join(",", sort(body.tags))`, "a,b"},
		{"contains compares text", `contains([5, 6], body.state)`, "true"},
		{"contains of a body's list", `contains(body.tags, "a")`, "true"},
		{"contains of nothing", `contains(["a"], body.a)`, missingText},
		{"&& with a missing side", `body.a != "x" && body.state == "6"`, missingText},
		{"&& settled by false", `body.a != "x" && body.state == "7"`, "false"},
		{"|| settled by true", `body.a != "x" || body.state == "6"`, "true"},
		{"! of missing", `!(body.a != "x")`, missingText},
		{"!", `!(body.state == "7")`, "true"},
		{"for over members that lack one", `[for f in body.fields : f.value if f.id == "3602"][0]`, "offline"},
		{"for with != leaves out what is missing", `join(",", [for f in body.fields : f.value if f.id != "3602"])`, "prn-12"},
		{"for over nothing", `[for f in body.nothing : f.v][0]`, missingText},
		{"for, a deep member that is absent", `[for f in body.fields : f.a.b.c == null][0]`, "true"},
		{"a splat", `(body.fields[*].value)[1]`, "offline"},
		{"a splat of what is absent", `length(body.nothing[*].x)`, "0"},
		{"pick", `pick(body.fields, "id", "3601").value`, "prn-12"},
		{"pick by a number", `pick(body.fields, "id", 3602).value`, "offline"},
		{"pick of none", `pick(body.fields, "id", "9").value`, missingText},
		{"pick of two", `pick(body.double, "id", "1").v`, missingText},
		{"absent, a placeholder", `absent(body.odd, ["N/A", "purple"])`, missingText},
		{"absent, a real value", `absent(body.odd, ["N/A", "-"])`, "purple"},
		{"absent of null", `absent(body.a, ["N/A"])`, missingText},
		{"a computed member", `body[body.which]`, "6"},
		{"a computed member that is absent", `coalesce(body[body.odd], "none")`, "none"},
		{"jsondecode", `jsondecode(body.text).k.v == 7`, "true"},
		{"jsondecode, absent", `jsondecode(body.text).x.y == null`, "true"},
		{"jsondecode fails", `try(jsondecode(body.cmdb_ci), "bad")`, "bad"},
		{"regex", `regex("^(db)-([0-9]+)", lower(body.cmdb_ci))[1]`, "07"},
		{"regex, named", `regex("(?P<n>[0-9]+)", body.cmdb_ci).n`, "07"},
		{"regex without a match is missing", `regex("^x", body.cmdb_ci)`, missingText},
		{"try after a failing regex", `try(regex("^x", body.cmdb_ci), body.state)`, "6"},
		{"try passes over null", `try(body.a, body.state)`, "6"},
		{"can", `can(regex("^x", body.cmdb_ci))`, "false"},
		{"replace", `replace(body.cmdb_ci, "-", "")`, "DB07.Corp"},
		{"replace a pattern", `replace(body.cmdb_ci, "/[0-9]+/", "N")`, "DB-N.Corp"},
		{"lookup", `lookup(body, "nothing", "default")`, "default"},
		{"lookup of a member", `lookup(body.deep.a, "b", "default")`, "x"},
		{"split", `split("-", body.cmdb_ci)[0]`, "DB"},
		{"sha256", `substr(sha256("x"), 0, 8)`, "2d711642"},
		{"numbers compare as numbers", `body.state > 5`, "true"},
		{"a condition", `body.state == "6" ? "resolved" : "open"`, "resolved"},
		{"headers in any case", `headers["Content-Type"]`, "application/json"},
		{"headers by dot", `headers.content-type`, "application/json"},
		{"a header that stands twice", `headers["x-twice"]`, missingText},
		{"query", `query.tenant`, "blue"},
		{"method, host, path", `"${method} ${host}${path}"`, "POST acme.service-now.com/api/now/table/incident"},
		{"env is read once", `"${env("REGION")}-${body.state}"`, "value of REGION-6"},
		{"severity", `severity(body.urgency)`, "minor"},
		{"the worst severity", `severity(body.urgency, body.impact)`, "critical"},
		{"a severity that the map lacks", `severity(body.odd)`, "purple"},
		{"no severity", `severity(body.a)`, missingText},
		{"client_key", `client_key(headers["idempotency-key"], "api")`, "api:abc-1"},
		{"no client_key", `try(client_key(headers["x-none"], "api"), "ours")`, "ours"},
		{"webhook_key", `webhook_key("pr", body.state)`, string(webhookKey("pr", "6"))},
		{"job_key", `job_key("mail", body.odd)`, string(dedup.JobKey("mail", []byte("purple")))},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := config.Evaluate(c.expression, request(t, expressionBody))
			if got.Problems != "" {
				t.Fatalf("%s: %s", c.expression, got.Problems)
			}
			if s := shown(got.HCL, got.HCLOK); s != c.want {
				t.Errorf("%s: HCL gave %q, want %q", c.expression, s, c.want)
			}
			if s := shown(got.Quick, got.QuickOK); got.IsQuick && s != c.want {
				t.Errorf("%s: Go gave %q, want %q", c.expression, s, c.want)
			}
		})
	}
}

func webhookKey(kind, id string) dedup.Key {
	key, _ := dedup.WebhookKey(kind, id)
	return key
}

func shown(text string, ok bool) string {
	if !ok {
		return missingText
	}
	return text
}

func TestCommonExpressionsAreCompiledToGo(t *testing.T) {
	for _, text := range []string{
		`body.a.b`, `lower(body.a)`, `trimspace(body.a)`, `coalesce(body.a, body.b.c)`, `body.a == "6"`, `body.a == null`,
		`severity(body.urgency)`, `contains(["6", "7"], body.a)`, `try(body.a, "x")`, `body.a == "1" || body.b != "2"`, `body != null`,
	} {
		if got := config.Evaluate(text, request(t, `{}`)); !got.IsQuick {
			t.Errorf("%s is not compiled: %s", text, got.Problems)
		}
	}
}

// TestGoAndHCLAgree makes expressions of what both evaluate, over bodies of
// all kinds of values.
func TestGoAndHCLAgree(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for range 3000 {
		expression, body := randomExpression(random, 3), randomBody(random)
		got := config.Evaluate(expression, request(t, body))
		if got.Problems != "" || !got.IsQuick {
			t.Fatalf("%s: compiled %v, %s", expression, got.IsQuick, got.Problems)
		}
		if q, h := shown(got.Quick, got.QuickOK), shown(got.HCL, got.HCLOK); q != h {
			t.Fatalf("%s over %s: Go gave %q, HCL %q", expression, body, q, h)
		}
	}
}

func randomExpression(r *rand.Rand, depth int) string {
	leaves := []string{`body.a`, `body.b`, `body.o.x`, `body.o`, `body.l`, `body.l[1]`, `body.none.x`, `"6"`, `" X "`, `""`, `6`, `true`, `null`,
		`headers["x-twice"]`, `query.tenant`, `method`}
	if depth == 0 {
		return leaves[r.IntN(len(leaves))]
	}
	sub := func() string { return randomExpression(r, depth-1) }
	truth := func() string { return "(" + sub() + []string{" == ", " != "}[r.IntN(2)] + sub() + ")" }
	switch r.IntN(10) {
	case 0:
		return "lower(" + sub() + ")"
	case 1:
		return "trimspace(" + sub() + ")"
	case 2:
		return "coalesce(" + sub() + ", " + sub() + ")"
	case 3:
		return truth()
	case 4:
		return "(" + truth() + " && " + truth() + ")"
	case 5:
		return "(" + truth() + " || !" + truth() + ")"
	case 6:
		return "try(" + sub() + ", " + sub() + ")"
	case 7:
		return "severity(" + sub() + ", " + sub() + ")"
	case 8:
		return `contains(["6", "x", true], ` + sub() + ")"
	}
	return leaves[r.IntN(len(leaves))]
}

func randomBody(r *rand.Rand) string {
	values := []string{`6`, `6.0`, `"6"`, `"x"`, `" X\u00a0"`, `true`, `null`, `""`, `"$HOST$"`, `{}`, `[]`, `{"x":"1"}`, `["x","high"]`, `1e99`, `"mu\u0308"`}
	var members []string
	for _, name := range []string{"a", "b", "l"} {
		if r.IntN(5) > 0 {
			members = append(members, fmt.Sprintf("%q:%s", name, values[r.IntN(len(values))]))
		}
	}
	if r.IntN(2) > 0 {
		members = append(members, fmt.Sprintf(`"o":{"x":%s}`, values[r.IntN(len(values))]))
	}
	return "{" + strings.Join(members, ",") + "}"
}
