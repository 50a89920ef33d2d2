package config

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// A shape is the members of an object setting. Rule, backend and preset are
// laid over each other member by member, so that a rule's match = { when = ...}
// keeps the preset's path; null takes a member away.
type shape struct {
	l       *loader
	setting string
	at      hcl.Range // of the outermost object; where the block is when there is none
	members map[string]hclsyntax.Expression
	order   []string // as they stand in the file, for identity
}

func (l *loader) shape(from layers, setting string, allowed ...string) shape {
	s := shape{l: l, setting: setting, at: from.at(setting), members: map[string]hclsyntax.Expression{}}
	for _, b := range slices.Backward(from.blocks) {
		if v, ok := b.set[setting]; ok {
			s.overlay(v.expr, allowed)
		}
	}
	return s
}

func (s *shape) overlay(e hclsyntax.Expression, allowed []string) {
	object, ok := e.(*hclsyntax.ObjectConsExpr)
	if !ok {
		s.l.fail(e.Range(), s.setting+" is an object", s.example(allowed))
		return
	}
	seen := map[string]bool{}
	for _, item := range object.Items {
		name, diags := memberName(item)
		s.l.add(diags)
		switch {
		case diags.HasErrors():
		case len(allowed) > 0 && !slices.Contains(allowed, name):
			s.l.fail(item.KeyExpr.Range(), fmt.Sprintf("unknown member %q of %s", name, s.setting),
				"It can have "+listed(allowed)+"."+nearest(name, allowed))
		case seen[name]:
			s.l.fail(item.KeyExpr.Range(), fmt.Sprintf("%s.%s stands twice", s.setting, name), "One of them would be ignored.")
		case isNullWord(item.ValueExpr):
			delete(s.members, name)
		default:
			s.members[name] = item.ValueExpr
			s.order = append(s.order, name)
		}
		seen[name] = true
	}
}

// example shows an object; with no allowed names, the members are the user's.
func (s *shape) example(allowed []string) string {
	if len(allowed) == 0 {
		return s.setting + " = { name = ... }."
	}
	return "It can have " + listed(allowed) + ": " + s.setting + " = { " + allowed[0] + " = ... }."
}

// memberName is the name of a member, which is written, never computed.
func memberName(item hclsyntax.ObjectConsItem) (string, hcl.Diagnostics) {
	if key, ok := item.KeyExpr.(*hclsyntax.ObjectConsKeyExpr); ok {
		if name := hcl.ExprAsKeyword(key.Wrapped); name != "" && !key.ForceNonLiteral {
			return name, nil
		}
		if text, ok := key.Wrapped.(*hclsyntax.TemplateExpr); ok && text.IsStringLiteral() {
			v, _ := text.Value(nil)
			return v.AsString(), nil
		}
	}
	return "", hcl.Diagnostics{problem(item.KeyExpr.Range(), "a computed name", "The name of a member is written as it is; only its value depends on a request: host = body.host.")}
}

// text reads a member that is a text.
func (s shape) text(name string) string {
	e, ok := s.members[name]
	if !ok {
		return ""
	}
	given, diags := e.Value(s.l.constants)
	s.l.add(diags)
	text, isText := asText(given)
	if !diags.HasErrors() && !isText {
		s.l.fail(e.Range(), s.setting+"."+name+" is a text", sentence("found "+found(e, given)+"; allowed is a text in quotes"))
	}
	return text
}

// list reads a member that is a list of texts, or one text.
func (s shape) list(name string) []string {
	e, ok := s.members[name]
	if !ok {
		return nil
	}
	list, diags := textList(e, s.l.constants)
	s.l.add(diags)
	return list
}

// scalar reads a member as the setting would be read.
func (s shape) scalar(name string, as Setting) (value, bool) {
	e, ok := s.members[name]
	if !ok {
		return value{}, false
	}
	as.Name = s.setting + "." + name
	return s.l.readValue(&as, e)
}

// expression compiles a member; nil when there is none.
func (s shape) expression(name string, c *compiler) *expression {
	e, ok := s.members[name]
	if !ok {
		return nil
	}
	return c.compile(e)
}
