package body

import (
	"bytes"
	"encoding/json"
	"iter"
)

// A scanner finds places in text that is known to be valid JSON.
type scanner struct {
	text []byte
	pos  int
}

// An object is what a scanner saw of one object, looking for one name.
type object struct {
	members    int
	tail       int // behind the last member, or behind the brace
	found      int // how many members have the name
	start, end int // the value of the last of them
}

// object reads the object at the position; false if there is none.
func (s *scanner) object(name string) (object, bool) {
	s.space()
	if s.text[s.pos] != '{' {
		return object{}, false
	}
	s.pos++
	o := object{tail: s.pos}
	for s.space(); s.text[s.pos] != '}'; s.space() {
		if s.text[s.pos] == ',' {
			s.pos++
			s.space()
		}
		start := s.pos
		s.value()
		is := names(s.text[start:s.pos], name)
		s.space()
		s.pos++ // the colon
		s.space()
		start = s.pos
		s.value()
		if is {
			o.found++
			o.start, o.end = start, s.pos
		}
		o.members++
		o.tail = s.pos
	}
	s.pos++
	return o, true
}

// A span is where something stands.
type span struct{ start, end int }

// items passes over the list at the position.
func (s *scanner) items() iter.Seq[span] {
	return func(yield func(span) bool) {
		s.pos++
		for s.space(); s.text[s.pos] != ']'; s.space() {
			if s.text[s.pos] == ',' {
				s.pos++
				s.space()
			}
			start := s.pos
			s.value()
			if !yield(span{start, s.pos}) {
				return
			}
		}
		s.pos++
	}
}

func names(quoted []byte, name string) bool {
	if !bytes.Contains(quoted, []byte{'\\'}) {
		return string(quoted[1:len(quoted)-1]) == name
	}
	var s string
	return json.Unmarshal(quoted, &s) == nil && s == name
}

func (s *scanner) space() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// value passes over the value at the position.
func (s *scanner) value() {
	for depth := 0; s.pos < len(s.text); {
		switch c := s.text[s.pos]; c {
		case '"':
			s.quoted()
		case '{', '[':
			depth++
			s.pos++
		case '}', ']':
			depth--
			s.pos++
		case ',', ':', ' ', '\t', '\r', '\n':
			s.pos++ // inside a list or an object
		default:
			s.scalar()
		}
		if depth == 0 {
			return
		}
	}
}

func (s *scanner) quoted() {
	for s.pos++; s.text[s.pos] != '"'; s.pos++ {
		if s.text[s.pos] == '\\' {
			s.pos++
		}
	}
	s.pos++
}

func (s *scanner) scalar() {
	for s.pos < len(s.text) && bytes.IndexByte([]byte(",]} \t\r\n"), s.text[s.pos]) < 0 {
		s.pos++
	}
}
