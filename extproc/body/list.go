package body

import (
	"bytes"
	"encoding/json"
	"slices"
)

// A List is a list in a body of JSON, item by item as it is written.
type List struct {
	body       *Body
	start, end int // of the list, with its brackets
	spans      []span
}

// List finds the list at the path of members; the empty path is the whole
// body. It reports false where the body is no JSON, or there is not one list.
func (b *Body) List(path []string) (*List, bool) {
	if b.format() != isJSON || !json.Valid(b.Text) {
		return nil, false
	}
	s := scanner{text: b.Text}
	for _, name := range path {
		o, ok := s.object(name)
		if !ok || o.found != 1 {
			return nil, false
		}
		s.pos = o.start
	}
	if s.space(); s.text[s.pos] != '[' {
		return nil, false
	}
	l := &List{body: b, start: s.pos}
	for item := range s.items() {
		l.spans = append(l.spans, item)
	}
	l.end = s.pos
	return l, true
}

// Len is how many items there are.
func (l *List) Len() int { return len(l.spans) }

// Around is how many bytes of the text are not in the list.
func (l *List) Around() int { return len(l.body.Text) - (l.end - l.start) }

// Text is the item at the index, byte by byte.
func (l *List) Text(i int) []byte { return l.body.Text[l.spans[i].start:l.spans[i].end] }

// Texts are all items.
func (l *List) Texts() [][]byte {
	all := make([][]byte, len(l.spans))
	for i := range l.spans {
		all[i] = l.Text(i)
	}
	return all
}

// Plain is the body's text with these items in place of the list's. Every
// other byte stays.
func (l *List) Plain(items [][]byte) []byte {
	return edit{l.start, l.end, slices.Concat([]byte{'['}, bytes.Join(items, []byte{','}), []byte{']'})}.of(l.body.Text)
}

// With is Plain, encoded as the body came; false where that cannot be done.
func (l *List) With(items [][]byte) ([]byte, bool) {
	plain, ok := l.body.encode(l.Plain(items))
	if !ok {
		return nil, false
	}
	raw, err := l.body.coding.deflate(slices.Concat(l.body.mark, plain))
	return raw, err == nil
}

// KeepItems is the body with only those items of the list at the path for which
// keep is true, encoded as it came. What is kept, and all around the list, stays
// byte by byte. It reports false where that cannot be done.
func (b *Body) KeepItems(path []string, keep []bool) ([]byte, bool) {
	l, ok := b.List(path)
	if !ok || l.Len() != len(keep) {
		return nil, false
	}
	var items [][]byte
	for i, kept := range keep {
		if kept {
			items = append(items, l.Text(i))
		}
	}
	return l.With(items)
}

// SetRaw returns the text of JSON with the value of the member at path, which
// must be there once, replaced by another text of JSON.
func SetRaw(text []byte, path []string, value []byte) ([]byte, bool) {
	if len(path) == 0 || !json.Valid(text) {
		return nil, false
	}
	s := scanner{text: text}
	var o object
	for _, name := range path {
		found, ok := s.object(name)
		if !ok || found.found != 1 {
			return nil, false
		}
		o, s.pos = found, found.start
	}
	return edit{o.start, o.end, value}.of(text), true
}
