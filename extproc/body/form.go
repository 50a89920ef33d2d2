package body

import (
	"bytes"
	"iter"
	"net/url"

	"oneticket/dedup"
)

// readForm reads application/x-www-form-urlencoded. What its escapes stand for
// is in the charset of the body.
func (b *Body) readForm(want *dedup.Want) (dedup.Value, bool) {
	text, of := b.Text, b.charset
	switch of {
	case nil:
	case utf16BE, utf16LE:
		of = nil // the form is in it, what it escapes is not
	default:
		text = b.Plain[len(b.mark):]
	}
	found := fields{want: want, within: &b.budget}
	for p := range formPairs(text) {
		if !b.budget.spend(1) || !found.add(of.decoded(unescaped(p.name(text))), func() ([]byte, bool) { return of.text(unescaped(p.value(text))) }) {
			return dedup.Value{}, false
		}
	}
	return found.value(), true
}

// A pair is where one field of a form stands. Without "=" the value begins
// where the name ends.
type pair struct{ start, equal, end int }

func (p pair) name(text []byte) []byte  { return text[p.start:p.equal] }
func (p pair) value(text []byte) []byte { return text[p.valueStart():p.end] }
func (p pair) valueStart() int          { return min(p.equal+1, p.end) }

func formPairs(text []byte) iter.Seq[pair] {
	return func(yield func(pair) bool) {
		for start := 0; start < len(text); {
			end := len(text)
			if n := bytes.IndexByte(text[start:], '&'); n >= 0 {
				end = start + n
			}
			p := pair{start, end, end}
			if n := bytes.IndexByte(text[start:end], '='); n >= 0 {
				p.equal = start + n
			}
			if end > start && !yield(p) {
				return
			}
			start = end + 1
		}
	}
}

// unescaped undoes "+" and %XX; a % that begins no escape is itself. Text
// without any is not copied.
func unescaped(raw []byte) []byte {
	if bytes.IndexByte(raw, '%') < 0 && bytes.IndexByte(raw, '+') < 0 {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		c, n := unescapedByte(raw[i:])
		out = append(out, c)
		i += n
	}
	return out
}

// unescapedByte is the first byte of what raw stands for, and how long it is
// written there.
func unescapedByte(raw []byte) (c byte, length int) {
	if raw[0] == '+' {
		return ' ', 1
	}
	if raw[0] == '%' && len(raw) > 2 {
		high, okHigh := hexDigit(raw[1])
		low, okLow := hexDigit(raw[2])
		if okHigh && okLow {
			return high<<4 | low, 3
		}
	}
	return raw[0], 1
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	default:
		return 0, false
	}
}

// editForm is where in a form the value goes: a field of its own behind the
// last, in the place of its empty value, or inside what a field says.
func (b *Body) editForm(w writing) (edit, bool) {
	found, count := pair{}, 0
	for p := range formPairs(b.Text) {
		if string(unescaped(p.name(b.Text))) != w.Path[0] {
			continue
		}
		if w.List && string(unescaped(p.value(b.Text))) == w.value {
			return edit{}, false
		}
		found, count = p, count+1
	}
	switch {
	case len(w.Path) > 1 && count == 1:
		return b.editPair(found, w)
	case len(w.Path) > 1 || w.Item != nil || count > 1 && !w.List:
		return edit{}, false
	case count == 0 || w.List && !blankText(unescaped(found.value(b.Text))):
		return b.addPair(w)
	}
	raw := found.value(b.Text)
	if !w.Over && !blankText(unescaped(raw)) {
		return edit{}, false
	}
	value, ok := b.escaped(w.value)
	if found.equal == found.end {
		value = append([]byte{'='}, value...)
	}
	return edit{found.valueStart(), found.end, value}, ok
}

func blankText(text []byte) bool { return len(trimmed(text)) == 0 }

func (b *Body) addPair(w writing) (edit, bool) {
	name, okName := b.escaped(w.Path[0])
	value, okValue := b.escaped(w.value)
	var text []byte
	if !bytes.HasSuffix(b.Text, []byte{'&'}) {
		text = append(text, '&')
	}
	text = append(append(append(text, name...), '='), value...)
	return edit{len(b.Text), len(b.Text), text}, okName && okValue
}

// escaped writes s as a form has it, in the charset of the body.
func (b *Body) escaped(s string) ([]byte, bool) {
	if b.charset != nil && b.charset != utf16BE && b.charset != utf16LE {
		encoded, err := b.charset.NewEncoder().String(s)
		if err != nil {
			return nil, false
		}
		s = encoded
	}
	return []byte(url.QueryEscape(s)), true
}

// editPair edits what the text of a field says, and leaves every other escape
// as it was written.
func (b *Body) editPair(p pair, w writing) (edit, bool) {
	raw := p.value(b.Text)
	text := make([]byte, 0, len(raw))
	at := make([]int, 0, len(raw)+1) // where each byte of the text is written
	for i := 0; i < len(raw); {
		c, n := unescapedByte(raw[i:])
		text, at = append(text, c), append(at, p.valueStart()+i)
		i += n
	}
	at = append(at, p.end)
	e, ok := inField(w.Path[0], text, w.below())
	if !ok || b.charset != nil {
		return edit{}, false
	}
	return edit{at[e.start], at[e.end], []byte(url.QueryEscape(string(e.text)))}, true
}
