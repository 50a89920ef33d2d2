package dedup

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"
)

// CanonicalJSON writes v as the JSON that request_key and job_key hash: members
// sorted by the bytes of their names, no blanks, each character as itself where
// it may be, numbers exact and in one form (1, 1.0 and 1e0 are 1; one of more
// than 64 digits is its digits and an exponent), NaN and the infinities as they
// came. Values that differ are written differently. It reports false when v
// has a missing value that is not known to be one of the latter, a member that
// stands twice for example, for then it does not say all that the body said.
func (v Value) CanonicalJSON() (string, bool) {
	var w jsonWriter
	w.value(v, nil, nil)
	return string(w.text), !w.lost
}

// ScalarJSON writes v as the function jsonencode of an expression does: like
// CanonicalJSON, but every scalar is a JSON string of its identity text, so
// that 1 and "1" are one; what has no text because it is null, blank or a
// macro is null. It is missing (false) when v is missing, null, {} or [], and
// when a value in it stands there but cannot be read.
func (v Value) ScalarJSON() (string, bool) {
	if v.isEmpty() {
		return "", false
	}
	w := jsonWriter{scalarsAsText: true}
	w.value(v, nil, nil)
	return string(w.text), !w.lost && string(w.text) != "null"
}

func (v Value) isEmpty() bool {
	return v.Kind == MissingValue || v.Kind == NullValue ||
		v.Kind == ObjectValue && len(v.Members) == 0 || v.Kind == ListValue && len(v.Items) == 0
}

// A jsonWriter writes one Value. The paths that its methods are given are
// those of a RequestKey, relative to the value that is written.
type jsonWriter struct {
	text          []byte
	scalarsAsText bool
	lost          bool // something could not be written as what it is
}

func (w *jsonWriter) value(v Value, ignore, unordered []string) {
	switch v.Kind {
	case ObjectValue:
		w.object(v.Members, ignore, unordered)
	case ListValue:
		w.list(v.Items, ignore, unordered)
	case NullValue:
		w.null()
	default:
		if w.scalarsAsText {
			w.scalarText(v)
		} else {
			w.scalar(v)
		}
	}
}

func (w *jsonWriter) null() { w.text = append(w.text, "null"...) }

func (w *jsonWriter) object(members []Member, ignore, unordered []string) {
	w.text = append(w.text, '{')
	first := true
	for _, m := range sortedMembers(members) {
		ignoreBelow := pathsBelow(ignore, m.Name)
		if slices.Contains(ignoreBelow, "") {
			continue
		}
		if !first {
			w.text = append(w.text, ',')
		}
		first = false
		w.quoted(m.Name)
		w.text = append(w.text, ':')
		w.value(m.Value, ignoreBelow, pathsBelow(unordered, m.Name))
	}
	w.text = append(w.text, '}')
}

// sortedMembers returns the members by name; those of one name stay in their order.
func sortedMembers(members []Member) []Member {
	byName := func(a, b Member) int { return cmp.Compare(a.Name, b.Name) }
	if slices.IsSortedFunc(members, byName) {
		return members
	}
	return slices.SortedStableFunc(slices.Values(members), byName)
}

func (w *jsonWriter) list(items []Value, ignore, unordered []string) {
	if slices.Contains(unordered, "") {
		w.set(items, ignore, unordered)
		return
	}
	w.text = append(w.text, '[')
	for i, item := range items {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		w.value(item, ignore, unordered)
	}
	w.text = append(w.text, ']')
}

// set writes the items sorted by what is written of them. One that stands
// twice is written twice: only the order of an unordered list says nothing. A
// list that is an item itself has an order again.
func (w *jsonWriter) set(items []Value, ignore, unordered []string) {
	unordered = slices.DeleteFunc(slices.Clone(unordered), func(path string) bool { return path == "" })
	start := len(w.text)
	ends := make([]int, 0, len(items))
	for _, item := range items {
		w.value(item, ignore, unordered)
		ends = append(ends, len(w.text)-start)
	}
	written := bytes.Clone(w.text[start:])
	parts := make([][]byte, len(items))
	from := 0
	for i, end := range ends {
		parts[i], from = written[from:end], end
	}
	slices.SortFunc(parts, bytes.Compare)
	w.text = append(w.text[:start], '[')
	w.text = append(w.text, bytes.Join(parts, []byte(","))...)
	w.text = append(w.text, ']')
}

func (w *jsonWriter) scalar(v Value) {
	switch v.Kind {
	case StringValue:
		w.quoted(v.Literal)
	case BoolValue:
		w.text = append(w.text, v.Literal...)
	case NumberValue:
		number, ok := exactNumber(v.Literal)
		if !ok {
			w.lost = true
			w.null()
		}
		w.text = append(w.text, number...)
	default:
		if v.Literal == "" {
			w.lost = true
			w.null()
		}
		w.text = append(w.text, v.Literal...)
	}
}

func (w *jsonWriter) scalarText(v Value) {
	text, ok := v.Text()
	if ok {
		w.quoted(text)
		return
	}
	// A blank string and a macro say nothing and are as null. Whatever else has
	// no text said something, and what makes it different would be lost.
	w.lost = w.lost || v.Kind != StringValue || !utf8.ValidString(v.Literal)
	w.null()
}

const hexDigits = "0123456789abcdef"

// quoted writes a JSON string with the fewest escapes that there can be.
func (w *jsonWriter) quoted(s string) {
	w.text = append(w.text, '"')
	plain := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		w.text = append(w.text, s[plain:i]...)
		w.text = appendEscaped(w.text, c)
		plain = i + 1
	}
	w.text = append(w.text, s[plain:]...)
	w.text = append(w.text, '"')
}

func appendEscaped(to []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(to, '\\', c)
	case '\b':
		return append(to, `\b`...)
	case '\f':
		return append(to, `\f`...)
	case '\n':
		return append(to, `\n`...)
	case '\r':
		return append(to, `\r`...)
	case '\t':
		return append(to, `\t`...)
	default:
		return append(to, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
	}
}
