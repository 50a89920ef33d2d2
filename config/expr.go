package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"oneticket/dedup"
)

// An expression is one compiled expression of a rule. The places that it reads
// became variables ("slots"), so that absence at any depth is null and nothing
// else of a body is looked at. It is immutable.
type expression struct {
	at    hcl.Range
	tree  hclsyntax.Expression // evaluated by HCL
	slots []place              // the variables of tree, see slotName
	quick quick                // the same in Go; nil when the expression is more than Go compiles

	reads []place         // slots, without those that are only compared with null
	calls map[string]bool // the functions that it calls
}

// text returns the value as identity text; false when it is missing, which it
// also is when the evaluation fails.
func (e *expression) text(in *input) (string, bool) {
	if e.quick != nil {
		return e.quick(in).final()
	}
	v, ok := e.value(in)
	if !ok {
		return "", false
	}
	return textOf(v)
}

// truth reports whether the value is true; what is missing is not.
func (e *expression) truth(in *input) bool {
	text, _ := e.text(in)
	return text == "true"
}

// value evaluates the whole expression.
func (e *expression) value(in *input) (cty.Value, bool) {
	variables := make(map[string]cty.Value, len(e.slots)+1)
	for i := range e.slots {
		variables[slotName(i)] = evaluable(e.slots[i].value(in))
	}
	variables[inputName] = cty.CapsuleVal(inputType, in)
	ctx := hcl.EvalContext{Variables: variables, Functions: callable}
	v, diags := e.tree.Value(&ctx)
	if diags.HasErrors() || !v.IsKnown() || v.IsNull() {
		return missing, false
	}
	return v, true
}

// names reports whether the expression reads something below the root.
func (e *expression) names(root string) bool {
	return slices.ContainsFunc(e.reads, func(p place) bool { return p.root == root })
}

// constant makes an expression of a value.
func constant(text string, at hcl.Range) *expression {
	return &expression{
		at:    at,
		tree:  &hclsyntax.LiteralValueExpr{Val: cty.StringVal(text), SrcRange: at},
		quick: func(*input) quickValue { return quickValue{text: text, kind: isText} },
	}
}

// A quick evaluates an expression without HCL.
type quick func(*input) quickValue

// A quickValue is what HCL would have made of the same: a text, null, a list
// or object, or a failure.
type quickValue struct {
	text string
	kind quickKind
}

type quickKind uint8

const (
	isNull quickKind = iota
	isText
	isCompound
	hasFailed
)

// final is the value as identity text.
func (v quickValue) final() (string, bool) {
	if v.kind != isText {
		return "", false
	}
	return dedup.TextOf(v.text)
}

func quickOf(v dedup.Value) quickValue {
	switch {
	case len(v.Items) > 0 || len(v.Members) > 0:
		return quickValue{kind: isCompound}
	default:
		if text, ok := v.Text(); ok {
			return quickValue{text: text, kind: isText}
		}
		return quickValue{}
	}
}

func quickBool(b bool) quickValue {
	if b {
		return quickValue{text: "true", kind: isText}
	}
	return quickValue{text: "false", kind: isText}
}
