package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"oneticket/dedup"
)

// A TokenItem is the one object of a list that carries the token: that whose
// member Name says Is. Where there is none it is added.
type TokenItem struct {
	Name, Is string
	Value    string // the member that is the token
	Element  string // how the objects are named in XML; "" = not in XML
}

// tokenItem reads token.item, value and element.
func (l *loader) tokenItem(s shape) *TokenItem {
	i := &TokenItem{Value: "value", Element: s.text("element")}
	if _, given := s.members["value"]; given {
		i.Value = s.text("value")
	}
	inner := shape{l: l, setting: "token.item", at: s.at, members: map[string]hclsyntax.Expression{}}
	if e, given := s.members["item"]; given {
		inner.overlay(e, nil)
	}
	if len(inner.order) != 1 || i.Value == "" {
		l.fail(s.at, "which object of the list?", `A token of the form "item" says which object of the list has it, and in which member: item = { id = "7" }, value = "value".`)
		return i
	}
	i.Name = inner.order[0]
	i.Is = inner.text(i.Name)
	return i
}

// of are the objects of the list that are the item. XML has them below their
// name, and their names as attributes too.
func (i *TokenItem) of(v dedup.Value) []dedup.Value {
	if v.Kind == dedup.ObjectValue {
		v = v.Member(i.Element)
	}
	all := v.Items
	if v.Kind == dedup.ObjectValue {
		all = []dedup.Value{v}
	}
	return slices.DeleteFunc(slices.Clone(all), func(one dedup.Value) bool {
		said, _ := one.Member(i.Name).Text()
		attribute, _ := one.Member("@" + i.Name).Text()
		return said != i.Is && attribute != i.Is
	})
}

// carriedByItem is Rule.carried for what stands where the list should be.
func (r *Rule) carriedByItem(list dedup.Value, native string) bool {
	switch list.Kind {
	case dedup.MissingValue, dedup.NullValue, dedup.ListValue:
	case dedup.ObjectValue, dedup.StringValue: // of XML, also an empty one
		if r.TokenItem.Element == "" {
			return false
		}
	default:
		return false
	}
	found := r.TokenItem.of(list)
	if len(found) != 1 {
		return len(found) == 0
	}
	text, ok := found[0].Member(r.TokenItem.Value).Text()
	return !ok || text == native || r.TokenVolatile
}
