package body

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// xmlText gathers the text of one element; one piece of plain text is not
// copied.
type xmlText struct {
	plain  []byte
	copied []byte
}

func (x *xmlText) add(raw []byte, literal bool) bool {
	simple := bytes.IndexByte(raw, '\r') < 0 && (literal || bytes.IndexByte(raw, '&') < 0)
	if simple && x.plain == nil && x.copied == nil {
		x.plain = raw
		return true
	}
	if x.copied == nil {
		x.copied, x.plain = append(make([]byte, 0, len(x.plain)+len(raw)), x.plain...), nil
	}
	if literal {
		x.copied = append(x.copied, bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte("\r\n"), []byte{'\n'}), []byte{'\r'}, []byte{'\n'})...)
		return true
	}
	var ok bool
	x.copied, ok = appendXMLText(x.copied, raw)
	return ok
}

func (x *xmlText) text() []byte {
	if x.copied != nil {
		return x.copied
	}
	return x.plain
}

func (x *xmlText) isBlank() bool { return blankText(x.text()) }

func validReferences(raw []byte) bool {
	if bytes.IndexByte(raw, '&') < 0 {
		return true
	}
	_, ok := appendXMLText(nil, raw)
	return ok
}

// appendXMLText appends what raw stands for: references undone, line ends as
// one character.
func appendXMLText(to, raw []byte) ([]byte, bool) {
	for {
		n := bytes.IndexAny(raw, "&\r")
		if n < 0 {
			return append(to, raw...), true
		}
		to = append(to, raw[:n]...)
		if raw = raw[n:]; raw[0] == '\r' {
			to = append(to, '\n')
			raw = bytes.TrimPrefix(raw[1:], []byte{'\n'})
			continue
		}
		end := bytes.IndexByte(raw[:min(len(raw), longestReference)], ';')
		if end < 0 {
			return to, false
		}
		r, ok := reference(string(raw[1:end]))
		if !ok {
			return to, false
		}
		to = utf8.AppendRune(to, r)
		raw = raw[end+1:]
	}
}

// longestReference is more than &#x0010FFFF; and &#0001114111; have.
const longestReference = 16

func reference(name string) (rune, bool) {
	switch name {
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "amp":
		return '&', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	if len(name) < 2 || name[0] != '#' {
		return 0, false
	}
	digits, base := name[1:], 10
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	r := rune(n)
	blank := r == '\t' || r == '\n' || r == '\r'
	return r, err == nil && n <= utf8.MaxRune && utf8.ValidRune(r) && (n >= ' ' || blank)
}
