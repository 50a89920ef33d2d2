package body_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/extproc/body"
)

// read reads a body whole and by one place, which must agree that it can be
// read and on what stands there.
func read(t *testing.T, text []byte, contentType, path string) (*body.Body, dedup.Value, bool) {
	t.Helper()
	b, err := body.Decode(text, contentType, "", body.Limits{Budget: time.Minute})
	if err != nil {
		return nil, dedup.Value{}, false
	}
	whole, err := b.Value(nil)
	one, errOne := b.Value(wanting(path))
	if (err == nil) != (errOne == nil) {
		t.Fatalf("%q: whole %v, one place %v", text, err, errOne)
	}
	if got, alone := at(whole, path), at(one, path); err == nil && got != alone {
		t.Fatalf("%q: %s is %q, alone %q", text, path, got, alone)
	}
	return b, whole, err == nil
}

// rewritten sets the token, and checks that it is found and that nothing else
// has changed.
func rewritten(t *testing.T, b *body.Body, contentType string, path string) {
	t.Helper()
	got, ok := b.SetField(strings.Split(path, "/"), token)
	if !ok {
		return
	}
	before := b.Plain
	same := 0
	for same < min(len(before), len(got)) && before[same] == got[same] {
		same++
	}
	rest := before[same:]
	for len(rest) > 0 && !bytes.HasSuffix(got[same:], rest) {
		rest = rest[1:]
	}
	if gone := string(before[same : len(before)-len(rest)]); len(bytes.TrimLeft([]byte(gone), " \t\r\n\v\f+%0123456789ABCDEFabcdefnul\"\\\u0085/>\u00a0\u2028\u3000")) > 0 {
		t.Fatalf("%q became %q: %q is gone", before, got, gone)
	}
	_, v, ok := read(t, got, contentType, path)
	if found := at(v, path); !ok || found != token {
		t.Fatalf("%q became %q, in which %s is %q", before, got, path, found)
	}
}

func FuzzForm(f *testing.F) {
	for _, seed := range []string{"a=1&key=", "key", "%6bey=+&&=x", "p=%7B%22key%22:null%7D", "p={}&a=%zz", "content=id:+1%0AText:+a%0A+b", "content=CF-key:%0A", "key=\n", "key=%20%85"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, path := range []string{"key", "p/key", "content/CF/key"} {
			b, v, ok := read(t, text, urlencoded, path)
			if !ok {
				continue
			}
			agreeOnForm(t, text, v)
			rewritten(t, b, urlencoded, path)
		}
	})
}

// agreeOnForm compares with the standard library where it can read the form.
func agreeOnForm(t *testing.T, text []byte, v dedup.Value) {
	t.Helper()
	if first := bytes.TrimLeft(text, " \t\r\n"); len(first) == 0 || bytes.IndexByte([]byte("{[<"), first[0]) >= 0 || bytes.ContainsAny(text, ";\xEF\xFE\xFF") {
		return
	}
	want, err := url.ParseQuery(string(text))
	if err != nil {
		return
	}
	for name, values := range want {
		got := v.Member(name)
		if len(values) > 1 && got.Kind != dedup.MissingValue || len(values) == 1 && got.Kind == dedup.StringValue && got.Literal != values[0] {
			t.Fatalf("%q: %q is %q, want %q", text, name, got.Literal, values)
		}
	}
}

func FuzzMultipart(f *testing.F) {
	for _, seed := range []string{
		multipartOf("X", "a", "1", "key", ""), multipartOf("X", "p", `{"a":1}`), file + multipartOf("X", "content", "id: 1\n"),
		strings.ReplaceAll(multipartOf("X", "a", "1"), "\r", ""), "--X--", "--X\r\n\r\n\r\n--X--", "--X \t\nContent-Disposition: form-data; name=key\n\n\n--X--",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, path := range []string{"key", "p/key", "content/CF/key"} {
			b, v, ok := read(t, text, ofX, path)
			if !ok {
				continue
			}
			agreeOnParts(t, text, v)
			rewritten(t, b, ofX, path)
		}
	})
}

// agreeOnParts compares with the standard library where it can read the parts.
func agreeOnParts(t *testing.T, text []byte, v dedup.Value) {
	t.Helper()
	if first := bytes.TrimLeft(text, " \t\r\n"); bytes.IndexByte([]byte("{[<\xEF\xFE\xFF"), first[0]) >= 0 {
		return
	}
	want := map[string][]string{}
	for r := multipart.NewReader(bytes.NewReader(text), "X"); ; {
		p, err := r.NextRawPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return
		}
		content, err := io.ReadAll(p)
		if err != nil {
			return
		}
		_, parameters, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
		if _, isFile := parameters["filename"]; err == nil && !isFile && len(p.Header) == 1 {
			// Which line ends a form has, the two do not guess in the same way.
			want[parameters["name"]] = append(want[parameters["name"]], strings.TrimSuffix(string(content), "\r"))
		}
	}
	for name, values := range want {
		got := v.Member(name)
		if len(values) > 1 && got.Kind != dedup.MissingValue || len(values) == 1 && got.Kind == dedup.StringValue && strings.TrimSuffix(got.Literal, "\r") != values[0] {
			t.Fatalf("%q: %q is %q, want %q", text, name, got.Literal, values)
		}
	}
}

func FuzzXML(f *testing.F) {
	for _, seed := range []string{soapCreate, soapAgain, "<t><key/></t>", "<x:t><key> </key></x:t>", "<t/>", "<?xml version='1.0' encoding='latin1'?><t a='&lt;'><b><![CDATA[x]]></b><!-- c --></t>", "<t><key xsi:nil='1'/></t>", "<t><key>&#32;</key></t>"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, path := range []string{"t/key", "Envelope/Body/Create/key", "Envelope/Body/Create/Item"} {
			b, _, ok := read(t, text, xmlType, path)
			if !ok || len(b.Text) == 0 || bytes.TrimLeft(b.Text, " \t\r\n")[0] != '<' {
				continue
			}
			checkWellFormed(t, b.Text)
			rewritten(t, b, xmlType, path)
		}
	})
}

// checkWellFormed: what we read as XML has for another reader the same tags.
func checkWellFormed(t *testing.T, text []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		_, err := d.RawToken()
		if err == io.EOF {
			return
		}
		if err != nil {
			if isOnlyStricter(err.Error()) {
				return
			}
			t.Fatalf("%q: %v", text, err)
		}
	}
}

// isOnlyStricter: of characters and of what stands in remarks we are not the
// judge.
func isOnlyStricter(err string) bool {
	for _, of := range []string{"illegal character code", "invalid UTF-8", "invalid XML name", "invalid sequence \"--\"", "unescaped ]]>", "invalid character", "xml: ", "expected target name", "unexpected EOF in", "expected attribute name", "expected element name"} {
		if strings.Contains(err, of) {
			return true
		}
	}
	return false
}

// Whatever the body and whatever the header says of it: nothing panics, and
// what is rewritten can be read again.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{create, soapCreate, "a=1", multipartOf("X", "a", "1"), `[{"op":"add","path":"/a"}]`, `{"key":[null]}`, "\xFF\xFE<\x00a\x00/\x00>\x00"} {
		for kind := range byte(8) {
			f.Add([]byte(seed), kind)
		}
	}
	types := []string{"", "application/json", urlencoded, ofX, "text/xml", "text/plain; charset=shift_jis", "application/x-www-form-urlencoded; charset=utf-16", "application/graphql"}
	f.Fuzz(func(t *testing.T, text []byte, kind byte) {
		contentType := types[int(kind)%len(types)]
		for _, path := range []string{"key", "key/key", "t/key", "/key"} {
			b, _, ok := read(t, text, contentType, path)
			if !ok {
				continue
			}
			steps := strings.Split(path, "/")
			item := &dedup.TokenItem{Name: "id", Is: "7", Value: "value", Element: "key"}
			for _, at := range []body.Place{{}, {List: true}, {Over: true}, {Item: item}, {Item: item, Over: true}} {
				at.Path = steps
				got, ok := b.Put(at, token)
				if !ok {
					continue
				}
				if _, _, ok := read(t, got, contentType, path); !ok {
					t.Fatalf("%q became %q", text, got)
				}
			}
		}
	})
}

func FuzzInflate(f *testing.F) {
	f.Add(brotlied(f, create), byte(0))
	f.Add(zstandard(f, create), byte(1))
	f.Add(gzipped(f, create), byte(2))
	f.Add(flated(f, create), byte(3))
	codings := []string{"br", "zstd", "gzip", "deflate"}
	f.Fuzz(func(t *testing.T, raw []byte, coding byte) {
		name := codings[int(coding)%len(codings)]
		b, err := body.Decode(raw, "", name, body.Limits{Size: 1 << 16})
		if err != nil {
			return
		}
		if len(b.Plain) > 1<<16 {
			t.Fatalf("%d bytes", len(b.Plain))
		}
		got, ok := b.SetField([]string{"key"}, token)
		if !ok {
			return
		}
		if again, err := body.Decode(got, "", name, body.Limits{}); err != nil || !bytes.Contains(again.Plain, []byte("idem")) {
			t.Fatalf("%q became %q: %v", raw, got, err)
		}
	})
}
