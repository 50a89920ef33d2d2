package body

import (
	"encoding/json"
	"slices"
	"strings"

	"oneticket/dedup"
)

// itemObject is the item as it is added to a list of JSON.
func itemObject(i *dedup.TokenItem, quoted []byte) []byte {
	name, _ := quote(i.Name) // a name of the configuration is a text
	member, _ := quote(i.Value)
	is, _ := quote(i.Is)
	if json.Valid([]byte(i.Is)) && strings.Trim(i.Is, "0123456789") == "" {
		is = []byte(i.Is)
	}
	return slices.Concat([]byte{'{'}, name, []byte{':'}, is, []byte{','}, member, []byte{':'}, quoted, []byte{'}'})
}

// inItem is where in the list between start and end the value goes.
func inItem(text []byte, start, end int, w writing, quoted []byte) (edit, bool) {
	if string(text[start:end]) == "null" {
		return edit{start, end, w.made(quoted)}, true
	}
	if text[start] != '[' {
		return edit{}, false
	}
	s := scanner{text: text, pos: start}
	tail, items := start+1, 0
	var found []span
	for item := range s.items() {
		if isItem(w.Item, text[item.start:item.end]) {
			found = append(found, item)
		}
		tail, items = item.end, items+1
	}
	switch {
	case len(found) == 0 && items == 0:
		return edit{tail, tail, itemObject(w.Item, quoted)}, true
	case len(found) == 0:
		return edit{tail, tail, append([]byte{','}, itemObject(w.Item, quoted)...)}, true
	case len(found) > 1:
		return edit{}, false
	}
	inside := writing{Place{Path: []string{w.Item.Value}, Over: w.Over}, w.value}
	e, ok := inJSON(text[found[0].start:found[0].end], inside)
	return edit{found[0].start + e.start, found[0].start + e.end, e.text}, ok
}

// isItem reports whether the text is the object that is meant.
func isItem(i *dedup.TokenItem, text []byte) bool {
	s := scanner{text: text}
	o, ok := s.object(i.Name)
	if !ok || o.found != 1 {
		return false
	}
	value := text[o.start:o.end]
	var said string
	if json.Unmarshal(value, &said) != nil {
		said = string(value)
	}
	return strings.TrimSpace(said) == i.Is
}
