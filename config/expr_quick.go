package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"oneticket/dedup"
)

// quickTexts are the functions of one text that are compiled to Go.
var quickTexts = map[string]func(string) string{
	"lower":     strings.ToLower,
	"upper":     strings.ToUpper,
	"trimspace": strings.TrimSpace,
}

// quick compiles what rules are mostly made of: plain paths, literals, lower,
// upper, trimspace, coalesce, try, severity, contains, ==, !=, &&, || and !. It
// returns nil for all else.
// It must agree with HCL's evaluation of the same, and a test says so.
func (c *compiler) quick(e hclsyntax.Expression) quick {
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		return c.quick(e.Expression)
	case *hclsyntax.ScopeTraversalExpr:
		p, ok := placeOf(e.Traversal)
		if !ok {
			return nil
		}
		return func(in *input) quickValue { return quickOf(p.value(in)) }
	case *hclsyntax.LiteralValueExpr:
		return quickLiteral(e.Val)
	case *hclsyntax.TemplateExpr:
		if !e.IsStringLiteral() {
			return nil
		}
		v, _ := e.Value(nil)
		return quickLiteral(v)
	case *hclsyntax.BinaryOpExpr:
		return c.quickBinary(e)
	case *hclsyntax.UnaryOpExpr:
		return c.quickNot(e)
	case *hclsyntax.FunctionCallExpr:
		return c.quickCall(e)
	}
	return nil
}

func quickLiteral(v cty.Value) quick {
	literal := quickValue{}
	switch {
	case v.IsNull():
	case v.Type() == cty.String:
		literal = quickValue{text: v.AsString(), kind: isText}
	default:
		text, ok := textOf(v)
		if !ok {
			return nil
		}
		literal = quickValue{text: text, kind: isText}
	}
	return func(*input) quickValue { return literal }
}

func (c *compiler) quickBinary(e *hclsyntax.BinaryOpExpr) quick {
	switch e.Op {
	case hclsyntax.OpLogicalAnd, hclsyntax.OpLogicalOr:
		return c.quickLogical(e)
	case hclsyntax.OpEqual, hclsyntax.OpNotEqual:
		return c.quickComparison(e)
	}
	return nil
}

// isTruth reports whether the expression can only be true, false or missing.
func isTruth(e hclsyntax.Expression) bool {
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		return isTruth(e.Expression)
	case *hclsyntax.UnaryOpExpr:
		return e.Op == hclsyntax.OpLogicalNot && isTruth(e.Val)
	case *hclsyntax.BinaryOpExpr:
		logical := e.Op == hclsyntax.OpLogicalAnd || e.Op == hclsyntax.OpLogicalOr
		return e.Op == hclsyntax.OpEqual || e.Op == hclsyntax.OpNotEqual || logical && isTruth(e.LHS) && isTruth(e.RHS)
	}
	return false
}

func (c *compiler) quickNot(e *hclsyntax.UnaryOpExpr) quick {
	if !isTruth(e) {
		return nil
	}
	inner := c.quick(e.Val)
	if inner == nil {
		return nil
	}
	return func(in *input) quickValue {
		v := inner(in)
		if v.kind != isText {
			return v
		}
		return quickBool(v.text != "true")
	}
}

// quickLogical is && (settled by false) and || (settled by true).
func (c *compiler) quickLogical(e *hclsyntax.BinaryOpExpr) quick {
	if !isTruth(e) {
		return nil
	}
	left, right := c.quick(e.LHS), c.quick(e.RHS)
	if left == nil || right == nil {
		return nil
	}
	settled := quickBool(e.Op == hclsyntax.OpLogicalOr)
	return func(in *input) quickValue {
		a := left(in)
		if a == settled {
			return settled
		}
		b := right(in)
		switch {
		case a.kind == hasFailed || b.kind == hasFailed:
			return quickValue{kind: hasFailed}
		case b == settled:
			return settled
		case a.kind == isNull || b.kind == isNull:
			return quickValue{}
		}
		return quickBool(settled.text != "true")
	}
}

func (c *compiler) quickComparison(e *hclsyntax.BinaryOpExpr) quick {
	equal := e.Op == hclsyntax.OpEqual
	if isNullWord(e.LHS) || isNullWord(e.RHS) {
		return c.quickNullComparison(e, equal)
	}
	left, right := c.quick(e.LHS), c.quick(e.RHS)
	if left == nil || right == nil {
		return nil
	}
	return func(in *input) quickValue { return left(in).compare(right(in), equal) }
}

func (c *compiler) quickNullComparison(e *hclsyntax.BinaryOpExpr, equal bool) quick {
	left, right := c.quickBesideNull(e.LHS), c.quickBesideNull(e.RHS)
	if left == nil || right == nil {
		return nil
	}
	return func(in *input) quickValue { return left(in).isNull(right(in), equal) }
}

func (c *compiler) quickBesideNull(e hclsyntax.Expression) quick {
	if isWholeBody(e) {
		p := place{root: bodyPresent}
		return func(in *input) quickValue { return quickOf(p.value(in)) }
	}
	return c.quick(e)
}

func (v quickValue) isNull(other quickValue, want bool) quickValue {
	if v.kind == hasFailed || other.kind == hasFailed {
		return quickValue{kind: hasFailed}
	}
	return quickBool((v.kind == isNull && other.kind == isNull) == want)
}

func (v quickValue) compare(other quickValue, equal bool) quickValue {
	if v.kind == hasFailed || other.kind == hasFailed {
		return quickValue{kind: hasFailed}
	}
	a, okA := v.final()
	b, okB := other.final()
	switch {
	case okA && okB:
		return quickBool((a == b) == equal)
	case equal:
		return quickBool(false)
	}
	return quickValue{}
}

func (c *compiler) quickCall(e *hclsyntax.FunctionCallExpr) quick {
	if e.ExpandFinal {
		return nil
	}
	if p, ok := c.jsonPlace(e); ok {
		return func(in *input) quickValue { return quickOf(p.value(in)) }
	}
	if e.Name == xmlName {
		places, _ := c.xmlPlaces(e)
		return quickXML(places)
	}
	if e.Name == "contains" && len(e.Args) == 2 {
		return c.quickContains(e)
	}
	args := make([]quick, len(e.Args))
	for i := range e.Args {
		if args[i] = c.quick(e.Args[i]); args[i] == nil {
			return nil
		}
	}
	if f, ok := quickTexts[e.Name]; ok && len(args) == 1 {
		return func(in *input) quickValue { return args[0](in).apply(f) }
	}
	switch e.Name {
	case "coalesce":
		return func(in *input) quickValue { return quickCoalesce(args, in) }
	case "try", "optional":
		return func(in *input) quickValue { return quickTry(args, in) }
	case "severity":
		severities := c.severities
		return func(in *input) quickValue { return severities.quick(args, in) }
	}
	return nil
}

func (v quickValue) apply(f func(string) string) quickValue {
	switch v.kind {
	case isText:
		return quickValue{text: f(v.text), kind: isText}
	case isCompound: // a function of texts takes no list
		return quickValue{kind: hasFailed}
	}
	return v
}

// quickCoalesce looks at every argument, as HCL does: one that fails makes the
// call fail.
func quickCoalesce(args []quick, in *input) quickValue {
	var first quickValue
	for _, arg := range args {
		v := arg(in)
		if v.kind == hasFailed {
			return v
		}
		if first.kind == isNull && (v.kind == isCompound || v.kind == isText && v.text != "") {
			first = v
		}
	}
	return first
}

func quickTry(args []quick, in *input) quickValue {
	for _, arg := range args {
		if v := arg(in); v.kind == isText || v.kind == isCompound {
			return v
		}
	}
	return quickValue{}
}

// quickContains compiles contains() of a list that is written out.
func (c *compiler) quickContains(e *hclsyntax.FunctionCallExpr) quick {
	tuple, ok := e.Args[0].(*hclsyntax.TupleConsExpr)
	wanted := c.quick(e.Args[1])
	if !ok || wanted == nil {
		return nil
	}
	list := map[string]bool{}
	for _, item := range tuple.Exprs {
		v, diags := item.Value(nil)
		if diags.HasErrors() {
			return nil
		}
		if text, ok := textOf(v); ok {
			list[text] = true
		}
	}
	return func(in *input) quickValue {
		v := wanted(in)
		if v.kind == hasFailed {
			return v
		}
		text, ok := v.final()
		if !ok {
			return quickValue{}
		}
		return quickBool(list[text])
	}
}

// normal is the identity text of s, or "" when it has none.
func normal(s string) string {
	text, _ := dedup.TextOf(s)
	return text
}
