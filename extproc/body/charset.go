package body

import (
	"bytes"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"

	"oneticket/dedup"
)

// A charset is any but UTF-8.
type charset struct{ encoding.Encoding }

var (
	utf16BE = &charset{unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)}
	utf16LE = &charset{unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)}
)

// A byte order mark says more than a header, which is often a default.
var marks = []struct {
	bytes   string
	charset *charset
}{
	{"\xEF\xBB\xBF", nil},
	{"\xFE\xFF", utf16BE},
	{"\xFF\xFE", utf16LE},
}

// transcode makes the text of the plain body.
func (b *Body) transcode(contentType string) error {
	rest, known := b.Plain, false
	for _, m := range marks {
		if bytes.HasPrefix(rest, []byte(m.bytes)) {
			b.mark, rest, b.charset, known = rest[:len(m.bytes)], rest[len(m.bytes):], m.charset, true
			break
		}
	}
	if !known {
		name := charsetName(contentType)
		if name == "" {
			name = declaredEncoding(rest)
		}
		if b.charset, known = charsetNamed(name, rest); !known {
			return unkeyed(dedup.WhyCharset)
		}
	}
	if b.Text = rest; b.charset == nil {
		return nil
	}
	text, err := b.charset.NewDecoder().Bytes(rest)
	if err != nil || bytes.Contains(text, []byte("\uFFFD")) {
		// What the charset does not have would read alike in different bodies.
		return unkeyed(dedup.WhyCharset)
	}
	b.Text = text
	return nil
}

// declaredEncoding is the encoding in the declaration of an XML text, lower
// case. What says in ASCII that it is UTF-16 is not.
func declaredEncoding(text []byte) string {
	if bytes.HasPrefix(text, []byte("<\x00?\x00")) || bytes.HasPrefix(text, []byte("\x00<\x00?")) {
		return "utf-16"
	}
	declaration, found := bytes.CutPrefix(text, []byte("<?xml"))
	declaration, _, ended := bytes.Cut(declaration[:min(len(declaration), longestDeclaration)], []byte("?>"))
	_, value, said := bytes.Cut(declaration, []byte("encoding"))
	if !found || !ended || !said {
		return ""
	}
	value = bytes.TrimLeft(value, " \t\r\n=")
	if len(value) < 2 {
		return ""
	}
	name, _, _ := bytes.Cut(value[1:], value[:1])
	if lower := strings.ToLower(string(name)); !strings.HasPrefix(lower, "utf-16") {
		return lower
	}
	return ""
}

// longestDeclaration is more than any declaration of XML has.
const longestDeclaration = 256

// charsetName is the charset parameter of a content type, lower case. It takes
// what a strict parser refuses: the rest of the header is not our affair.
func charsetName(contentType string) string {
	_, parameters, _ := strings.Cut(contentType, ";")
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "charset") {
			return strings.ToLower(strings.Trim(strings.TrimSpace(value), `"'`))
		}
	}
	return ""
}

func charsetNamed(name string, text []byte) (*charset, bool) {
	switch name {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
		return nil, true
	case "utf-16", "utf16":
		return utf16By(text), true
	case "utf-16be":
		return utf16BE, true
	case "utf-16le":
		return utf16LE, true
	}
	enc, err := htmlindex.Get(name)
	if err != nil {
		enc, err = ianaindex.IANA.Encoding(name)
	}
	if err != nil || enc == nil || enc == encoding.Replacement {
		return nil, false
	}
	if enc == unicode.UTF8 {
		return nil, true
	}
	return &charset{enc}, true
}

// utf16By tells the byte order of a text that begins, as JSON does, with a
// character of ASCII; big-endian otherwise, as RFC 2781 says.
func utf16By(text []byte) *charset {
	if len(text) >= 2 && text[0] != 0 && text[1] == 0 {
		return utf16LE
	}
	return utf16BE
}

// text decodes what was escaped, or stood in a part of its own; false where the
// charset does not have it.
func (c *charset) text(raw []byte) ([]byte, bool) {
	if c == nil {
		return raw, true
	}
	text, err := c.NewDecoder().Bytes(raw)
	return text, err == nil && !bytes.Contains(text, []byte("\uFFFD"))
}

// decoded is text of a name: what the charset does not have names nothing.
func (c *charset) decoded(raw []byte) []byte {
	text, _ := c.text(raw)
	return text
}
