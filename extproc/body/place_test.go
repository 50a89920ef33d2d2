package body_test

import (
	"strings"
	"testing"

	"oneticket/dedup"
	"oneticket/extproc/body"
)

const formType = "application/x-www-form-urlencoded"

// TestAKeyThatTheClientMakesAnewIsReplaced: what is volatile must not stand in
// the way of ours.
func TestAKeyThatTheClientMakesAnewIsReplaced(t *testing.T) {
	for _, c := range []struct {
		name, contentType, path, in, want string
	}{
		{"a clock in JSON", "", "dedup_key", `{"dedup_key": "1764410400" ,"a":1}`, `{"dedup_key": "idem:1" ,"a":1}`},
		{"a number", "", "k", `{"k":17}`, `{"k":"idem:1"}`},
		{"ours already", "", "k", `{"k":"idem:1"}`, `{"k":"idem:1"}`},
		{"none yet", "", "k", `{"a":1}`, `{"a":1,"k":"idem:1"}`},
		{"an object is none", "", "k", `{"k":{"a":1}}`, ""},
		{"twice", "", "k", `{"k":"a","k":"b"}`, ""},
		{"below", "", "incident.incident_key", `{"incident":{"incident_key":"uuid","title":"s"}}`, `{"incident":{"incident_key":"idem:1","title":"s"}}`},
		{"XML", "text/xml", "a.k", `<a><k>17<!-- c --></k><b/></a>`, `<a><k>idem:1</k><b/></a>`},
		{"an element of elements is none", "text/xml", "a.k", `<a><k><b>1</b></k></a>`, ""},
		{"a form", formType, "k", "a=1&k=17&b=2", "a=1&k=idem%3A1&b=2"},
		{"JSON in a form", formType, "input.k", "input=%7B%22k%22%3A%22x%22%7D", "input=%7B%22k%22%3A%22idem%3A1%22%7D"},
		{"RT's lines", formType, "content.CF.K", "content=id: ticket/new%0ACF.{K}: a%0A b%0AQueue: x", "content=id: ticket/new%0ACF.{K}:+idem%3A1%0AQueue: x"},
		{"multipart", "multipart/form-data; boundary=b", "k", "--b\r\nContent-Disposition: form-data; name=\"k\"\r\n\r\n17\r\n--b--\r\n", "--b\r\nContent-Disposition: form-data; name=\"k\"\r\n\r\nidem:1\r\n--b--\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := decoded(t, c.in, c.contentType).Put(body.Place{Path: strings.Split(c.path, "."), Over: true}, "idem:1")
			if string(got) != c.want || ok != (c.want != "") {
				t.Errorf("%q, %v\nwant %q", got, ok, c.want)
			}
		})
	}
}

// TestACustomFieldIsOneObjectOfAList as Redmine and Zendesk have them.
func TestACustomFieldIsOneObjectOfAList(t *testing.T) {
	for _, c := range []struct {
		name, contentType, in, want string
	}{
		{"no list", "", `{"issue":{"a":1}}`, `{"issue":{"a":1,"custom_fields":[{"id":7,"value":"idem:1"}]}}`},
		{"null", "", `{"issue":{"custom_fields":null}}`, `{"issue":{"custom_fields":[{"id":7,"value":"idem:1"}]}}`},
		{"an empty list", "", `{"issue":{"custom_fields":[ ]}}`, `{"issue":{"custom_fields":[{"id":7,"value":"idem:1"} ]}}`},
		{"beside others", "", `{"issue":{"custom_fields":[{"id":1,"value":"x"}]}}`, `{"issue":{"custom_fields":[{"id":1,"value":"x"},{"id":7,"value":"idem:1"}]}}`},
		{"there, without a value", "", `{"issue":{"custom_fields":[{"id":"7"},{"id":1,"value":"x"}]}}`, `{"issue":{"custom_fields":[{"id":"7","value":"idem:1"},{"id":1,"value":"x"}]}}`},
		{"there, blank", "", `{"issue":{"custom_fields":[{"value":"","id":7}]}}`, `{"issue":{"custom_fields":[{"value":"idem:1","id":7}]}}`},
		{"the client's own", "", `{"issue":{"custom_fields":[{"id":7,"value":"own"}]}}`, ""},
		{"there twice", "", `{"issue":{"custom_fields":[{"id":7},{"id":"7"}]}}`, ""},
		{"no list at all", "", `{"issue":{"custom_fields":{"id":7}}}`, ""},
		{"nothing around it", "", `{"a":1}`, ""},
		{"XML, no list", "application/xml", `<issue><a>1</a></issue>`, `<issue><a>1</a><custom_fields type="array"><custom_field id="7"><value>idem:1</value></custom_field></custom_fields></issue>`},
		{"XML, beside others", "application/xml", "<issue>\n <custom_fields type=\"array\">\n  <custom_field id=\"1\"><value>x</value></custom_field>\n </custom_fields>\n</issue>",
			"<issue>\n <custom_fields type=\"array\">\n  <custom_field id=\"1\"><value>x</value></custom_field><custom_field id=\"7\"><value>idem:1</value></custom_field>\n </custom_fields>\n</issue>"},
		{"XML, an empty list", "application/xml", `<issue><custom_fields type="array"/></issue>`, `<issue><custom_fields type="array"><custom_field id="7"><value>idem:1</value></custom_field></custom_fields></issue>`},
		{"XML, there, blank", "application/xml", `<issue><custom_fields type="array"><custom_field id="7"><value/></custom_field></custom_fields></issue>`,
			`<issue><custom_fields type="array"><custom_field id="7"><value>idem:1</value></custom_field></custom_fields></issue>`},
		{"XML, named by an element", "application/xml", `<issue><custom_fields><custom_field><id>7</id></custom_field></custom_fields></issue>`,
			`<issue><custom_fields><custom_field><id>7</id><value>idem:1</value></custom_field></custom_fields></issue>`},
		{"XML, the client's own", "application/xml", `<issue><custom_fields type="array"><custom_field id="7"><value>own</value></custom_field></custom_fields></issue>`, ""},
		{"JSON in a form", formType, "issue=%7B%7D", "issue=%7B%22custom_fields%22%3A%5B%7B%22id%22%3A7%2C%22value%22%3A%22idem%3A1%22%7D%5D%7D"},
		{"a form of its own has no lists of objects", formType, "custom_fields=1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := body.Place{Path: strings.Split("issue.custom_fields", "."), Item: &dedup.TokenItem{Name: "id", Is: "7", Value: "value", Element: "custom_field"}}
			got, ok := decoded(t, c.in, c.contentType).Put(at, "idem:1")
			if string(got) != c.want || ok != (c.want != "") {
				t.Errorf("%q, %v\nwant %q", got, ok, c.want)
			}
			if at.Over = true; c.name == "the client's own" {
				got, _ := decoded(t, c.in, c.contentType).Put(at, "idem:1")
				if want := `{"issue":{"custom_fields":[{"id":7,"value":"idem:1"}]}}`; string(got) != want {
					t.Errorf("volatile: %s", got)
				}
			}
		})
	}
}

func TestAnObjectIsNamedByATextOrANumber(t *testing.T) {
	at := body.Place{Path: []string{"f"}, Item: &dedup.TokenItem{Name: "name", Is: "One 1", Value: "v"}}
	got, ok := body.Put([]byte(`{}`), at, "t")
	if want := `{"f":[{"name":"One 1","v":"t"}]}`; string(got) != want || !ok {
		t.Errorf("%s", got)
	}
	if got, ok := decoded(t, "<a><f/></a>", "text/xml").Put(body.Place{Path: []string{"a", "f"}, Item: at.Item}, "t"); ok {
		t.Errorf("XML without a name for its elements: %s", got)
	}
}
