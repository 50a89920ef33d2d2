package config

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"oneticket/dedup"
)

// tokenItem reads token.item, value and element.
func (l *loader) tokenItem(s shape) *dedup.TokenItem {
	i := &dedup.TokenItem{Value: "value", Element: s.text("element")}
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
	found := r.TokenItem.Of(list)
	if len(found) != 1 {
		return len(found) == 0
	}
	text, ok := found[0].Member(r.TokenItem.Value).Text()
	return !ok || text == native || r.TokenVolatile
}
