package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// A setup is what one case runs with: its profile's configuration, changed as
// the case's config lines say, and what the runner itself does for it.
type setup struct {
	file    *hclwrite.File
	extra   []string      // top-level blocks, as text
	also    []string      // further create routes of the backend, "METHOD PATH"
	hosts   []string      // hosts that are an instance of their own
	second  []string      // clients that use a second process with the same store
	redis   bool          // the store is a server that can be stopped
	patient time.Duration // how long the sidecar's own timers are given before the clock is moved
}

// newSetup reads a profile.
func newSetup(profile string) (*setup, error) {
	text, err := profileText(profile)
	if err != nil {
		return nil, err
	}
	file, diags := hclwrite.ParseConfig(text, profile+".hcl", hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	return &setup{file: file}, nil
}

func (s *setup) blocks(kind string) []*hclwrite.Block {
	var out []*hclwrite.Block
	for _, b := range s.file.Body().Blocks() {
		if b.Type() == kind {
			out = append(out, b)
		}
	}
	return out
}

// set writes an attribute into every rule.
func (s *setup) set(name, expr string) {
	for _, r := range s.blocks("rule") {
		setRaw(r.Body(), name, expr)
	}
}

// setIn writes an attribute into a block of which there is one.
func (s *setup) setIn(block, name, expr string) {
	b := s.file.Body().FirstMatchingBlock(block, nil)
	if b == nil {
		s.file.Body().AppendNewline()
		b = s.file.Body().AppendNewBlock(block, nil)
	}
	setRaw(b.Body(), name, expr)
}

// setMember writes one member of an object attribute of every rule.
func (s *setup) setMember(attribute, member, expr string) {
	for _, r := range s.blocks("rule") {
		o := readObject(r.Body(), attribute)
		o.set(member, expr)
		setRaw(r.Body(), attribute, o.text())
	}
}

// member returns the text of one member of an object attribute of the first
// rule; "" when there is none.
func (s *setup) member(attribute, name string) string {
	for _, r := range s.blocks("rule") {
		return readObject(r.Body(), attribute).get(name)
	}
	return ""
}

// wrap replaces the expression of the identity field that reads the place.
func (s *setup) wrap(pointer string, with func(expr string) string) error {
	expr := exprOf(pointer)
	found := false
	for _, r := range s.blocks("rule") {
		o := readObject(r.Body(), "identity")
		for i := range o {
			if strings.Contains(o[i].expr, expr) {
				o[i].expr = with(o[i].expr)
				found = true
			}
		}
		setRaw(r.Body(), "identity", o.text())
	}
	if !found {
		return fmt.Errorf("%s is no identity field of the profile", pointer)
	}
	return nil
}

func setRaw(body *hclwrite.Body, name, expr string) {
	body.SetAttributeRaw(name, hclwrite.TokensForIdentifier(expr))
}

// exprOf turns a path of PROFILES.md into an expression.
func exprOf(pointer string) string {
	out := "body"
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		name, pick, picked := strings.Cut(part, "[id=")
		switch {
		case picked:
			out = fmt.Sprintf("pick(%s.%s, \"id\", %q)", out, name, strings.TrimSuffix(pick, "]"))
		case isNumber(part):
			out += "[" + part + "]"
		case hclsyntax.ValidIdentifier(part):
			out += "." + part
		default:
			out += "[" + strconv.Quote(part) + "]"
		}
	}
	return out
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// An objectText is an HCL object, member by member, as written.
type objectText []memberText

type memberText struct{ name, expr string }

func readObject(body *hclwrite.Body, attribute string) objectText {
	a := body.GetAttribute(attribute)
	if a == nil {
		return nil
	}
	src := a.Expr().BuildTokens(nil).Bytes()
	e, diags := hclsyntax.ParseExpression(src, "", hcl.InitialPos)
	if diags.HasErrors() {
		return nil
	}
	cons, ok := e.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return nil
	}
	var out objectText
	for _, i := range cons.Items {
		key := strings.Trim(string(i.KeyExpr.Range().SliceBytes(src)), `"`)
		out = append(out, memberText{key, string(i.ValueExpr.Range().SliceBytes(src))})
	}
	return out
}

func (o *objectText) set(name, expr string) {
	i := slices.IndexFunc(*o, func(m memberText) bool { return m.name == name })
	if i < 0 {
		*o = append(*o, memberText{name, expr})
		return
	}
	(*o)[i].expr = expr
}

func (o objectText) get(name string) string {
	for _, m := range o {
		if m.name == name {
			return m.expr
		}
	}
	return ""
}

func (o objectText) text() string {
	var b strings.Builder
	b.WriteString("{\n")
	for _, m := range o {
		fmt.Fprintf(&b, "    %s = %s\n", m.name, m.expr)
	}
	b.WriteString("  }")
	return b.String()
}
