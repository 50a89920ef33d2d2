package body

import (
	"bytes"
	"slices"
	"unicode"

	"oneticket/dedup"
)

// maxFields bounds what is built of one form.
const maxFields = 1 << 16

// fields gathers those fields of a form that are wanted, each name once: a
// field that stands twice is missing.
type fields struct {
	want    *dedup.Want
	within  *budget // of what a field's text says; nil is none
	members []dedup.Member
	index   map[string]int // into members, where they are many
}

// add takes one field. Its text is only asked for when the field is wanted;
// false is text that cannot be read. It reports false when there are too many.
func (f *fields) add(name []byte, text func() ([]byte, bool)) bool {
	return f.addAs(name, text, f.fieldValue)
}

// addText is add for a field that is never more than its text.
func (f *fields) addText(name []byte, text func() ([]byte, bool)) bool {
	return f.addAs(name, text, func(_ string, raw []byte, want *dedup.Want) dedup.Value { return textValue(raw, want) })
}

func (f *fields) addAs(name []byte, text func() ([]byte, bool), as func(string, []byte, *dedup.Want) dedup.Value) bool {
	known, below, ok := f.want.At(name)
	if !ok {
		return true
	}
	if i := f.find(known); i >= 0 {
		f.members[i].Value = dedup.Value{}
		return true
	}
	var v dedup.Value
	if raw, ok := text(); ok {
		v = as(known, raw, below)
	}
	f.members = append(f.members, dedup.Member{Name: known, Value: v})
	if f.index != nil {
		f.index[known] = len(f.members) - 1
	}
	return len(f.members) <= maxFields
}

// fewFields is up to how many names are compared one by one.
const fewFields = 16

func (f *fields) find(name string) int {
	if f.index == nil && len(f.members) > fewFields {
		f.index = make(map[string]int, 2*len(f.members))
		for i, m := range f.members {
			f.index[m.Name] = i
		}
	}
	if f.index != nil {
		if i, ok := f.index[name]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(f.members, func(m dedup.Member) bool { return m.Name == name })
}

func (f *fields) value() dedup.Value {
	return dedup.Value{Kind: dedup.ObjectValue, Members: f.members}
}

// rtField is the field in which RT's REST 1.0 has its lines.
const rtField = "content"

// fieldValue is the text of a field; what it says, where it is an object or
// list of JSON, or RT's lines.
func (f *fields) fieldValue(name string, text []byte, want *dedup.Want) dedup.Value {
	if isJSONText(text) {
		if v, err := dedup.ReadJSONWhile(trimmed(text), want, f.within.goesOn); err == nil {
			return v
		}
	}
	if name == rtField {
		if lines, ok := rtLines(text); ok {
			return lines.value(want)
		}
	}
	return textValue(text, want)
}

// textValue is the text, unless only something below it is wanted.
func textValue(text []byte, want *dedup.Want) dedup.Value {
	if !want.Whole() {
		return dedup.Value{}
	}
	return dedup.Value{Kind: dedup.StringValue, Literal: string(text)}
}

func isJSONText(text []byte) bool {
	text = trimmed(text)
	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

func trimmed(text []byte) []byte { return bytes.TrimFunc(text, unicode.IsSpace) }

// inField is where, in the text of a field, the value goes: in its JSON, or in
// RT's lines.
func inField(name string, text []byte, w writing) (edit, bool) {
	if isJSONText(text) {
		return inJSON(text, w)
	}
	if name != rtField {
		return edit{}, false
	}
	lines, ok := rtLines(text)
	if !ok {
		return edit{}, false
	}
	return lines.edit(w)
}
