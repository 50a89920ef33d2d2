package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"oneticket/dedup"
)

// The operators of a rule differ from HCL's in two things: texts are compared,
// and what is missing makes no error but a missing result, where the other
// side does not settle it.
var (
	opEqual    = compareOp(func(a, b string, both bool) cty.Value { return cty.BoolVal(both && a == b) })
	opNotEqual = compareOp(func(a, b string, both bool) cty.Value {
		if !both {
			return missing
		}
		return cty.BoolVal(a != b)
	})
	opIsNull  = nullOp(true)
	opNotNull = nullOp(false)
	opAnd     = logicalOp(false)
	opOr      = logicalOp(true)
	opNot     = &hclsyntax.Operation{Type: cty.Bool, Impl: looseFunc(1, func(args []cty.Value) (cty.Value, error) {
		b, err := convert.Convert(args[0], cty.Bool)
		if err != nil || b.IsNull() {
			return missing, err
		}
		return b.Not(), nil
	})}
)

// looseFunc makes a function of n parameters that take anything, null too.
func looseFunc(n int, impl func([]cty.Value) (cty.Value, error)) function.Function {
	params := make([]function.Parameter, n)
	for i := range params {
		params[i] = anything("value")
	}
	return function.New(&function.Spec{
		Params: params,
		Type:   function.StaticReturnType(cty.DynamicPseudoType),
		Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { return impl(args) },
	})
}

func anything(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.DynamicPseudoType, AllowNull: true, AllowDynamicType: true}
}

func compareOp(compare func(a, b string, both bool) cty.Value) *hclsyntax.Operation {
	return &hclsyntax.Operation{Type: cty.Bool, Impl: looseFunc(2, func(args []cty.Value) (cty.Value, error) {
		a, okA := textOf(args[0])
		b, okB := textOf(args[1])
		return compare(a, b, okA && okB), nil
	})}
}

// nullOp compares with the word null, which always stands on one side.
func nullOp(want bool) *hclsyntax.Operation {
	return &hclsyntax.Operation{Type: cty.Bool, Impl: looseFunc(2, func(args []cty.Value) (cty.Value, error) {
		return cty.BoolVal((args[0].IsNull() && args[1].IsNull()) == want), nil
	})}
}

// logicalOp is && (settled by false) or || (settled by true).
func logicalOp(settles bool) *hclsyntax.Operation {
	return &hclsyntax.Operation{
		Type: cty.Bool,
		Impl: looseFunc(2, func(args []cty.Value) (cty.Value, error) {
			a, err := convert.Convert(args[0], cty.Bool)
			if err != nil {
				return missing, err
			}
			b, err := convert.Convert(args[1], cty.Bool)
			switch {
			case err != nil:
				return missing, err
			case isBool(a, settles) || isBool(b, settles):
				return cty.BoolVal(settles), nil
			case a.IsNull() || b.IsNull():
				return missing, nil
			}
			return cty.BoolVal(!settles), nil
		}),
		ShortCircuit: func(a, b cty.Value, _, _ hcl.Diagnostics) (cty.Value, hcl.Diagnostics) {
			if isBool(a, settles) {
				return cty.BoolVal(settles), nil
			}
			return cty.NilVal, nil
		},
	}
}

func isBool(v cty.Value, want bool) bool {
	return v.IsKnown() && !v.IsNull() && v.Type() == cty.Bool && v.True() == want
}

// textOf returns the value as identity text. Lists and objects have none.
func textOf(v cty.Value) (string, bool) {
	if !v.IsKnown() || v.IsNull() {
		return "", false
	}
	switch v.Type() {
	case cty.String:
		return dedup.TextOf(v.AsString())
	case cty.Number:
		return dedup.Value{Kind: dedup.NumberValue, Literal: v.AsBigFloat().Text('f', -1)}.Text()
	case cty.Bool:
		if v.True() {
			return "true", true
		}
		return "false", true
	}
	return "", false
}

func isNullWord(e hclsyntax.Expression) bool {
	literal, ok := e.(*hclsyntax.LiteralValueExpr)
	return ok && literal.Val.IsNull()
}
