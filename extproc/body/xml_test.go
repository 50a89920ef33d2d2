package body_test

import (
	"strings"
	"testing"
)

const xmlType = "text/xml; charset=utf-8"

const soapCreate = `<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:hd="urn:example:helpdesk">
<soapenv:Header><Stamp xmlns="urn:example:sec" id="s1">2026-03-01T04:12:07Z</Stamp></soapenv:Header>
<soapenv:Body><hd:Create><hd:Item>db-07</hd:Item><hd:Fault>disk &amp; inode</hd:Fault><hd:Impact>2</hd:Impact></hd:Create></soapenv:Body>
</soapenv:Envelope>
`

const soapAgain = `<S:Envelope xmlns:S="http://schemas.xmlsoap.org/soap/envelope/"><S:Header/><S:Body>
<Create xmlns="urn:example:helpdesk"><o:Item xmlns:o="urn:example:other">db-99</o:Item><Impact>2</Impact><!-- again --><Fault><![CDATA[disk & inode]]></Fault><Item> db-07 </Item></Create>
</S:Body></S:Envelope>`

func TestElementsByNameAndByNamespace(t *testing.T) {
	const create = "Envelope/Body/Create/"
	const spaced = "Envelope/Body/{urn:example:helpdesk}Create/{urn:example:helpdesk}"
	checkPlaces(t, decoded(t, soapCreate, xmlType), map[string]string{
		create + "Item": "db-07", create + "Fault": "disk & inode", create + "Impact": "2", create + "Other": missing, create + "Item/x": missing,
		spaced + "Item": "db-07", spaced + "Fault": "disk & inode", "Envelope/Body/{urn:other}Create/Item": missing,
		"Envelope/Header/Stamp": "2026-03-01T04:12:07Z", "Envelope/Body/{urn:example:helpdesk}Create/Impact": "2", "Envelope/Body/Create": missing,
	})
	checkPlaces(t, decoded(t, soapAgain, xmlType), map[string]string{
		create + "Fault": "disk & inode", create + "Item": missing, create + "Item/0": "db-99", create + "Item/1": "db-07",
		spaced + "Item": "db-07", spaced + "Fault": "disk & inode", "Envelope/Body/Create/{urn:example:other}Item": "db-99",
	})
}

// Both names of one element in one rule.
func TestAnElementIsWantedTwice(t *testing.T) {
	v, err := decoded(t, soapCreate, xmlType).Value(wanting("Envelope/Body/Create/Item", "Envelope/Body/{urn:example:helpdesk}Create/{urn:example:helpdesk}Fault", "Envelope/Body/Create/{urn:example:helpdesk}Item"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"Envelope/Body/Create/Item": "db-07", "Envelope/Body/{urn:example:helpdesk}Create/{urn:example:helpdesk}Fault": "disk & inode",
		"Envelope/Body/Create/{urn:example:helpdesk}Item": "db-07", "Envelope/Body/Create/Fault": missing,
	} {
		if got := at(v, path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}

func TestXMLAsItIs(t *testing.T) {
	for name, c := range map[string]struct {
		text, contentType string
		places            map[string]string
	}{
		"Redmine's": {"<issue><project_id>1</project_id><subject>x &lt;y&gt; &#252;&#xFC;</subject>" +
			`<custom_fields type="array"><custom_field id="3"><value>k</value></custom_field></custom_fields></issue>`, "application/xml",
			map[string]string{"issue/project_id": "1", "issue/subject": "x <y> üü", "issue/custom_fields/custom_field/0/value": "k", "issue/custom_fields/custom_field/0/@id": "3"}},
		"two of a name":                {"<a><b>1</b><c/><b>2</b></a>", "", map[string]string{"a/b": missing, "a/b/0": "1", "a/b/1": "2", "a/c": missing}},
		"types of SOAP":                {`<a xmlns:xsi="u"><b xsi:type="xsd:string">x</b></a>`, "", map[string]string{"a/b": "x"}},
		"attributes of an element":     {`<a><b id='7' x:n="&quot;" xmlns:x="u"><c/></b></a>`, "", map[string]string{"a/b/@id": "7", "a/b/@n": `"`, "a/b/@xmlns": missing}},
		"attributes alone":             {`<a><b id="7"/></a>`, "", map[string]string{"a/b/@id": "7", "a/b": missing}},
		"two of a local name":          {`<a><b id="7" x:id="8" xmlns:x="u"><c/></b></a>`, "", map[string]string{"a/b/@id": missing}},
		"text in pieces":               {"<a><b>db<!-- x -->-<![CDATA[0]]>&#55;<?x y?></b></a>", "", map[string]string{"a/b": "db-07"}},
		"text beside elements":         {"<a>text<b>x</b></a>", "", map[string]string{"a/b": "x", "a": missing}},
		"line ends":                    {"<a><b>x\r\ny\rz&#13;</b></a>", "", map[string]string{"a/b": "x\ny\nz"}},
		"a default that is taken off":  {`<a xmlns="u"><b xmlns=""><c>x</c></b></a>`, "", map[string]string{"a/{}b/{}c": "x", "a/{u}b": missing, "{u}a/b/c": "x"}},
		"a prefix of nothing":          {"<a><p:b>x</p:b></a>", "", map[string]string{"a/b": "x", "a/{p}b": missing}},
		"sent as JSON":                 {"\n <a><b>x</b></a>", "application/json", map[string]string{"a/b": "x"}},
		"an encoding that it declares": {"<?xml version='1.0' encoding='ISO-8859-1'?><a><b>br\xFCcke</b></a>", "text/xml", map[string]string{"a/b": "brücke"}},
		"a header that knows better":   {"<?xml version='1.0' encoding='ISO-8859-1'?><a><b>brücke</b></a>", xmlType, map[string]string{"a/b": "brücke"}},
		"a declaration that is wrong":  {"<?xml version='1.0' encoding='utf-16'?><a><b>x</b></a>", "text/xml", map[string]string{"a/b": "x"}},
		"depth":                        {strings.Repeat("<a>", 200) + strings.Repeat("</a>", 200), "", map[string]string{"a/a/b": missing}},
	} {
		t.Run(name, func(t *testing.T) { checkPlaces(t, decoded(t, c.text, c.contentType), c.places) })
	}
	t.Run("UTF-16 without a mark", func(t *testing.T) {
		text := "<\x00?\x00x\x00m\x00l\x00?\x00>\x00<\x00a\x00>\x001\x00<\x00/\x00a\x00>\x00"
		checkPlaces(t, decoded(t, text, "text/xml"), map[string]string{"a": "1"})
	})
}

func TestXMLThatIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"a document type":      `<!DOCTYPE a><a/>`,
		"the billion laughs":   `<!DOCTYPE a [<!ENTITY b "x">]><a>&b;</a>`,
		"an entity":            `<a>&b;</a>`,
		"an entity aside":      `<a><b>&nbsp;</b></a>`,
		"half an entity":       `<a>&amp</a>`,
		"a character of none":  `<a>&#0;</a>`,
		"a surrogate":          `<a>&#xD800;</a>`,
		"a wrong end":          `<a><b></a></b>`,
		"a longer end":         `<a></ab>`,
		"two roots":            `<a/><b/>`,
		"text behind":          `<a/>x`,
		"no root":              `<!-- a -->`,
		"an attribute twice":   `<a b="1" b="2"/>`,
		"a bare attribute":     `<a b/>`,
		"a tag in a value":     `<a b="<c>"/>`,
		"an entity in a value": `<a b="&c;"/>`,
		"a comment cut off":    `<a><!-- </a>`,
		"CDATA cut off":        `<a><![CDATA[ </a>`,
		"a prefix alone":       `<a:/>`,
		"HTML":                 "<html><br></html>",
		"too deep":             strings.Repeat("<a>", 300) + strings.Repeat("</a>", 300),
		"too many":             "<a>" + strings.Repeat("<b/>", 1<<18) + "</a>",
		"too many attributes":  "<a" + strings.Repeat(" b='1'", 100) + "/>",
	} {
		t.Run(name, func(t *testing.T) {
			b := decoded(t, text, xmlType)
			if v, err := b.Value(nil); err == nil {
				t.Errorf("got %v", v)
			}
			checkSet(t, text, xmlType, []string{"a", "b"}, "")
		})
	}
}

func TestTheTokenInXML(t *testing.T) {
	inCreate := []string{"Envelope", "Body", "Create", "Key"}
	issue := []string{"issue", "key"}
	for name, c := range map[string]struct {
		path     []string
		in, want string
	}{
		"beside others, with their prefix":    {inCreate, soapCreate, strings.Replace(soapCreate, "</hd:Impact>", "</hd:Impact><hd:Key>idem:1</hd:Key>", 1)},
		"beside others, in the default space": {inCreate, soapAgain, strings.Replace(soapAgain, "</Item></Create>", "</Item><Key>idem:1</Key></Create>", 1)},
		"its layout":                          {issue, "<issue>\n  <a/>\n</issue>\n", "<issue>\n  <a/><key>idem:1</key>\n</issue>\n"},
		"an empty parent":                     {issue, "<issue></issue>", "<issue><key>idem:1</key></issue>"},
		"a parent in one tag":                 {issue, `<x:issue a="1" />`, `<x:issue a="1" ><x:key>idem:1</x:key></x:issue>`},
		"empty":                               {issue, "<issue><key> </key><b/></issue>", "<issue><key>idem:1</key><b/></issue>"},
		"empty, in one tag":                   {issue, `<issue><key t="s"/></issue>`, `<issue><key t="s">idem:1</key></issue>`},
		"empty, with a remark":                {issue, `<issue><key><!--x--></key></issue>`, `<issue><key><!--x-->idem:1</key></issue>`},
		"his own":                             {issue, "<issue><key>k</key></issue>", ""},
		"an element in its place":             {issue, "<issue><key><a/></key></issue>", ""},
		"twice":                               {issue, "<issue><key/><key/></issue>", ""},
		"null, as SOAP says it":               {issue, `<issue><key xsi:nil="true"/></issue>`, ""},
		"a parent that is text":               {issue, "<issue>x</issue>", ""},
		"no parent":                           {[]string{"issue", "a", "key"}, "<issue><b/></issue>", ""},
		"two parents":                         {[]string{"issue", "a", "key"}, "<issue><a/><a/></issue>", ""},
		"another root":                        {issue, "<x><key/></x>", ""},
		"the root itself":                     {[]string{"issue"}, "<issue/>", ""},
		"no name of an element":               {[]string{"issue", "a b"}, "<issue/>", ""},
	} {
		t.Run(name, func(t *testing.T) { checkSet(t, c.in, xmlType, c.path, c.want) })
	}
	t.Run("a list", func(t *testing.T) {
		checkAdd(t, "<a><l>x</l><b/></a>", xmlType, []string{"a", "l"}, "<a><l>x</l><l>idem:1</l><b/></a>")
		checkAdd(t, "<a><l>x</l><l>idem:1</l></a>", xmlType, []string{"a", "l"}, "")
		checkAdd(t, "<a><b/></a>", xmlType, []string{"a", "l"}, "<a><b/><l>idem:1</l></a>")
	})
	t.Run("latin1", func(t *testing.T) {
		const head = "<?xml version='1.0' encoding='ISO-8859-1'?><issue><a>br\xFCcke</a>"
		checkSet(t, head+"</issue>", "text/xml", issue, head+"<key>idem:1</key></issue>")
	})
}
