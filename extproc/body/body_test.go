package body_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"oneticket/dedup"
	"oneticket/extproc/body"
)

const create = `{"cmdb_ci":"Brücke-7","impact":"2"}`

func packed(t testing.TB, text string, to func(io.Writer) io.WriteCloser) []byte {
	t.Helper()
	var out bytes.Buffer
	w := to(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gzipped(t testing.TB, text string) []byte {
	return packed(t, text, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
}

func zlibbed(t testing.TB, text string) []byte {
	return packed(t, text, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })
}

func flated(t testing.TB, text string) []byte {
	return packed(t, text, func(w io.Writer) io.WriteCloser {
		f, err := flate.NewWriter(w, flate.BestSpeed)
		if err != nil {
			t.Fatal(err)
		}
		return f
	})
}

func brotlied(t testing.TB, text string) []byte {
	return packed(t, text, func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) })
}

func zstandard(t testing.TB, text string) []byte {
	return packed(t, text, func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w)
		if err != nil {
			t.Fatal(err)
		}
		return z
	})
}

func latin1(t *testing.T, text string) []byte {
	t.Helper()
	out, err := charmap.ISO8859_1.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(out)
}

func utf16(t *testing.T, text string, order unicode.Endianness, bom unicode.BOMPolicy) []byte {
	t.Helper()
	out, err := unicode.UTF16(order, bom).NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheSameBodyHoweverItWasEncoded(t *testing.T) {
	for name, c := range map[string]struct {
		raw             []byte
		contentType     string
		contentEncoding string
	}{
		"plain":                      {[]byte(create), "application/json", ""},
		"no content type":            {[]byte(create), "", ""},
		"sent as a form":             {[]byte(create), "application/x-www-form-urlencoded", ""},
		"byte order mark":            {[]byte("\xEF\xBB\xBF" + create), "application/json", ""},
		"identity":                   {[]byte(create), "application/json", "identity"},
		"gzip":                       {gzipped(t, create), "application/json", "gzip"},
		"x-gzip in capitals":         {gzipped(t, create), "application/json", " X-GZIP "},
		"deflate":                    {zlibbed(t, create), "application/json", "deflate"},
		"deflate without its frame":  {flated(t, create), "application/json", "deflate"},
		"br":                         {brotlied(t, create), "application/json", "br"},
		"zstd":                       {zstandard(t, create), "application/json", "ZSTD"},
		"latin1":                     {latin1(t, create), "application/json; charset=latin1", ""},
		"ISO-8859-1 quoted":          {latin1(t, create), `text/plain;Charset="ISO-8859-1"`, ""},
		"latin1 and gzip":            {gzipped(t, string(latin1(t, create))), "application/json;charset=iso-8859-1", "gzip"},
		"utf-16 by its mark":         {utf16(t, create, unicode.LittleEndian, unicode.UseBOM), "application/json", ""},
		"utf-16 by name, big end":    {utf16(t, create, unicode.BigEndian, unicode.IgnoreBOM), "application/json; charset=utf-16", ""},
		"utf-16 by name, little end": {utf16(t, create, unicode.LittleEndian, unicode.IgnoreBOM), "application/json; charset=utf-16", ""},
		"a mark that knows better":   {[]byte("\xEF\xBB\xBF" + create), "application/json; charset=latin1", ""},
		"ascii that is utf-8":        {[]byte(create), "application/json; charset=us-ascii", ""},
		"a content type that is odd": {[]byte(create), "application/json; ;charset", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := body.Decode(c.raw, c.contentType, c.contentEncoding, body.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if string(b.Text) != create {
				t.Errorf("text %q, want %q", b.Text, create)
			}
			v, err := b.Value(nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := v.Member("cmdb_ci").Literal; got != "Brücke-7" {
				t.Errorf("cmdb_ci is %q", got)
			}
		})
	}
}

func TestWhatCannotBeReadSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		raw             []byte
		contentType     string
		contentEncoding string
		why             string
	}{
		"no body":                     {nil, "application/json", "", dedup.WhyNoBody},
		"an empty gzip":               {gzipped(t, ""), "application/json", "gzip", dedup.WhyNoBody},
		"an unknown coding":           {[]byte(create), "application/json", "x-acme", dedup.WhyCoding},
		"a coding twice":              {gzipped(t, create), "application/json", "gzip, gzip", dedup.WhyCoding},
		"no gzip after all":           {[]byte(create), "application/json", "gzip", dedup.WhyCoding},
		"a gzip cut off":              {gzipped(t, create)[:20], "application/json", "gzip", dedup.WhyCoding},
		"no br after all":             {[]byte(create), "application/json", "br", dedup.WhyCoding},
		"a br cut off":                {brotlied(t, create)[:20], "application/json", "br", dedup.WhyCoding},
		"no zstd after all":           {[]byte(create), "application/json", "zstd", dedup.WhyCoding},
		"a zstd cut off":              {zstandard(t, create)[:20], "application/json", "zstd", dedup.WhyCoding},
		"an empty zstd":               {zstandard(t, ""), "application/json", "zstd", dedup.WhyNoBody},
		"over the limit from br":      {brotlied(t, strings.Repeat("a", 100_000)), "", "br", dedup.WhyTooLarge},
		"over the limit from zstd":    {zstandard(t, strings.Repeat("a", 100_000)), "", "zstd", dedup.WhyTooLarge},
		"no deflate after all":        {[]byte(create), "application/json", "deflate", dedup.WhyCoding},
		"an unknown charset":          {[]byte(create), "application/json; charset=klingon", "", dedup.WhyCharset},
		"a charset that is no more":   {[]byte(create), "application/json; charset=iso-2022-kr", "", dedup.WhyCharset},
		"bytes not in the charset":    {[]byte("{\"a\":\"\xFF\xFF\"}"), "application/json; charset=shift_jis", "", dedup.WhyCharset},
		"over the limit":              {bytes.Repeat([]byte("a"), 1001), "", "", dedup.WhyTooLarge},
		"over the limit when unzip'd": {gzipped(t, strings.Repeat("a", 100_000)), "", "gzip", dedup.WhyTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := body.Decode(c.raw, c.contentType, c.contentEncoding, body.Limits{Size: 1000})
			var unkeyed *dedup.Unkeyed
			if !errors.As(err, &unkeyed) || unkeyed.Why != c.why {
				t.Errorf("got %v, want why %q", err, c.why)
			}
		})
	}
}

func TestWhatIsNoneOfThemIsUnparsed(t *testing.T) {
	for name, c := range map[string]struct{ text, contentType string }{
		"prose":                      {"disk full on db-07", "text/plain"},
		"JSON that is cut off":       {`{"host":"db-07","check":`, "application/json"},
		"the same, sent as a form":   {`{"host":"db-07","check":`, "application/x-www-form-urlencoded"},
		"a list that is cut off":     {`[1`, "application/json"},
		"XML that is cut off":        {`<issue><subject>x</subject>`, "application/xml"},
		"XML that is cut off, as is": {`<issue`, "application/json"},
		"an answer of RT":            {"RT/5.0.3 200 Ok\n\n# Ticket 4 created.\n", "text/plain"},
	} {
		t.Run(name, func(t *testing.T) {
			var unkeyed *dedup.Unkeyed
			if _, err := decoded(t, c.text, c.contentType).Value(nil); !errors.As(err, &unkeyed) || unkeyed.Why != dedup.WhyUnparsed {
				t.Errorf("got %v, want unparsed", err)
			}
		})
	}
}

func decoded(t testing.TB, text, contentType string) *body.Body {
	t.Helper()
	b, err := body.Decode([]byte(text), contentType, "", body.Limits{Budget: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// at is the text at a place: names, and numbers of items, with "/" between.
func at(v dedup.Value, path string) string {
	for _, name := range strings.Split(path, "/") {
		if i, err := strconv.Atoi(name); err == nil && v.Kind == dedup.ListValue {
			v = v.Item(i)
		} else {
			v = v.Member(name)
		}
	}
	text, ok := v.Text()
	if !ok {
		return missing
	}
	return text
}

const missing = "(missing)"

// wanting is the Want for the place of at.
func wanting(paths ...string) *dedup.Want {
	var all [][]dedup.Step
	for _, path := range paths {
		var steps []dedup.Step
		for _, name := range strings.Split(path, "/") {
			_, err := strconv.Atoi(name)
			steps = append(steps, dedup.Step{Name: name, Items: err == nil})
		}
		all = append(all, steps)
	}
	return dedup.NewWant(all...)
}

// checkPlaces reads the body whole, and then only the one place.
func checkPlaces(t *testing.T, b *body.Body, places map[string]string) {
	t.Helper()
	whole, err := b.Value(nil)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range places {
		if got := at(whole, path); got != want && !strings.Contains(path, "{") {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
		v, err := b.Value(wanting(path))
		if err != nil {
			t.Fatal(err)
		}
		if got := at(v, path); got != want {
			t.Errorf("%s alone is %q, want %q", path, got, want)
		}
	}
}

func TestReadingStopsAtItsBudget(t *testing.T) {
	for name, c := range map[string]struct{ text, contentType string }{
		"XML":        {"<a>" + strings.Repeat("<b/>", 5000) + "</a>", xmlType},
		"a form":     {strings.Repeat("a=1&", 5000), urlencoded},
		"parts":      {strings.Repeat("--X\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n", 500) + "--X--", ofX},
		"a small":    {"<a/>", xmlType},
		"JSON":       {"[" + strings.Repeat("0,", 20000) + "0]", "application/json"},
		"a field":    {`a={"b":[` + strings.Repeat("0,", 20000) + "0]}", urlencoded},
		"small JSON": {"[" + strings.Repeat("0,", 400) + "0]", "application/json"},
		"no clock":   {strings.Repeat("a=1&", 100), urlencoded},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(0, 0)
			b, err := body.Decode([]byte(c.text), c.contentType, "", body.Limits{Now: func() time.Time { return now }})
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(time.Second)
			var unkeyed *dedup.Unkeyed
			_, err = b.Value(nil)
			if late := errors.As(err, &unkeyed) && unkeyed.Why == dedup.WhyBudget; late != (len(c.text) > 1000) {
				t.Errorf("got %v", err)
			}
			if _, ok := b.AddItem([]string{"a", "key"}, token); ok != (c.contentType == xmlType || name == "a field") {
				t.Errorf("the token: %v", ok) // a rewriting is never given up
			}
		})
	}
}

func TestInflatingStopsAtItsBudget(t *testing.T) {
	now := time.Unix(0, 0)
	clock := func() time.Time {
		now = now.Add(30 * time.Millisecond)
		return now
	}
	text := strings.Repeat("a", 3<<20)
	for coding, bomb := range map[string][]byte{"gzip": gzipped(t, text), "br": brotlied(t, text), "zstd": zstandard(t, text)} {
		_, err := body.Decode(bomb, "", coding, body.Limits{Budget: 50 * time.Millisecond, Now: clock})
		var unkeyed *dedup.Unkeyed
		if !errors.As(err, &unkeyed) || unkeyed.Why != dedup.WhyBudget {
			t.Errorf("%s: got %v, want budget", coding, err)
		}
	}
}
