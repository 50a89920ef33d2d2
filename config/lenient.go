package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// HCL fails on a member that is not there; in a rule it is missing, at any
// depth: one alert of a list may lack what the next one has.

type lenientMember struct{ hcl.TraverseAttr }

func (m lenientMember) TraversalStep(v cty.Value) (cty.Value, hcl.Diagnostics) {
	return member(v, cty.StringVal(m.Name)), nil
}

type lenientItem struct{ hcl.TraverseIndex }

func (i lenientItem) TraversalStep(v cty.Value) (cty.Value, hcl.Diagnostics) {
	return member(v, i.Key), nil
}

// lenient returns the steps such that each of them gives null where HCL's own
// would fail.
func lenient(steps hcl.Traversal) hcl.Traversal {
	out := make(hcl.Traversal, len(steps))
	for i, s := range steps {
		switch s := s.(type) {
		case hcl.TraverseAttr:
			out[i] = lenientMember{s}
		case hcl.TraverseIndex:
			out[i] = lenientItem{s}
		default:
			out[i] = s
		}
	}
	return out
}

// lenientIndex is collection[key] with a computed key.
type lenientIndex struct{ *hclsyntax.IndexExpr }

func (e lenientIndex) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	collection, diags := e.Collection.Value(ctx)
	key, keyDiags := e.Key.Value(ctx)
	if diags = append(diags, keyDiags...); diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	return member(collection, key), nil
}

// member returns the named member or numbered item of v, else null. What is
// not known yet (HCL tries a condition once before it has values) stays so.
func member(v, key cty.Value) cty.Value {
	switch {
	case !v.IsKnown() || !key.IsKnown():
		return cty.DynamicVal
	case v.IsNull() || key.IsNull():
		return missing
	}
	if v.Type().IsObjectType() {
		if key.Type() == cty.String && v.Type().HasAttribute(key.AsString()) {
			return v.GetAttr(key.AsString())
		}
		return missing
	}
	found, diags := hcl.Index(v, key, nil)
	if diags.HasErrors() {
		return missing
	}
	return found
}

// orFalse is the condition of a for expression: an element for which it is
// missing is left out.
type orFalse struct{ hclsyntax.Expression }

func (e orFalse) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := e.Expression.Value(ctx)
	if !diags.HasErrors() && v.IsNull() {
		return cty.False, diags
	}
	return v, diags
}
