package body

import (
	"bytes"
	"unicode/utf8"
)

const (
	maxXMLDepth      = 256
	maxXMLElements   = 1 << 18
	maxXMLAttributes = 64  // of one element
	maxXMLSpaces     = 256 // that are named at one place
)

// An xmlScanner passes over the parts of an XML text. It knows no DOCTYPE and
// so no entity but the five of XML itself: nothing in a text can grow, or name
// a file. Each method that reports false has met what is no such XML.
type xmlScanner struct {
	text       []byte
	pos        int
	depth      int
	elements   int
	attributes []xmlAttribute // of all open elements
	spaces     []xmlSpace     // of all open elements, the innermost last
	budget     *budget
}

type xmlAttribute struct{ name, raw []byte }

// An xmlSpace is the namespace that a prefix stands for; the default one has
// the prefix "".
type xmlSpace struct{ prefix, name []byte }

// An xmlTag is an opening tag. The attributes and namespaces from the two
// indexes on are its own.
type xmlTag struct {
	name               []byte
	start, end         int // of the tag
	empty              bool
	attributes, spaces int
}

// local is the name without its prefix.
func (t xmlTag) local() []byte { return localName(t.name) }

func localName(name []byte) []byte { return name[bytes.IndexByte(name, ':')+1:] }

func (t xmlTag) prefix() []byte { return t.name[:max(0, bytes.IndexByte(t.name, ':'))] }

func isXMLSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func (s *xmlScanner) space() {
	for s.pos < len(s.text) && isXMLSpace(s.text[s.pos]) {
		s.pos++
	}
}

func (s *xmlScanner) has(prefix string) bool {
	return len(s.text)-s.pos >= len(prefix) && string(s.text[s.pos:s.pos+len(prefix)]) == prefix
}

// past passes over the next place where the mark stands.
func (s *xmlScanner) past(mark string) bool {
	n := bytes.Index(s.text[s.pos:], []byte(mark))
	s.pos += n + len(mark)
	return n >= 0
}

// misc passes over blanks, comments and instructions, which may stand before
// and behind the root element.
func (s *xmlScanner) misc() bool {
	for {
		s.space()
		if !s.has("<?") && !s.has("<!--") {
			return true
		}
		if !s.aside() {
			return false
		}
	}
}

// aside passes over the comment or instruction at the position.
func (s *xmlScanner) aside() bool {
	if s.has("<?") {
		return s.past("?>")
	}
	s.pos += len("<!--")
	return s.past("-->")
}

// name reads the name at the position.
func (s *xmlScanner) name() ([]byte, bool) {
	start := s.pos
	for s.pos < len(s.text) && isXMLName(s.text[s.pos]) {
		s.pos++
	}
	name := s.text[start:s.pos]
	colon := bytes.IndexByte(name, ':')
	good := len(name) > 0 && name[0] != '-' && name[0] != '.' && (name[0] < '0' || name[0] > '9')
	return name, good && colon != 0 && colon != len(name)-1
}

func isXMLName(c byte) bool {
	return c >= utf8.RuneSelf || 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= ':' || c == '_' || c == '-' || c == '.'
}

// open reads the opening tag at the position. Whoever opens an element closes
// it, by forget at least.
func (s *xmlScanner) open() (xmlTag, bool) {
	t := xmlTag{start: s.pos, attributes: len(s.attributes), spaces: len(s.spaces)}
	s.depth++
	s.elements++
	if !s.has("<") || s.depth > maxXMLDepth || s.elements > maxXMLElements || !s.budget.spend(1) {
		return t, false
	}
	s.pos++
	var ok bool
	if t.name, ok = s.name(); !ok {
		return t, false
	}
	for {
		s.space()
		switch {
		case s.has(">"):
			s.pos++
			t.end = s.pos
			return t, true
		case s.has("/>"):
			s.pos += 2
			t.end, t.empty = s.pos, true
			return t, true
		case !s.attribute(t):
			return t, false
		}
	}
}

func (s *xmlScanner) attribute(t xmlTag) bool {
	name, ok := s.name()
	if !ok {
		return false
	}
	s.space()
	if !s.has("=") {
		return false
	}
	s.pos++
	s.space()
	if !s.has(`"`) && !s.has("'") {
		return false
	}
	mark := s.text[s.pos : s.pos+1]
	s.pos++
	start := s.pos
	if !s.past(string(mark)) {
		return false
	}
	raw := s.text[start : s.pos-1]
	return bytes.IndexByte(raw, '<') < 0 && validReferences(raw) && s.keep(t, name, raw)
}

// keep takes an attribute. One that stands twice is no XML.
func (s *xmlScanner) keep(t xmlTag, name, raw []byte) bool {
	if string(name) == "xmlns" || bytes.HasPrefix(name, []byte("xmlns:")) {
		uri, _ := appendXMLText(nil, raw)
		s.spaces = append(s.spaces, xmlSpace{bytes.TrimPrefix(bytes.TrimPrefix(name, []byte("xmlns")), []byte(":")), uri})
		return len(s.spaces) <= maxXMLSpaces
	}
	for _, a := range s.attributes[t.attributes:] {
		if bytes.Equal(a.name, name) {
			return false
		}
	}
	s.attributes = append(s.attributes, xmlAttribute{name, raw})
	return len(s.attributes)-t.attributes <= maxXMLAttributes
}

// close passes over the closing tag at the position.
func (s *xmlScanner) close(t xmlTag) bool {
	s.pos += len("</")
	if !bytes.HasPrefix(s.text[s.pos:], t.name) {
		return false
	}
	s.pos += len(t.name)
	s.space()
	closed := s.has(">")
	s.pos++
	s.forget(t)
	return closed
}

// forget drops what an open element has added.
func (s *xmlScanner) forget(t xmlTag) {
	s.depth--
	s.attributes, s.spaces = s.attributes[:t.attributes], s.spaces[:t.spaces]
}

// space of a prefix; nil when it stands for none.
func (s *xmlScanner) spaceOf(prefix []byte) []byte {
	for i := len(s.spaces) - 1; i >= 0; i-- {
		if bytes.Equal(s.spaces[i].prefix, prefix) {
			return s.spaces[i].name
		}
	}
	return nil
}

// skip passes over the rest of an element whose opening tag is behind us.
func (s *xmlScanner) skip(t xmlTag) bool {
	return s.content(t, xmlContent{})
}

// xmlContent is what is done with what an element holds; nil passes over it.
type xmlContent struct {
	text  func(raw []byte, literal bool) bool
	child func() bool // at the opening tag
}

// content passes over what an element holds, and its closing tag.
func (s *xmlScanner) content(t xmlTag, do xmlContent) bool {
	if t.empty {
		s.forget(t)
		return true
	}
	for {
		n := bytes.IndexByte(s.text[s.pos:], '<')
		if n < 0 || !s.characters(s.text[s.pos:s.pos+n], false, do) {
			return false
		}
		s.pos += n
		switch {
		case s.has("</"):
			return s.close(t)
		case s.has("<![CDATA["):
			s.pos += len("<![CDATA[")
			start := s.pos
			if !s.past("]]>") || !s.characters(s.text[start:s.pos-len("]]>")], true, do) {
				return false
			}
		case s.has("<?"), s.has("<!--"):
			if !s.aside() {
				return false
			}
		case !s.inner(do):
			return false
		}
	}
}

func (s *xmlScanner) characters(raw []byte, literal bool, do xmlContent) bool {
	if do.text == nil {
		return literal || validReferences(raw)
	}
	return len(raw) == 0 || do.text(raw, literal)
}

func (s *xmlScanner) inner(do xmlContent) bool {
	if do.child != nil {
		return do.child()
	}
	t, ok := s.open()
	return ok && s.skip(t)
}
