package config

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// check finds in an expression what would fail for every request, and would
// then look as if the request lacked something.
func (c *compiler) check(e hclsyntax.Expression) {
	// The walker itself reports nothing: what it finds goes to the compiler.
	_ = hclsyntax.Walk(e, &checker{c: c})
}

// A checker walks an expression. What stands in try() and can() may fail.
type checker struct {
	c      *compiler
	locals []string // variables of the for expressions around
	tries  int
	found  []int // for each open node, how much was reported before it
}

func (w *checker) Enter(node hclsyntax.Node) hcl.Diagnostics {
	w.found = append(w.found, len(*w.c.diags))
	switch n := node.(type) {
	case *hclsyntax.ForExpr:
		w.locals = append(w.locals, n.KeyVar, n.ValVar)
	case *hclsyntax.FunctionCallExpr:
		if isLenient(n.Name) {
			w.tries++
		}
	case *hclsyntax.ScopeTraversalExpr:
		w.checkPath(n.Traversal)
	}
	return nil
}

func (w *checker) Exit(node hclsyntax.Node) hcl.Diagnostics {
	before := w.found[len(w.found)-1]
	w.found = w.found[:len(w.found)-1]
	switch n := node.(type) {
	case *hclsyntax.ForExpr:
		w.locals = w.locals[:len(w.locals)-2]
	case *hclsyntax.FunctionCallExpr:
		if isLenient(n.Name) {
			w.tries--
		}
		if len(*w.c.diags) == before { // else an argument is wrong already
			w.checkCall(n)
		}
	}
	return nil
}

func isLenient(function string) bool {
	return function == "try" || function == "can" || function == "optional"
}

// textRoots are the names that are one text, and fieldRoots those whose
// members are texts.
var (
	textRoots  = []string{"host", "method", "path", "status", "text"}
	fieldRoots = []string{"headers", "query"}
)

// checkPath: a member of a text is never there.
func (w *checker) checkPath(t hcl.Traversal) {
	root := t.RootName()
	depth := 0
	if slices.Contains(fieldRoots, root) {
		depth = 1
	}
	isText := slices.Contains(textRoots, root) || depth == 1
	if !isText || slices.Contains(w.locals, root) || len(t) <= 1+depth {
		return
	}
	w.c.fail(t[1+depth].SourceRange(), fmt.Sprintf("%s is a text", written(t[:1+depth])), "A text has no members: this would be missing in every request.")
}

func (w *checker) checkCall(e *hclsyntax.FunctionCallExpr) {
	switch {
	case (e.Name == "regex" || e.Name == "regexall") && len(e.Args) > 0:
		w.checkPattern(e.Args[0], "")
	case e.Name == "replace" && len(e.Args) > 1:
		w.checkPattern(e.Args[1], "/")
	case e.Name == "contains" && len(e.Args) > 0:
		w.checkList(e)
	case e.Name == "request_key" && len(e.Args) > 0:
		w.checkKeyOptions(e)
	}
	if w.tries == 0 && isConstant(e) {
		if _, diags := e.Value(&hcl.EvalContext{Functions: callable}); diags.HasErrors() {
			for _, d := range diags {
				*w.c.diags = append(*w.c.diags, inOurWords(d))
			}
		}
	}
}

// checkPattern checks a pattern that stands in the file; with fence, only one
// that stands between two of it.
func (w *checker) checkPattern(e hclsyntax.Expression, fence string) {
	text, ok := literal(e)
	if !ok || fence != "" && (len(text) < 2 || !strings.HasPrefix(text, fence) || !strings.HasSuffix(text, fence)) {
		return
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, fence), fence)
	if _, err := regexp.Compile(text); err != nil {
		*w.c.diags = append(*w.c.diags, patternProblem(e, text, err))
	}
}

func (w *checker) checkList(e *hclsyntax.FunctionCallExpr) {
	if text, ok := literal(e.Args[0]); ok {
		w.c.fail(e.Args[0].Range(), "contains() takes a list", fmt.Sprintf("Found the text %q. A text in a text is found by strcontains(text, part).", text))
	}
}

// checkKeyOptions evaluates options that stand in the file; nothing else may.
func (w *checker) checkKeyOptions(e *hclsyntax.FunctionCallExpr) {
	if !isConstant(e.Args[0]) {
		return
	}
	v, diags := e.Args[0].Value(&hcl.EvalContext{Functions: callable})
	if diags.HasErrors() {
		return
	}
	if _, err := requestKeyOptions(v); err != nil {
		w.c.fail(e.Args[0].Range(), "options of request_key()", sentence(err.Error()))
	}
}

// isConstant reports whether nothing in e depends on a request or on the
// environment.
func isConstant(e hclsyntax.Expression) bool {
	if len(e.Variables()) > 0 {
		return false
	}
	constant := true
	_ = hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		if call, ok := n.(*hclsyntax.FunctionCallExpr); ok {
			constant = constant && functions[call.Name].hidden == noHidden && call.Name != "env" && !isLenient(call.Name)
		}
		return nil
	})
	return constant
}

// literal is the text that e is, as it stands in the file.
func literal(e hclsyntax.Expression) (string, bool) {
	t, ok := e.(*hclsyntax.TemplateExpr)
	if !ok || !t.IsStringLiteral() {
		return "", false
	}
	v, diags := t.Value(nil)
	if diags.HasErrors() || v.Type() != cty.String {
		return "", false
	}
	return v.AsString(), true
}

// patternProblem points at the part of a pattern that is wrong.
func patternProblem(e hclsyntax.Expression, text string, err error) *hcl.Diagnostic {
	at, found := e.Range(), err.Error()
	hint := "allowed is RE2 syntax"
	if broken, ok := err.(*syntax.Error); ok {
		found = broken.Code.String()
		if part := brokenPart(text, broken); len(part) > 1 && part != text {
			found += " in `" + part + "`"
		}
		at = partOf(e, text, broken)
		switch broken.Code {
		case syntax.ErrInvalidPerlOp:
			hint = "RE2 has no look-ahead and no look-behind"
		case syntax.ErrInvalidEscape:
			hint = "RE2 has no back-references, and escapes only what has a meaning"
		case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
			hint = `a parenthesis that stands for itself is written \\( in a text`
		}
	}
	return problem(at, "bad regular expression", sentence("found: "+found+"; "+hint))
}

// brokenPart is what the error is about.
func brokenPart(text string, err *syntax.Error) string {
	switch err.Code {
	case syntax.ErrMissingParen:
		return "("
	case syntax.ErrUnexpectedParen:
		return ")"
	}
	return err.Expr
}

// partOf is where in the file the broken part stands; all of e where that
// cannot be told.
func partOf(e hclsyntax.Expression, text string, err *syntax.Error) hcl.Range {
	at := e.Range()
	part := brokenPart(text, err)
	offset := strings.Index(text, part)
	if err.Code == syntax.ErrMissingParen || err.Code == syntax.ErrUnexpectedParen {
		offset = lonelyParen(text)
	}
	literal, isLiteral := literal(e)
	lead := strings.Index(literal, text) // a fence
	sourceWidth := at.End.Byte - at.Start.Byte - len(`""`)
	if offset < 0 || !isLiteral || lead < 0 || sourceLength(literal) != sourceWidth {
		return at
	}
	from := 1 + sourceLength(literal[:lead+offset])
	return hcl.Range{Filename: at.Filename, Start: forward(at.Start, from), End: forward(at.Start, from+sourceLength(part))}
}

// sourceLength is how many bytes the text takes in the file, between its
// quotes, if it is written in the usual way.
func sourceLength(text string) int {
	n := len(text)
	for _, c := range []byte(text) {
		if strings.IndexByte("\\\"\n\r\t", c) >= 0 {
			n++
		}
	}
	return n
}

func forward(p hcl.Pos, bytes int) hcl.Pos {
	return hcl.Pos{Line: p.Line, Column: p.Column + bytes, Byte: p.Byte + bytes}
}

// lonelyParen is the index of the first parenthesis without its other half.
func lonelyParen(pattern string) int {
	var open []int
	class := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(':
			open = append(open, i)
		case c == ')' && len(open) == 0:
			return i
		case c == ')':
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return -1
	}
	return open[len(open)-1]
}
