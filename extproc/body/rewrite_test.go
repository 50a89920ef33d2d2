package body_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"oneticket/extproc/body"
)

const token = "idem:0123456789abcdef0123456789abcdef"

func TestTheTokenIsAddedAndNothingElseChanges(t *testing.T) {
	one := []string{"correlation_id"}
	two := []string{"ticket", "external_id"}
	for name, c := range map[string]struct {
		path     []string
		in, want string // want "" = left as it is
	}{
		"absent":                        {one, `{"a":1}`, `{"a":1,"correlation_id":"` + token + `"}`},
		"an empty object":               {one, `{}`, `{"correlation_id":"` + token + `"}`},
		"an empty object with blanks":   {one, "{ \n}", `{"correlation_id":"` + token + "\" \n}"},
		"white space and a last line":   {one, "\n{\n  \"a\" : 1.0e2\n}\n", "\n{\n  \"a\" : 1.0e2,\"correlation_id\":\"" + token + "\"\n}\n"},
		"a byte order mark":             {one, "\xEF\xBB\xBF{\"a\":1}", "\xEF\xBB\xBF{\"a\":1,\"correlation_id\":\"" + token + "\"}"},
		"escapes, braces and brackets":  {one, `{"a\"}":"]}\\","b":[{"c":"{"}]}`, `{"a\"}":"]}\\","b":[{"c":"{"}],"correlation_id":"` + token + `"}`},
		"a repeated other member":       {one, `{"a":1,"a":2}`, `{"a":1,"a":2,"correlation_id":"` + token + `"}`},
		"the same name further down":    {one, `{"x":{"correlation_id":"mine"}}`, `{"x":{"correlation_id":"mine"},"correlation_id":"` + token + `"}`},
		"null":                          {one, `{"correlation_id":null,"a":1}`, `{"correlation_id":"` + token + `","a":1}`},
		"blank":                         {one, `{"a":1,"correlation_id": " "}`, `{"a":1,"correlation_id": "` + token + `"}`},
		"the name in escapes":           {one, `{"correlation\u005fid":""}`, `{"correlation\u005fid":"` + token + `"}`},
		"the client's own":              {one, `{"correlation_id":"mine"}`, ""},
		"the client's own number":       {one, `{"correlation_id":7}`, ""},
		"an object in its place":        {one, `{"correlation_id":{}}`, ""},
		"there twice":                   {one, `{"correlation_id":"","correlation_id":""}`, ""},
		"nested":                        {two, `{"ticket":{"subject":"x"},"z":[]}`, `{"ticket":{"subject":"x","external_id":"` + token + `"},"z":[]}`},
		"nested, the client's own":      {two, `{"ticket":{"external_id":"x"}}`, ""},
		"nested in what is not there":   {two, `{"a":1}`, ""},
		"nested in what is no object":   {two, `{"ticket":[1]}`, ""},
		"nested in what is there twice": {two, `{"ticket":{},"ticket":{}}`, ""},
		"a list":                        {one, `[{"a":1}]`, ""},
		"a scalar":                      {one, `1`, ""},
		"cut off":                       {one, `{"a":1,"b":`, ""},
		"a form":                        {one, `a=1&b=2`, ""},
		"nothing":                       {one, ``, ""},
		"no path":                       {nil, `{}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := body.SetField([]byte(c.in), c.path, token)
			if ok != (c.want != "") || string(got) != c.want {
				t.Errorf("got %v %s\nwant %s", ok, got, c.want)
			}
		})
	}
}

func TestATokenOfTheClientIsQuoted(t *testing.T) {
	got, ok := body.SetField([]byte(`{}`), []string{"k"}, "a\"b\\<\n")
	if want := `{"k":"a\"b\\<\n"}`; !ok || string(got) != want {
		t.Errorf("got %v %s, want %s", ok, got, want)
	}
}

func TestARewrittenBodyIsEncodedAsItCame(t *testing.T) {
	const want = `{"cmdb_ci":"Brücke-7","impact":"2","k":"` + token + `"}`
	for name, c := range map[string]struct {
		raw             []byte
		contentType     string
		contentEncoding string
		mark            string
	}{
		"gzip":           {gzipped(t, create), "", "gzip", ""},
		"deflate":        {zlibbed(t, create), "", "deflate", ""},
		"raw deflate":    {flated(t, create), "", "deflate", ""},
		"br":             {brotlied(t, create), "", "br", ""},
		"zstd":           {zstandard(t, create), "", "zstd", ""},
		"latin1":         {latin1(t, create), "text/plain; charset=latin1", "", ""},
		"latin1 gzipped": {gzipped(t, string(latin1(t, create))), "text/plain; charset=latin1", "gzip", ""},
		"mark":           {[]byte("\xEF\xBB\xBF" + create), "", "", "\xEF\xBB\xBF"},
		"utf-16":         {utf16(t, create, unicode.BigEndian, unicode.UseBOM), "", "", "\xFE\xFF"},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := body.Decode(c.raw, c.contentType, c.contentEncoding, body.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			raw, ok := b.SetField([]string{"k"}, token)
			if !ok {
				t.Fatal("not rewritten")
			}
			again, err := body.Decode(raw, c.contentType, c.contentEncoding, body.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if string(again.Text) != want {
				t.Errorf("text %s", again.Text)
			}
			if !bytes.HasPrefix(again.Plain, []byte(c.mark)) {
				t.Errorf("the mark is gone: %q", again.Plain)
			}
		})
	}
}

// A member is only ever added to what is, and stays, JSON.
func FuzzSetField(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,{"k":""}],"k":null}`, "\xEF\xBB\xBF{ }", `{"t":{"k":" "}}`, `{"k"`, `{"a":"\ud800"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, path := range [][]string{{"k"}, {"t", "k"}} {
			got, ok := body.SetField(text, path, token)
			if !ok {
				continue
			}
			got = bytes.TrimPrefix(got, []byte("\xEF\xBB\xBF"))
			var v any
			if err := json.Unmarshal(got, &v); err != nil {
				t.Fatalf("%q became %q: %v", text, got, err)
			}
			for _, name := range path {
				v = v.(map[string]any)[name]
			}
			if v != token {
				t.Fatalf("%q became %q", text, got)
			}
		}
	})
}
