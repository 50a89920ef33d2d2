package body

import "oneticket/dedup"

// writeItem is where the value goes in the list of the name, an element that
// holds one for each item. An item is named by an attribute or by an element:
//
//	<custom_fields type="array"><custom_field id="7"><value>x</value></custom_field></custom_fields>
func (e xmlElement) writeItem(text []byte, list string, w writing) (edit, bool) {
	i := w.Item
	if !isElementName(i.Element) || !isElementName(i.Name) || !isElementName(i.Value) {
		return edit{}, false
	}
	switch e.found {
	case 0:
		return e.insertText(e.tail, e.childOf(list, ` type="array"`, e.itemText(w)))
	case 1:
	default:
		return edit{}, false
	}
	s := xmlScanner{text: text, pos: e.one.start}
	all, ok := s.look(i.Element)
	if !ok {
		return edit{}, false
	}
	named, ok := all.itemsNamed(text, i)
	switch {
	case !ok || len(named) > 1:
		return edit{}, false
	case len(named) == 0:
		return all.insertText(all.tail, all.itemText(w))
	}
	s = xmlScanner{text: text, pos: named[0].start}
	one, ok := s.look(i.Value)
	if !ok {
		return edit{}, false
	}
	inside := w
	inside.Item = nil
	return one.write(text, i.Value, inside)
}

// itemText is the item as it is added to the element.
func (e xmlElement) itemText(w writing) []byte {
	return e.childOf(w.Item.Element, " "+w.Item.Name+`="`+string(xmlEscaped(w.Item.Is))+`"`, e.childOf(w.Item.Value, "", xmlEscaped(w.value)))
}

// itemsNamed are the children that are the item which is meant.
func (e xmlElement) itemsNamed(text []byte, i *dedup.TokenItem) (named []span, ok bool) {
	s := xmlScanner{text: text, pos: e.tag.start}
	t, ok := s.open()
	if !ok || t.empty {
		return nil, ok
	}
	ok = s.content(t, xmlContent{child: func() bool {
		c, ok := s.open()
		if !ok || !s.skip(c) {
			return false
		}
		if string(c.local()) == i.Element && isXMLItem(text[c.start:s.pos], i) {
			named = append(named, span{c.start, s.pos})
		}
		return true
	}})
	return named, ok
}

// isXMLItem reports whether the text is the element that is meant.
func isXMLItem(text []byte, i *dedup.TokenItem) bool {
	v, ok := readXML(text, nil, nil)
	if !ok {
		return false
	}
	return len(i.Of(v)) > 0
}
