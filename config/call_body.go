package config

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"oneticket/dedup"
)

// A template is the body of a call, as it is written in the file. A plain path
// in it is copied as it stood: a number stays one, an object is whole.
type template struct {
	members  []templateMember // of an object
	items    []*template      // of a list
	compound bool
	object   bool

	leaf     *expression
	place    *place // of a leaf that is a plain path
	optional bool
}

type templateMember struct {
	name string
	of   *template
}

// compileTemplate returns nil when something in it is wrong.
func (c *compiler) compileTemplate(e hclsyntax.Expression) *template {
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		return c.compileTemplate(e.Expression)
	case *hclsyntax.ObjectConsExpr:
		return c.compileObject(e)
	case *hclsyntax.TupleConsExpr:
		t := &template{compound: true}
		for _, item := range e.Exprs {
			t.items = append(t.items, c.compileTemplate(item))
		}
		return t
	}
	return c.compileLeaf(e)
}

func (c *compiler) compileObject(e *hclsyntax.ObjectConsExpr) *template {
	t := &template{compound: true, object: true}
	for _, item := range e.Items {
		name, diags := memberName(item)
		if *c.diags = append(*c.diags, diags...); diags.HasErrors() {
			continue
		}
		t.members = append(t.members, templateMember{name, c.compileTemplate(item.ValueExpr)})
	}
	return t
}

func (c *compiler) compileLeaf(e hclsyntax.Expression) *template {
	t := &template{leaf: c.compile(e), optional: isCallOf(e, "optional")}
	if _, plain := e.(*hclsyntax.ScopeTraversalExpr); plain && t.leaf != nil {
		t.place = &t.leaf.slots[0]
	}
	return t
}

// value fills the template in; the missing value is for what says nothing. It
// reports false when whole is set and a part is missing that is not optional.
func (t *template) value(in *input, whole bool) (dedup.Value, bool) {
	switch {
	case t.leaf != nil:
		v := t.leafValue(in)
		return v, v.Kind != dedup.MissingValue || !whole || t.optional
	case t.object:
		return t.objectValue(in, whole)
	}
	list := dedup.Value{Kind: dedup.ListValue}
	for _, item := range t.items {
		v, ok := item.value(in, whole)
		if !ok {
			return dedup.Value{}, false
		}
		if v.Kind != dedup.MissingValue {
			list.Items = append(list.Items, v)
		}
	}
	if len(t.items) > 0 && len(list.Items) == 0 {
		return dedup.Value{}, true
	}
	return list, true
}

// objectValue: an object of which every member is missing says nothing.
func (t *template) objectValue(in *input, whole bool) (dedup.Value, bool) {
	object := dedup.Value{Kind: dedup.ObjectValue}
	for _, m := range t.members {
		v, ok := m.of.value(in, whole)
		if !ok {
			return dedup.Value{}, false
		}
		if v.Kind != dedup.MissingValue {
			object.Members = append(object.Members, dedup.Member{Name: m.name, Value: v})
		}
	}
	if len(t.members) > 0 && len(object.Members) == 0 {
		return dedup.Value{}, true
	}
	return object, true
}

// leafValue is missing for all that is missing in an identity:
// blanks and unexpanded macros are no news for a ticket either.
func (t *template) leafValue(in *input) dedup.Value {
	if t.place != nil {
		v := t.place.value(in)
		if _, scalar := v.Text(); scalar || len(v.Items) > 0 || len(v.Members) > 0 {
			return v
		}
		return dedup.Value{}
	}
	v, ok := t.leaf.value(in)
	if !ok {
		return dedup.Value{}
	}
	return valueOf(v)
}

// reads are the places that the template names.
func (t *template) reads() []*expression {
	if t == nil {
		return nil
	}
	if t.leaf != nil {
		return []*expression{t.leaf}
	}
	var all []*expression
	for _, m := range t.members {
		all = append(all, m.of.reads()...)
	}
	for _, item := range t.items {
		all = append(all, item.reads()...)
	}
	return all
}

// valueOf turns what HCL evaluated into a value.
func valueOf(v cty.Value) dedup.Value {
	switch {
	case !v.IsKnown() || v.IsNull():
		return dedup.Value{}
	case v.Type() == cty.Number:
		return dedup.Value{Kind: dedup.NumberValue, Literal: v.AsBigFloat().Text('f', -1)}
	case v.Type() == cty.Bool:
		text, _ := textOf(v)
		return dedup.Value{Kind: dedup.BoolValue, Literal: text}
	case v.Type() == cty.String:
		return textValue(v.AsString())
	case v.Type().IsObjectType() || v.Type().IsMapType():
		object := dedup.Value{Kind: dedup.ObjectValue}
		for it := v.ElementIterator(); it.Next(); {
			name, member := it.Element()
			if of := valueOf(member); of.Kind != dedup.MissingValue {
				object.Members = append(object.Members, dedup.Member{Name: name.AsString(), Value: of})
			}
		}
		return object
	case v.CanIterateElements():
		list := dedup.Value{Kind: dedup.ListValue}
		for _, item := range v.AsValueSlice() {
			list.Items = append(list.Items, valueOf(item))
		}
		return list
	}
	return dedup.Value{}
}
