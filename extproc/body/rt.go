package body

import (
	"bytes"
	"slices"
	"strings"

	"oneticket/dedup"
)

// An rtForm is the text by which RT's REST 1.0 names the fields of one ticket:
//
//	# a comment
//	id: ticket/new
//	Text: first line
//	 a line that goes on
//	CF.{Correlation Key}: k-1
type rtForm struct {
	text  []byte
	lines []rtLine
}

// An rtLine is one field with the lines that go on from it.
type rtLine struct {
	name       string
	start      int // of the field
	value, end int // of what stands behind the colon in the field's own line
	rest       int // behind the lines that go on
}

// rtLines reports false when the text is something else, or several forms.
func rtLines(text []byte) (rtForm, bool) {
	form := rtForm{text: text}
	ended := false
	for pos := 0; pos < len(text); {
		line, next := rtNext(text, pos)
		switch {
		case len(line) == 0:
		case string(line) == "--":
			ended = len(form.lines) > 0
		case line[0] == '#':
		case (line[0] == ' ' || line[0] == '\t') && len(form.lines) > 0 && !ended:
			form.lines[len(form.lines)-1].rest = pos + len(line)
		default:
			name, ok := rtName(line)
			if !ok || ended || len(form.lines) == maxFields {
				return rtForm{}, false
			}
			form.lines = append(form.lines, rtLine{name, pos, pos + len(name) + 1, pos + len(line), pos + len(line)})
		}
		pos = next
	}
	return form, len(form.lines) > 0
}

// rtNext is the line at pos without its end, and where the next one begins.
func rtNext(text []byte, pos int) (line []byte, next int) {
	next = len(text)
	if n := bytes.IndexByte(text[pos:], '\n'); n >= 0 {
		next = pos + n + 1
	}
	return bytes.TrimRight(text[pos:next], "\r\n"), next
}

// rtName is the name of the field that the line begins with: a word, or a
// custom field, whose name may have anything in it.
func rtName(line []byte) (string, bool) {
	end := bytes.IndexByte(line, ':')
	if inner, ok := customField(string(line)); ok && strings.Contains(inner, "}:") {
		end = bytes.Index(line, []byte("}:")) + 1
	}
	if end <= 0 || end+1 < len(line) && line[end+1] != ' ' && line[end+1] != '\t' {
		return "", false
	}
	name := string(line[:end])
	if _, ok := customField(name); ok {
		return name, true
	}
	for i, c := range []byte(name) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '_' && c != '-' && (c < '0' || c > '9')) {
			return "", false
		}
	}
	return name, true
}

// customField is what is behind the mark of a custom field, in any of RT's
// spellings; without the braces when the name ends with the last of them.
func customField(name string) (string, bool) {
	for _, mark := range []string{"cf.{", "cf-", "customfield-"} {
		if len(name) > len(mark) && strings.EqualFold(name[:len(mark)], mark) {
			inner := name[len(mark):]
			if mark == "cf.{" {
				inner = strings.TrimSuffix(inner, "}")
			}
			return inner, inner != ""
		}
	}
	return "", false
}

// said is the value of a field: its lines, without what indents them all.
func (f rtForm) said(l rtLine) string {
	first := strings.TrimSpace(string(f.text[l.value:l.end]))
	if l.rest <= l.end {
		return first
	}
	more := strings.Split(strings.ReplaceAll(string(f.text[l.end:l.rest]), "\r\n", "\n"), "\n")[1:]
	indent := -1
	for _, line := range more {
		if n := len(line) - len(strings.TrimLeft(line, " \t")); line != "" && (indent < 0 || n < indent) {
			indent = n
		}
	}
	for i, line := range more {
		more[i] = line[min(len(line), max(indent, 0)):]
	}
	return strings.TrimSpace(strings.Join(slices.Concat([]string{first}, more), "\n"))
}

// rtCustom is the member that holds the custom fields by their own names,
// beside the members that are named as they are written. It is there also where
// no custom field is: one can be added to it.
const rtCustom = "CF"

func (f rtForm) value(want *dedup.Want) dedup.Value {
	all := fields{want: want}
	_, below, wantsCustom := want.At([]byte(rtCustom))
	custom := fields{want: below}
	for _, l := range f.lines {
		said := func() ([]byte, bool) { return []byte(f.said(l)), true }
		if name, ok := customField(l.name); ok && wantsCustom {
			custom.addText([]byte(name), said)
		}
		if l.name != rtCustom {
			all.addText([]byte(l.name), said)
		}
	}
	if wantsCustom {
		all.members = append(all.members, dedup.Member{Name: rtCustom, Value: custom.value()})
	}
	return all.value()
}

// edit is where the value goes: in a line of its own before the first field, or
// behind the colon of its empty field. A list in RT is one value after another
// in one field, which nobody can tell from a name with a comma in it, so that
// it is only written where there is none.
func (f rtForm) edit(w writing) (edit, bool) {
	name := strings.Join(w.Path, ".")
	if inner, ok := strings.CutPrefix(name, rtCustom+"."); ok {
		name = "CF.{" + strings.TrimSuffix(strings.TrimPrefix(inner, "{"), "}") + "}"
	}
	if got, ok := rtName([]byte(name + ":")); !ok || got != name || w.Item != nil || strings.ContainsAny(w.value, "\r\n") {
		return edit{}, false
	}
	var found []rtLine
	for _, l := range f.lines {
		if sameRTField(l.name, name) {
			found = append(found, l)
		}
	}
	switch {
	case len(found) == 0:
		first := f.lines[0]
		return edit{first.start, first.start, []byte(name + ": " + w.value + f.lineEnd())}, true
	case len(found) == 1 && (f.said(found[0]) == "" || w.Over && !w.List):
		return edit{found[0].value, max(found[0].end, found[0].rest), []byte(" " + w.value)}, true
	default:
		return edit{}, false
	}
}

func (f rtForm) lineEnd() string {
	if bytes.Contains(f.text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// sameRTField: RT looks at no case, and knows a custom field by any spelling.
func sameRTField(a, b string) bool {
	innerA, customA := customField(a)
	innerB, customB := customField(b)
	return customA == customB && (customA && strings.EqualFold(innerA, innerB) || strings.EqualFold(a, b))
}
