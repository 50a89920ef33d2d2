package body

import (
	"bytes"
	"encoding/xml"
	"slices"

	"oneticket/dedup"
)

// An xmlElement is where an element stands that was passed over.
type xmlElement struct {
	tag      xmlTag
	tail     int // behind its last child, or behind its opening tag
	close    int // its closing tag
	end      int // behind it
	children int
	last     []byte // the prefix of its last child; its own when it has none
	found    int    // how many children have the name that was looked for
	one      span   // the last of these
	said     bool   // it has text of its own
	isNull   bool   // xsi:nil
}

// inXML is where in an XML text the value goes. An element that is added has
// the prefix of those beside it, which are in its namespace in all that a
// service describes of them.
func inXML(text []byte, w writing) (edit, bool) {
	if _, ok := readXML(text, wantsNothing, nil); !ok || len(w.Path) < 2 {
		return edit{}, false
	}
	s := xmlScanner{text: text}
	s.misc()
	next := ""
	for i, name := range w.Path[:len(w.Path)-1] {
		next = w.Path[i+1]
		at := s.pos
		e, ok := s.look(next)
		switch {
		case !ok || i == 0 && string(e.tag.local()) != name:
			return edit{}, false
		case i == len(w.Path)-2:
			return e.write(text, next, w)
		case e.found != 1 || at == e.one.start:
			return edit{}, false
		}
		s = xmlScanner{text: text, pos: e.one.start}
	}
	return edit{}, false
}

// look passes over the element at the position, and looks for children of the
// name.
func (s *xmlScanner) look(name string) (xmlElement, bool) {
	t, ok := s.open()
	if !ok {
		return xmlElement{}, false
	}
	e := xmlElement{tag: t, tail: s.pos, last: t.prefix()}
	for _, a := range s.attributes[t.attributes:] {
		e.isNull = e.isNull || string(localName(a.name)) == "nil" && string(a.raw) != "false"
	}
	ok = s.content(t, xmlContent{
		text: func(raw []byte, _ bool) bool { e.said = e.said || !blankText(raw); return true },
		child: func() bool {
			c, ok := s.open()
			if !ok || !s.skip(c) {
				return false
			}
			e.children++
			e.tail, e.last = s.pos, c.prefix()
			if string(c.local()) == name {
				e.found++
				e.one = span{c.start, s.pos}
			}
			return true
		},
	})
	e.end = s.pos
	if e.close = e.end; !t.empty {
		e.close = bytes.LastIndexByte(s.text[:e.end], '<')
	}
	return e, ok
}

// write is where in the element the child of the name goes.
func (e xmlElement) write(text []byte, name string, w writing) (edit, bool) {
	switch {
	case !isElementName(name):
		return edit{}, false
	case w.Item != nil:
		return e.writeItem(text, name, w)
	case e.found == 0:
		return e.insert(e.tail, name, w.value)
	case w.List:
		return e.insertItem(text, name, w.value)
	case e.found > 1:
		return edit{}, false
	}
	s := xmlScanner{text: text, pos: e.one.start}
	child, ok := s.look("")
	if !ok || child.children > 0 || child.isNull || child.said && !w.Over {
		return edit{}, false
	}
	return child.fill(text, xmlEscaped(w.value)), true
}

// insertItem adds a child behind those of its name, unless one has the value.
func (e xmlElement) insertItem(text []byte, name, value string) (edit, bool) {
	list, _ := readXML(text[e.tag.start:e.end], nil, nil)
	item := list.Member(string(e.tag.local())).Member(name)
	for _, one := range append(item.Items, item) {
		if one.Kind == dedup.StringValue && one.Literal == value {
			return edit{}, false
		}
	}
	return e.insert(e.one.end, name, value)
}

func isElementName(name string) bool {
	s := xmlScanner{text: []byte(name)}
	_, ok := s.name()
	return ok && s.pos == len(name) && !bytes.ContainsRune([]byte(name), ':')
}

// insert adds a child at a place between or behind the others.
func (e xmlElement) insert(at int, name, value string) (edit, bool) {
	return e.insertText(at, e.childOf(name, "", xmlEscaped(value)))
}

// childOf is the text of a child, with the prefix of those beside it.
func (e xmlElement) childOf(name, attributes string, content []byte) []byte {
	full := []byte(name)
	if len(e.last) > 0 {
		full = slices.Concat(e.last, []byte{':'}, full)
	}
	return slices.Concat([]byte{'<'}, full, []byte(attributes), []byte{'>'}, content, []byte("</"), full, []byte{'>'})
}

func (e xmlElement) insertText(at int, child []byte) (edit, bool) {
	if e.children == 0 && (e.said || e.isNull) {
		return edit{}, false // an element of text
	}
	if e.tag.empty {
		return e.fill(nil, child), true
	}
	return edit{at, at, child}, true
}

// fill puts something in the place of the blanks that the element holds, or
// behind a comment.
func (e xmlElement) fill(text, content []byte) edit {
	if e.tag.empty {
		return edit{e.tag.end - len("/>"), e.tag.end, slices.Concat([]byte{'>'}, content, []byte("</"), e.tag.name, []byte{'>'})}
	}
	if e.said || blankText(text[e.tag.end:e.close]) {
		return edit{e.tag.end, e.close, content}
	}
	return edit{e.close, e.close, content}
}

func xmlEscaped(s string) []byte {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(s)) // a buffer takes everything
	return out.Bytes()
}
