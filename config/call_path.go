package config

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// compilePath compiles the path of a call. What it fills in becomes one segment
// of the path, whatever is in it; only base is several.
func (c *compiler) compilePath(e hclsyntax.Expression) *expression {
	out := c.compile(e)
	if out == nil {
		return nil
	}
	tree, ok := out.escaped(out.tree)
	if !ok {
		c.fail(e.Range(), "this is no path", `A path is a text that begins with a slash, without "?" and "#", with values in it as ${ticket.id}.`)
		return nil
	}
	out.tree, out.quick = tree, nil
	return out
}

// escaped returns the tree such that it escapes what it fills in.
func (e *expression) escaped(tree hclsyntax.Expression) (hclsyntax.Expression, bool) {
	switch t := tree.(type) {
	case *hclsyntax.ParenthesesExpr:
		return e.escaped(t.Expression)
	case *hclsyntax.ConditionalExpr:
		n := *t
		var ok, also bool
		n.TrueResult, ok = e.escaped(t.TrueResult)
		n.FalseResult, also = e.escaped(t.FalseResult)
		return &n, ok && also
	case *hclsyntax.TemplateExpr:
		return e.escapedTemplate(t)
	}
	return tree, false
}

func (e *expression) escapedTemplate(t *hclsyntax.TemplateExpr) (hclsyntax.Expression, bool) {
	n := *t
	n.Parts = make([]hclsyntax.Expression, len(t.Parts))
	for i, part := range t.Parts {
		literal, ok := part.(*hclsyntax.LiteralValueExpr)
		switch {
		case ok && !(isPathText(literal.Val.AsString()) && (i > 0 || literal.Val.AsString()[0] == '/')):
			return t, false
		case ok:
			n.Parts[i] = part
		default:
			n.Parts[i] = segment{part, e.isBase(part)}
		}
	}
	return &n, len(n.Parts) > 0
}

// isPathText reports whether a text of the file can stand in a path as it is.
func isPathText(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c >= 0x7f || strings.ContainsRune(`?#\%`, c) })
}

func (e *expression) isBase(part hclsyntax.Expression) bool {
	v, ok := part.(*hclsyntax.ScopeTraversalExpr)
	if !ok {
		return false
	}
	for i := range e.slots {
		if v.Traversal.RootName() == slotName(i) {
			return e.slots[i].root == "base"
		}
	}
	return false
}

// A segment is a value in a path, percent-encoded.
type segment struct {
	hclsyntax.Expression
	several bool // it may be empty, and its slashes stay
}

func (s segment) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := s.Expression.Value(ctx)
	if diags.HasErrors() {
		return v, diags
	}
	text, ok := textOf(v)
	switch {
	case s.several:
		parts := strings.Split(text, "/")
		for i := range parts {
			parts[i] = url.PathEscape(parts[i])
		}
		return cty.StringVal(strings.Join(parts, "/")), nil
	case !ok:
		return v, hcl.Diagnostics{problem(s.Range(), "nothing to fill in", fmt.Sprintf("The path has no value at %d.", s.Range().Start.Column))}
	}
	return cty.StringVal(url.PathEscape(text)), nil
}

// isPath reports whether s can be sent as a path and is read by everybody as
// what it says: a segment that is a dot or two leads elsewhere.
func isPath(s string) bool {
	if !strings.HasPrefix(s, "/") || strings.HasPrefix(s, "//") {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '?' || c == '#' || c == '\\' {
			return false
		}
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "." || part == ".." {
			return false
		}
	}
	return true
}
