package body

import (
	"slices"

	"oneticket/dedup"
)

// readXML reads an XML text as the object of its root element. An element that
// holds no other is its text; another is the object of the elements in it, by
// their local names, and of its attributes, by "@" and theirs. Text between
// elements is not looked at, and the attributes of an element of text only
// where it is they that are wanted.
//
// What stands more than once is a list. What stands once is a list of one
// where its items are wanted, or where the element around it says type="array".
//
// A place that is wanted by a name of the form {namespace}local has the
// elements of that namespace only; it is beside the one by the local name.
func readXML(text []byte, want *dedup.Want, within *budget) (dedup.Value, bool) {
	r := xmlReader{xmlScanner: xmlScanner{text: text, budget: within}}
	if !r.misc() || !r.child(want, false) || !r.misc() || r.pos != len(r.text) {
		return dedup.Value{}, false
	}
	return dedup.Value{Kind: dedup.ObjectValue, Members: r.take(0)}, true
}

// An xmlReader builds Values. What elements hold is gathered on a stack that
// all levels share.
type xmlReader struct {
	xmlScanner
	found []xmlFound
	name  []byte
}

type xmlFound struct {
	name  string
	value dedup.Value
	list  bool
}

// wantsNothing is of a place that is only checked.
var wantsNothing = dedup.NewWant()

// child reads the element at the position. It is read twice where it is wanted
// by both of its names.
func (r *xmlReader) child(want *dedup.Want, list bool) bool {
	t, ok := r.open()
	if !ok {
		return false
	}
	name, local, wanted := want.At(t.local())
	spaced, below, wantedToo := r.atSpaced(t, want)
	if !wanted && !wantedToo {
		return r.skip(t)
	}
	depth, pos := r.depth, r.pos
	attributes, spaces := r.attributes, r.spaces
	if wanted && !r.element(t, name, local, list) {
		return false
	}
	if !wantedToo {
		return true
	}
	r.depth, r.pos, r.attributes, r.spaces = depth, pos, attributes, spaces
	return r.element(t, spaced, below, list)
}

// atSpaced is what is wanted of the element by its full name.
func (r *xmlReader) atSpaced(t xmlTag, want *dedup.Want) (string, *dedup.Want, bool) {
	if want.Whole() {
		return "", nil, false // it would be there twice
	}
	r.name = append(append(append(append(r.name[:0], '{'), r.spaceOf(t.prefix())...), '}'), t.local()...)
	return want.At(r.name)
}

// element reads the rest of the element and pushes its value.
func (r *xmlReader) element(t xmlTag, name string, want *dedup.Want, list bool) bool {
	if items, ok := want.AtItems(); ok && !want.Whole() {
		want, list = items, true
	}
	v, ok := r.value(t, want)
	r.found = append(r.found, xmlFound{name, v, list})
	return ok
}

func (r *xmlReader) value(t xmlTag, want *dedup.Want) (dedup.Value, bool) {
	base, children := len(r.found), 0
	own, isArray := r.ownAttributes(t, want)
	var said xmlText
	do := xmlContent{child: func() bool { children++; return r.child(want, isArray) }}
	if want.Whole() {
		do.text = func(raw []byte, literal bool) bool {
			if children > 0 {
				return literal || validReferences(raw)
			}
			return said.add(raw, literal)
		}
	}
	if !r.content(t, do) {
		return dedup.Value{}, false
	}
	if children == 0 && (want.Whole() && (own == nil || !said.isBlank()) || !want.Whole() && own == nil) {
		r.found = r.found[:base]
		return textValue(said.text(), want), true
	}
	return dedup.Value{Kind: dedup.ObjectValue, Members: append(own, r.take(base)...)}, true
}

// ownAttributes are the attributes of the tag that are wanted.
func (r *xmlReader) ownAttributes(t xmlTag, want *dedup.Want) (own []dedup.Member, isArray bool) {
	for _, a := range r.attributes[t.attributes:] {
		isArray = isArray || string(a.name) == "type" && string(a.raw) == "array"
		r.name = append(append(r.name[:0], '@'), localName(a.name)...)
		if name, below, wanted := want.At(r.name); wanted {
			text, _ := appendXMLText(nil, a.raw)
			own = append(own, dedup.Member{Name: name, Value: textValue(text, below)})
		}
	}
	return oncePerName(own), isArray
}

// oncePerName: two attributes of one local name have other prefixes, and are
// missing.
func oncePerName(members []dedup.Member) []dedup.Member {
	kept := members[:0]
	for _, m := range members {
		if i := slices.IndexFunc(kept, func(k dedup.Member) bool { return k.Name == m.Name }); i >= 0 {
			kept[i].Value = dedup.Value{}
			continue
		}
		kept = append(kept, m)
	}
	return kept
}

// take takes the elements above base from the stack, those of one name as one.
func (r *xmlReader) take(base int) []dedup.Member {
	found := r.found[base:]
	if len(found) == 0 {
		return nil
	}
	all := make([]dedup.Member, 0, min(len(found), fewFields))
	index := map[string]int(nil)
	if len(found) > fewFields {
		index = make(map[string]int, len(found))
	}
	listed := make([]bool, 0, cap(all))
	for _, f := range found {
		i := memberIndex(all, index, f.name)
		if i < 0 {
			if index != nil {
				index[f.name] = len(all)
			}
			all, listed = append(all, dedup.Member{Name: f.name, Value: f.value}), append(listed, false)
			i = len(all) - 1
			if f.list {
				all[i].Value, listed[i] = dedup.Value{Kind: dedup.ListValue, Items: []dedup.Value{f.value}}, true
			}
			continue
		}
		if !listed[i] {
			all[i].Value, listed[i] = dedup.Value{Kind: dedup.ListValue, Items: []dedup.Value{all[i].Value}}, true
		}
		all[i].Value.Items = append(all[i].Value.Items, f.value)
	}
	r.found = r.found[:base]
	return all
}

func memberIndex(all []dedup.Member, index map[string]int, name string) int {
	if index == nil {
		return slices.IndexFunc(all, func(m dedup.Member) bool { return m.Name == name })
	}
	if i, ok := index[name]; ok {
		return i
	}
	return -1
}
