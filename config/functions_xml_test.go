package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"oneticket/config"
)

const xmlBody = `{"issue":{"subject":"disk","{urn:r}subject":"other","custom":{"@id":"7"},"labels":["a"]},
 "{urn:r}issue":{"{urn:r}subject":"spaced"},
 "Envelope":{"Body":{"Create":{"Item":"db-07"},"{http://example.test/hd}Create":{"{http://example.test/hd}Item":" db-08 "},"subject":"in the envelope"}},
 "twice":{"issue":{"subject":"below"}}}`

func TestElementsAreFoundByNamespace(t *testing.T) {
	for name, c := range map[string]struct{ expression, want string }{
		"by local names":         {`xml(body, "issue/subject")`, "disk"},
		"by namespace":           {`xml(body, "issue/{urn:r}subject")`, "other"},
		"all by namespace":       {`xml(body, "{urn:r}issue/{urn:r}subject")`, "spaced"},
		"another namespace":      {`xml(body, "{urn:x}issue/subject")`, missingText},
		"in a SOAP body":         {`xml(body, "Create/Item")`, "db-07"},
		"slashes in a namespace": {`xml(body, "{http://example.test/hd}Create/{http://example.test/hd}Item")`, "db-08"},
		"from the envelope":      {`xml(body, "Envelope/Body/Create/Item")`, "db-07"},
		"one step in the body":   {`xml(body, "subject")`, "in the envelope"},
		"an attribute":           {`xml(body, "issue/custom/@id")`, "7"},
		"a place in the body":    {`xml(body.twice, "issue/subject")`, "below"},
		"an element of others":   {`xml(body, "issue/custom")`, missingText},
		"is there":               {`xml(body, "issue/custom") != null`, "true"},
		"is not there":           {`xml(body, "issue/nothing/at/all") == null`, "true"},
		"inside of others":       {`lower(coalesce(xml(body, "issue/none"), upper(xml(body, "Create/Item"))))`, "db-07"},
		"compared":               {`xml(body, "issue/custom/@id") == 7`, "true"},
		"a list":                 {`contains(xml(body, "issue/labels"), "a")`, "true"},
	} {
		t.Run(name, func(t *testing.T) { checkBothWays(t, xmlBody, c.expression, c.want) })
	}
}

// checkBothWays evaluates the expression by Go, where that can, and by HCL.
func checkBothWays(t *testing.T, body, expression, want string) {
	t.Helper()
	e := config.Evaluate(expression, request(t, body))
	if e.Problems != "" {
		t.Fatal(e.Problems)
	}
	if !e.HCLOK {
		e.HCL = missingText
	}
	if !e.QuickOK {
		e.Quick = missingText
	}
	if e.HCL != want || e.IsQuick && e.Quick != want {
		t.Errorf("HCL %q, Go %q (%v), want %q", e.HCL, e.Quick, e.IsQuick, want)
	}
}

func TestAPathOfXMLThatIsNone(t *testing.T) {
	for _, expression := range []string{
		`xml(body, "")`, `xml(body, "a/")`, `xml(body, "/a")`, `xml(body, "{urn:r")`, `xml(body, "{urn:r}")`, `xml(body, "@a/b")`, `xml(body, "a//b")`, `xml(body, "{u}@a")`,
		`xml(body, body.path)`, `xml(headers, "a")`, `xml(path, "a")`, `xml("<a/>", "a")`, `xml(lower(body.a), "a")`, `xml(body)`, `[for b in body.list : xml(b, "c")][0]`,
		`graphql(headers)`, `graphql(body.a, "b")`, `graphql("{ a }")`,
	} {
		if e := config.Evaluate(expression, request(t, "{}")); e.Problems == "" {
			t.Errorf("%s is taken", expression)
		}
	}
}

func TestTheOperationOfADocument(t *testing.T) {
	const fields = `join(",", graphql(body).fields)`
	for name, c := range map[string]struct{ document, operation, kind, fields string }{
		"a mutation":            {"mutation Raise($input: In!) { raise(input: $input) }", "", "mutation", "raise"},
		"remarks and line ends": {"# retry\nmutation R2($input: In!) {\r\n  raise(\n    input: $input\n  )\n}\n", "", "mutation", "raise"},
		"shorthand":             {"{ incidents { urn } }", "", "query", "incidents"},
		"a subscription":        {"subscription { changed { id } }", "", "subscription", "changed"},
		"what only a text says": {`query Q { incidents(text: "mutation { raise }") { urn } }`, "", "query", "incidents"},
		"in a text of blocks":   {"query { a(t: \"\"\"x \\\"\"\" { } \"\" y\"\"\") b }", "", "query", "a,b"},
		"a quote in a text":     {`mutation { raise(t: "a\"} # \\") { id } }`, "", "mutation", "raise"},
		"an alias":              {"mutation { mine: raise(a: 1) { id } }", "", "mutation", "raise"},
		"two of one":            {"mutation { a: raise, b: raise }", "", "mutation", "raise,raise"},
		"literals":              {`mutation { raise(input: {a: "x", k: HIGH, n: -1.5e+3, l: [1, {b: true}]}) }`, "", "mutation", "raise"},
		"directives":            {`mutation M @a(b: {c: 1}) { raise @include(if: $x) @b { id } }`, "", "mutation", "raise"},
		"defaults":              {`mutation M($a: [In!]! = [{b: "}"}] @d) { raise }`, "", "mutation", "raise"},
		"by its name":           {"query A { a } mutation B { b }", "B", "mutation", "b"},
		"of two, none named":    {"query A { a } mutation B { b }", "", missingText, missingText},
		"no such name":          {"query A { a }", "B", missingText, missingText},
		"two of a name":         {"query A { a } query A { b }", "A", missingText, missingText},
		"a fragment":            {"mutation { ...F } fragment F on Mutation { raise ...G } fragment G on Mutation { x }", "", "mutation", "raise,x"},
		"one written out":       {"mutation { ... on Mutation @a { raise } ... { x } ... @b { y } }", "", "mutation", "raise,x,y"},
		"a fragment of none":    {"mutation { ...F }", "", missingText, missingText},
		"a fragment in itself":  {"mutation { ...F } fragment F on M { ...G } fragment G on M { ...F }", "", missingText, missingText},
		"fields named as words": {"mutation { on: mutation fragment query }", "", "mutation", "mutation,fragment,query"},
		"cut off":               {"mutation { raise(input: {a: 1)", "", missingText, missingText},
		"brackets that cross":   {"mutation { raise(input: [1)] }", "", missingText, missingText},
		"nothing asked":         {"mutation { }", "", missingText, missingText},
		"a schema":              {"type A { b: C }", "", missingText, missingText},
		"prose":                 {"raise an incident", "", missingText, missingText},
		"a text cut off":        {"mutation { raise(a: \"x\n\") }", "", missingText, missingText},
		"only fragments":        {"fragment F on M { a }", "", missingText, missingText},
		"deep":                  {"mutation { a" + strings.Repeat("{ a ", 5000) + strings.Repeat("}", 5000) + " }", "", "mutation", "a"},
		"deep fragments":        {"mutation { " + strings.Repeat("...{ ", 5000) + "a" + strings.Repeat("}", 5000) + " }", "", missingText, missingText},
	} {
		t.Run(name, func(t *testing.T) {
			sent := map[string]any{"query": c.document, "variables": map[string]any{}}
			if c.operation != "" {
				sent["operationName"] = c.operation
			}
			text, err := json.Marshal(sent)
			if err != nil {
				t.Fatal(err)
			}
			checkBothWays(t, string(text), "graphql(body).type", c.kind)
			checkBothWays(t, string(text), fields, c.fields)
		})
	}
	t.Run("no document", func(t *testing.T) {
		checkBothWays(t, `{"query":7}`, fields, missingText)
		checkBothWays(t, `{"variables":{}}`, `contains(graphql(body).fields, "raise")`, missingText)
		checkBothWays(t, `[{"query":"{ a }"}]`, `graphql(body[0]).type`, "query")
	})
}

func FuzzGraphQL(f *testing.F) {
	for _, seed := range []string{"mutation R($i: In!) { a: raise(i: $i) @b { id } ...F } fragment F on M { x }", `{ a(t: """x\"""""", n: -1.5e3) }`, "query A{a}#\nquery B{... on C{b}}", "\uFEFF,,{a}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, document string) {
		kind, fields, ok := config.GraphQLOperation(document, "")
		if ok != (kind != "") || ok && len(fields) == 0 {
			t.Fatalf("%q: %q %v %v", document, kind, fields, ok)
		}
		for _, name := range fields {
			if !strings.Contains(document, name) {
				t.Fatalf("%q has no %q", document, name)
			}
		}
		// Blanks and commas say nothing, nor does a remark at the end.
		again, same, okAgain := config.GraphQLOperation(" ,"+document+"\n# x", "")
		if okAgain != ok || again != kind || strings.Join(same, " ") != strings.Join(fields, " ") {
			t.Fatalf("%q: %v %v, then %v %v", document, kind, fields, again, same)
		}
	})
}

func TestOperationsOfJSONPatch(t *testing.T) {
	const patch = `[{"op":"add","path":"/fields/System.Title","value":"disk"},{"op":"add","path":"/fields/Microsoft.VSTS.Common.Severity","value":"1 - Critical"},{"op":"add","path":"/fields/n","value":7}]`
	checkBothWays(t, patch, `[for o in body : o.value if o.path == "/fields/System.Title"][0]`, "disk")
	checkBothWays(t, patch, `pick(body, "path", "/fields/Microsoft.VSTS.Common.Severity").value`, "1 - Critical")
	checkBothWays(t, patch, `pick(body, "path", "/fields/n").value == 7`, "true")
	checkBothWays(t, patch, `pick(body, "path", "/fields/none").value`, missingText)
}
