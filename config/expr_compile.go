package config

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// What expressions over a request, and over a backend's answer, may name.
var (
	requestRoots = []string{"body", "each", "headers", "host", "method", "path", "query"}
	answerRoots  = []string{"body", "headers", "status", "text"}
)

func slotName(i int) string { return "slot " + strconv.Itoa(i) } // no name that a user can write

// A compiler turns the expressions of one rule into their compiled form and
// collects what is wrong with them.
type compiler struct {
	roots      []string
	severities *severityMap // what severity() maps with
	getenv     Getenv
	diags      *hcl.Diagnostics

	locals map[string]int // variables of the for expressions around, by how often
	out    *expression
}

// compile returns nil when the expression is wrong.
func (c *compiler) compile(e hclsyntax.Expression) *expression {
	before := len(*c.diags)
	c.locals = map[string]int{}
	c.out = &expression{at: e.Range(), calls: map[string]bool{}}
	if c.out.tree = c.rewrite(e); len(*c.diags) == before {
		c.check(e)
	}
	if len(*c.diags) > before {
		return nil
	}
	c.out.quick = c.quick(e)
	return c.out
}

// rewrite returns a copy of e in which variables are slots, a missing member
// is null, and operators compare text. The tree itself is left as it is: a
// preset's is compiled once for each rule.
func (c *compiler) rewrite(e hclsyntax.Expression) hclsyntax.Expression {
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return c.rewriteVariable(e)
	case *hclsyntax.FunctionCallExpr:
		return c.rewriteCall(e)
	case *hclsyntax.BinaryOpExpr:
		return c.rewriteBinary(e)
	case *hclsyntax.ForExpr:
		return c.rewriteFor(e)
	case *hclsyntax.ObjectConsExpr:
		return c.rewriteObject(e)
	}
	return c.rewritePlain(e)
}

// rewritePlain handles the nodes of which only the children change.
func (c *compiler) rewritePlain(e hclsyntax.Expression) hclsyntax.Expression {
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		n := *e
		n.Expression = c.rewrite(e.Expression)
		return &n
	case *hclsyntax.RelativeTraversalExpr:
		n := *e
		n.Source, n.Traversal = c.rewrite(e.Source), lenient(e.Traversal)
		return &n
	case *hclsyntax.IndexExpr:
		n := *e
		n.Collection, n.Key = c.rewrite(e.Collection), c.rewrite(e.Key)
		return lenientIndex{&n}
	case *hclsyntax.SplatExpr:
		n := *e
		n.Source, n.Each = c.rewrite(e.Source), c.rewrite(e.Each)
		return &n
	case *hclsyntax.ConditionalExpr:
		n := *e
		n.Condition, n.TrueResult, n.FalseResult = c.rewrite(e.Condition), c.rewrite(e.TrueResult), c.rewrite(e.FalseResult)
		return &n
	case *hclsyntax.UnaryOpExpr:
		n := *e
		n.Val = c.rewrite(e.Val)
		if e.Op == hclsyntax.OpLogicalNot {
			n.Op = opNot
		}
		return &n
	case *hclsyntax.TupleConsExpr:
		n := *e
		n.Exprs = c.rewriteAll(e.Exprs)
		return &n
	}
	return c.rewriteTemplate(e)
}

func (c *compiler) rewriteTemplate(e hclsyntax.Expression) hclsyntax.Expression {
	switch e := e.(type) {
	case *hclsyntax.TemplateExpr:
		n := *e
		n.Parts = c.rewriteAll(e.Parts)
		return &n
	case *hclsyntax.TemplateWrapExpr:
		n := *e
		n.Wrapped = c.rewrite(e.Wrapped)
		return &n
	case *hclsyntax.TemplateJoinExpr:
		n := *e
		n.Tuple = c.rewrite(e.Tuple)
		return &n
	}
	return e // a literal, or the item of a splat
}

func (c *compiler) rewriteAll(in []hclsyntax.Expression) []hclsyntax.Expression {
	out := make([]hclsyntax.Expression, len(in))
	for i, e := range in {
		out[i] = c.rewrite(e)
	}
	return out
}

func (c *compiler) rewriteVariable(e *hclsyntax.ScopeTraversalExpr) hclsyntax.Expression {
	n := *e
	root := e.Traversal[0].(hcl.TraverseRoot)
	if c.locals[root.Name] > 0 {
		n.Traversal = append(hcl.Traversal{root}, lenient(e.Traversal[1:])...)
		return &n
	}
	if !slices.Contains(c.roots, root.Name) {
		c.failName(root)
		return e
	}
	p, ok := placeOf(e.Traversal)
	if !ok {
		c.fail(e.SrcRange, "unknown kind of path", "A path goes to members by name and to items by number.")
		return e
	}
	if p.root == eachName && !p.isEachValue() {
		c.fail(e.SrcRange, "each has one member", "It is each.value: the item of for_each, or the body of a request that is one create.")
		return e
	}
	c.out.reads = append(c.out.reads, p)
	return c.slot(e, p)
}

// slot returns the variable that stands for the place.
func (c *compiler) slot(e hclsyntax.Expression, p place) hclsyntax.Expression {
	name := slotName(len(c.out.slots))
	c.out.slots = append(c.out.slots, p)
	return &hclsyntax.ScopeTraversalExpr{
		Traversal: hcl.Traversal{hcl.TraverseRoot{Name: name, SrcRange: e.Range()}}, SrcRange: e.Range()}
}

// rewriteBesideNull is rewrite for what is compared with the word null.
func (c *compiler) rewriteBesideNull(e hclsyntax.Expression) hclsyntax.Expression {
	if isWholeBody(e) && c.locals["body"] == 0 {
		return c.slot(e, place{root: bodyPresent})
	}
	return c.rewrite(e)
}

func isWholeBody(e hclsyntax.Expression) bool {
	v, ok := e.(*hclsyntax.ScopeTraversalExpr)
	return ok && len(v.Traversal) == 1 && v.Traversal.RootName() == "body"
}

func (c *compiler) rewriteBinary(e *hclsyntax.BinaryOpExpr) hclsyntax.Expression {
	n := *e
	besideNull := isNullWord(e.LHS) || isNullWord(e.RHS)
	if besideNull {
		n.LHS, n.RHS = c.rewriteBesideNull(e.LHS), c.rewriteBesideNull(e.RHS)
	} else {
		n.LHS, n.RHS = c.rewrite(e.LHS), c.rewrite(e.RHS)
	}
	switch e.Op {
	case hclsyntax.OpEqual:
		n.Op = opEqual
		if besideNull {
			n.Op = opIsNull
		}
	case hclsyntax.OpNotEqual:
		n.Op = opNotEqual
		if besideNull {
			n.Op = opNotNull
		}
	case hclsyntax.OpLogicalAnd:
		n.Op = opAnd
	case hclsyntax.OpLogicalOr:
		n.Op = opOr
	}
	return &n
}

func (c *compiler) rewriteFor(e *hclsyntax.ForExpr) hclsyntax.Expression {
	n := *e
	n.CollExpr = c.rewrite(e.CollExpr)
	c.locals[e.KeyVar]++
	c.locals[e.ValVar]++
	if e.KeyExpr != nil {
		n.KeyExpr = c.rewrite(e.KeyExpr)
	}
	n.ValExpr = c.rewrite(e.ValExpr)
	if e.CondExpr != nil {
		n.CondExpr = orFalse{c.rewrite(e.CondExpr)}
	}
	c.locals[e.KeyVar]--
	c.locals[e.ValVar]--
	return &n
}

func (c *compiler) rewriteObject(e *hclsyntax.ObjectConsExpr) hclsyntax.Expression {
	n := *e
	n.Items = slices.Clone(e.Items)
	for i, item := range e.Items {
		n.Items[i].ValueExpr = c.rewrite(item.ValueExpr)
		key, ok := item.KeyExpr.(*hclsyntax.ObjectConsKeyExpr)
		if !ok || (!key.ForceNonLiteral && hcl.ExprAsKeyword(key.Wrapped) != "") {
			continue
		}
		copied := *key
		copied.Wrapped = c.rewrite(key.Wrapped)
		n.Items[i].KeyExpr = &copied
	}
	return &n
}

func (c *compiler) rewriteCall(e *hclsyntax.FunctionCallExpr) hclsyntax.Expression {
	f, ok := functions[e.Name]
	if !ok {
		*c.diags = append(*c.diags, unknownFunction(e.NameRange, e.Name))
		c.rewriteAll(e.Args) // for what is wrong with them
		return e
	}
	if e.Name == "env" {
		return c.foldEnv(e)
	}
	if !c.checkArity(e, f) {
		return e
	}
	switch e.Name {
	case xmlName:
		return c.rewriteXML(e)
	case graphqlName:
		return c.rewriteGraphQL(e)
	}
	if place, ok := c.jsonPlace(e); ok {
		c.out.reads = append(c.out.reads, place)
		return c.slot(e, place)
	}
	c.out.calls[e.Name] = true
	n := *e
	n.Args = c.rewriteAll(e.Args)
	if f.hidden != noHidden {
		n.Args = append(n.Args, &hclsyntax.ScopeTraversalExpr{
			Traversal: hcl.Traversal{hcl.TraverseRoot{Name: inputName, SrcRange: e.NameRange}}, SrcRange: e.NameRange})
	}
	if f.hidden == withSeverities {
		n.Args = append(n.Args, &hclsyntax.LiteralValueExpr{
			Val: cty.CapsuleVal(severityMapType, c.severities), SrcRange: e.NameRange})
	}
	return &n
}

// jsonPlace is the place in jsonencode(body.a.b). It is written by dedup, which
// knows what in a body cannot be read and must not look like null.
func (c *compiler) jsonPlace(e *hclsyntax.FunctionCallExpr) (place, bool) {
	if e.Name != "jsonencode" || len(e.Args) != 1 || e.ExpandFinal {
		return place{}, false
	}
	v, ok := e.Args[0].(*hclsyntax.ScopeTraversalExpr)
	if !ok || c.locals[v.Traversal.RootName()] > 0 || !slices.Contains(c.roots, v.Traversal.RootName()) {
		return place{}, false
	}
	p, ok := placeOf(v.Traversal)
	p.json = true
	return p, ok
}

func (c *compiler) checkArity(e *hclsyntax.FunctionCallExpr, f builtin) bool {
	if e.ExpandFinal && f.hidden == noHidden {
		return true
	}
	switch n := len(e.Args); {
	case e.ExpandFinal:
		c.fail(e.NameRange, fmt.Sprintf("%s() takes no expanded list", e.Name), "Write its arguments out.")
	case n < f.min:
		c.fail(e.CloseParenRange, fmt.Sprintf("too few arguments of %s()", e.Name),
			fmt.Sprintf("Found %d, it takes %s.", n, f.takes()))
	case f.max >= 0 && n > f.max:
		c.fail(e.Args[f.max].Range(), fmt.Sprintf("too many arguments of %s()", e.Name),
			fmt.Sprintf("Found %d, it takes %s.", n, f.takes()))
	default:
		return true
	}
	return false
}

// foldEnv puts the variable's value in the place of the call: the environment
// is read when the configuration is, never for a request.
func (c *compiler) foldEnv(e *hclsyntax.FunctionCallExpr) hclsyntax.Expression {
	v, diags := e.Value(&hcl.EvalContext{Functions: map[string]function.Function{"env": envFunc(c.getenv)}})
	if diags.HasErrors() {
		*c.diags = append(*c.diags, envDiags(e, diags)...)
		return e
	}
	return &hclsyntax.LiteralValueExpr{Val: v, SrcRange: e.Range()}
}

func (c *compiler) fail(at hcl.Range, summary, detail string) {
	*c.diags = append(*c.diags, problem(at, summary, detail))
}
