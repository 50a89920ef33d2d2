package dedup

import (
	"slices"
	"strings"
)

// A Field is one name and value of an identity. The name is an identifier of
// the configuration: letters, digits, "_" and "-", so it has neither "=" nor
// "|", and no two fields have the same. The value is identity text, as TextOf
// and Value.Text give it. A field that is missing is left out.
type Field struct{ Name, Value string }

// Canonical returns the identity as one string: name=value of each field,
// sorted by byte, joined by "|". When any value contains "|", "\" becomes "\\"
// and "|" becomes "\|" in every value and one more "|" is added at the end,
// which no plain form ends with. So different identities have different
// canonical forms, whatever their values hold, and a value without "|" stands
// there as it is.
func Canonical(fields []Field) string {
	size := 0
	escape := false
	for _, f := range fields {
		size += len(f.Name) + len(f.Value) + len("=|")
		escape = escape || strings.Contains(f.Value, "|")
	}
	fields = byWritten(fields)
	var b strings.Builder
	b.Grow(size)
	for i, f := range fields {
		if i > 0 {
			b.WriteByte('|')
		}
		b.WriteString(f.Name)
		b.WriteByte('=')
		if escape {
			b.WriteString(escapeValue(f.Value))
		} else {
			b.WriteString(f.Value)
		}
	}
	if escape {
		b.WriteByte('|')
	}
	return b.String()
}

var valueEscaper = strings.NewReplacer(`\`, `\\`, `|`, `\|`)

func escapeValue(s string) string { return valueEscaper.Replace(s) }

// byWritten sorts the fields as name=value sorts, for which the value never
// matters but where a name stands twice. It is not the order of the names
// alone: "a1=" is before "a=".
func byWritten(fields []Field) []Field {
	if slices.IsSortedFunc(fields, compareWritten) {
		return fields
	}
	fields = slices.Clone(fields)
	slices.SortFunc(fields, compareWritten)
	return fields
}

func compareWritten(a, b Field) int {
	if a.Name == b.Name {
		return strings.Compare(a.Value, b.Value)
	}
	if len(a.Name) < len(b.Name) && strings.HasPrefix(b.Name, a.Name) {
		return int('=') - int(b.Name[len(a.Name)])
	}
	if len(b.Name) < len(a.Name) && strings.HasPrefix(a.Name, b.Name) {
		return int(a.Name[len(b.Name)]) - int('=')
	}
	return strings.Compare(a.Name, b.Name)
}
