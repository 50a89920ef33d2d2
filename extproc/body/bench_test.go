package body_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"oneticket/extproc/body"
)

// Creates of 2 kB that say the same, in each form that there is.
func sameInEachForm() map[string]struct{ text, contentType, root string } {
	prose := strings.Repeat("lorem ipsum dolor ", 100)
	asJSON := `{"host":"db-07","check":"disk /var","severity":"2","description":"` + prose + `"}`
	quoted, _ := json.Marshal(asJSON)
	return map[string]struct{ text, contentType, root string }{
		"json":         {asJSON, "application/json", ""},
		"form":         {"host=db-07&check=disk+%2Fvar&severity=2&description=" + url.QueryEscape(prose), urlencoded, ""},
		"json in form": {"payload=" + url.QueryEscape(asJSON), urlencoded, "payload/"},
		"rt in form":   {"content=" + url.QueryEscape("id: ticket/new\nhost: db-07\ncheck: disk /var\nseverity: 2\ndescription: "+prose+"\n"), urlencoded, "content/"},
		"multipart":    {multipartOf("X", "host", "db-07", "check", "disk /var", "severity", "2", "description", prose), ofX, ""},
		"soap": {`<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><Create xmlns="urn:example:helpdesk"><host>db-07</host><check>disk /var</check>` +
			"<severity>2</severity><description>" + prose + "</description></Create></s:Body></s:Envelope>", xmlType, "Envelope/Body/Create/"},
		"graphql": {`{"query":"mutation R($i: I!) { raise(input: $i) }","variables":{"i":` + asJSON + `},"extra":` + string(quoted[:1]) + `"}`, "application/json", "variables/i/"},
	}
}

func BenchmarkValue(b *testing.B) {
	for name, c := range sameInEachForm() {
		b.Run(name, func(b *testing.B) {
			want := wanting(c.root+"host", c.root+"check", c.root+"severity")
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				d, err := body.Decode([]byte(c.text), c.contentType, "", body.Limits{})
				if err != nil {
					b.Fatal(err)
				}
				v, err := d.Value(want)
				if err != nil || at(v, c.root+"check") != "disk /var" {
					b.Fatal(err, v)
				}
			}
		})
	}
}

func BenchmarkSetField(b *testing.B) {
	for name, c := range sameInEachForm() {
		b.Run(name, func(b *testing.B) {
			path := strings.Split(c.root+"key", "/")
			d, err := body.Decode([]byte(c.text), c.contentType, "", body.Limits{})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := d.SetField(path, token); !ok {
					b.Fatal("not rewritten")
				}
			}
		})
	}
}

func BenchmarkCodings(b *testing.B) {
	text := strings.Repeat(create, 60)
	for name, raw := range map[string][]byte{"gzip": gzipped(b, text), "br": brotlied(b, text), "zstd": zstandard(b, text), "deflate": zlibbed(b, text)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := body.Decode(raw, "application/json", name, body.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
