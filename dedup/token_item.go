package dedup

import "slices"

// A TokenItem is the one object of a list of a body that carries the token: that
// whose member Name says Is, as text. Where there is none it is added.
type TokenItem struct {
	Name, Is string
	Value    string // the member that is the token
	Element  string // how the objects are named in XML; "": in XML nothing is written
}

// Of are the objects of the list v that are the item: none, or one, in a list as
// it should be. XML has them below their name, and their names as attributes too.
func (i *TokenItem) Of(v Value) []Value {
	if v.Kind == ObjectValue {
		v = v.Member(i.Element)
	}
	all := v.Items
	if v.Kind == ObjectValue {
		all = []Value{v}
	}
	return slices.DeleteFunc(slices.Clone(all), func(one Value) bool {
		said, _ := one.Member(i.Name).Text()
		attribute, _ := one.Member("@" + i.Name).Text()
		return said != i.Is && attribute != i.Is
	})
}
