package body

import (
	"bytes"
	"encoding/json"
	"slices"
)

// An edit puts text in place of what is between start and end.
type edit struct {
	start, end int
	text       []byte
}

func (e edit) of(text []byte) []byte {
	return slices.Concat(text[:e.start], e.text, text[e.end:])
}

// Put returns the body with the value at the place, in the body's own form and
// encoded as the body came. A member that is absent is added to the object (the
// form, the element) that has it; one that is null or blank gets the value. A
// list that is absent or null is made. Every other byte stays. What is around
// the place must be there, once. In a form, and in XML, a list is a name that
// stands more than once.
//
// It reports false, and the body is to be sent as it came, where something
// stands already that is not to be replaced, or that cannot be done.
func (b *Body) Put(at Place, value string) ([]byte, bool) {
	w := writing{at, value}
	e, ok := b.edit(w)
	if !ok {
		return nil, false
	}
	plain, ok := b.encode(e.of(b.Text))
	if !ok {
		return nil, false
	}
	raw, err := b.coding.deflate(slices.Concat(b.mark, plain))
	return raw, err == nil
}

// SetField is Put at a member.
func (b *Body) SetField(path []string, value string) ([]byte, bool) {
	return b.Put(Place{Path: path}, value)
}

// AddItem is Put at a list.
func (b *Body) AddItem(path []string, value string) ([]byte, bool) {
	return b.Put(Place{Path: path, List: true}, value)
}

func (b *Body) edit(w writing) (edit, bool) {
	if len(w.Path) == 0 {
		return edit{}, false
	}
	switch b.format() {
	case isXML:
		return inXML(b.Text, w)
	case isForm:
		return b.editForm(w)
	case isMultipart:
		return b.editMultipart(w)
	case isGraphQL:
		return edit{}, false
	default:
		return inJSON(b.Text, w)
	}
}

// encode puts the text back into the body's charset, if that would have given
// the body itself, byte by byte.
func (b *Body) encode(text []byte) ([]byte, bool) {
	if b.charset == nil {
		return text, true
	}
	again, err := b.charset.NewEncoder().Bytes(b.Text)
	if err != nil || !bytes.Equal(again, b.Plain[len(b.mark):]) {
		return nil, false
	}
	plain, err := b.charset.NewEncoder().Bytes(text)
	return plain, err == nil
}

// Put is Body.Put for a text of JSON, which may have a byte order mark.
func Put(original []byte, at Place, value string) ([]byte, bool) {
	text, mark := original, []byte(nil)
	if m := marks[0].bytes; bytes.HasPrefix(text, []byte(m)) {
		mark, text = text[:len(m)], text[len(m):]
	}
	if len(at.Path) == 0 {
		return nil, false
	}
	e, ok := inJSON(text, writing{at, value})
	if !ok {
		return nil, false
	}
	return slices.Concat(mark, e.of(text)), true
}

// SetField is Put at a member.
func SetField(original []byte, path []string, value string) ([]byte, bool) {
	return Put(original, Place{Path: path}, value)
}

// inJSON is where in a text of JSON the value goes.
func inJSON(text []byte, w writing) (edit, bool) {
	quoted, ok := quote(w.value)
	if !ok || !json.Valid(text) {
		return edit{}, false
	}
	s := scanner{text: text}
	if s.space(); s.text[s.pos] == '[' {
		return inPatch(&s, w)
	}
	for i, name := range w.Path {
		object, ok := s.object(name)
		last := i == len(w.Path)-1
		switch {
		case !ok || object.found > 1 || !last && object.found == 0:
			return edit{}, false
		case !last:
			s.pos = object.start
		case object.found == 0:
			return object.add(name, w.made(quoted))
		case w.Item != nil:
			return inItem(text, object.start, object.end, w, quoted)
		case w.List:
			return inList(text, object.start, object.end, w.value)
		default:
			return edit{object.start, object.end, quoted}, w.free(text[object.start:object.end])
		}
	}
	return edit{}, false
}

// made is the value of a member that is not there yet.
func (w writing) made(quoted []byte) []byte {
	switch {
	case w.Item != nil:
		return slices.Concat([]byte{'['}, itemObject(w.Item, quoted), []byte{']'})
	case w.List:
		return slices.Concat([]byte{'['}, quoted, []byte{']'})
	default:
		return quoted
	}
}

// free reports whether the value may be written over this one.
func (w writing) free(value []byte) bool {
	scalar := value[0] != '{' && value[0] != '['
	return blank(value) || w.Over && scalar
}

// inList adds an item to the list between start and end.
func inList(text []byte, start, end int, value string) (edit, bool) {
	quoted, ok := quote(value)
	if string(text[start:end]) == "null" {
		return edit{start, end, slices.Concat([]byte{'['}, quoted, []byte{']'})}, ok
	}
	if text[start] != '[' {
		return edit{}, false
	}
	s := scanner{text: text, pos: start}
	tail, items := start+1, 0
	for item := range s.items() {
		var said string
		if json.Unmarshal(text[item.start:item.end], &said) == nil && said == value {
			return edit{}, false
		}
		tail, items = item.end, items+1
	}
	if items > 0 {
		quoted = append([]byte{','}, quoted...)
	}
	return edit{tail, tail, quoted}, ok
}

// blank reports whether a member with this value counts as missing.
func blank(value []byte) bool {
	if string(value) == "null" {
		return true
	}
	var s string
	return value[0] == '"' && json.Unmarshal(value, &s) == nil && blankText([]byte(s))
}

func quote(s string) ([]byte, bool) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(s)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err == nil
}

// add is the edit that adds a member behind the object's last one.
func (o object) add(name string, value []byte) (edit, bool) {
	quotedName, ok := quote(name)
	comma := []byte(nil)
	if o.members > 0 {
		comma = []byte{','}
	}
	return edit{o.tail, o.tail, slices.Concat(comma, quotedName, []byte{':'}, value)}, ok
}
