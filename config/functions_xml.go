package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

const xmlName = "xml"

// xmlFunction is what is left of a call of xml() when it is compiled: its
// arguments are the places where the path can begin.
func xmlFunction() builtin {
	b := variadic(1, func(args []cty.Value) (cty.Value, error) {
		for _, v := range args {
			if !v.IsNull() {
				return v, nil
			}
		}
		return missing, nil
	})
	b.min, b.max = 2, 2
	return b
}

// rewriteXML puts places in the stead of xml(body, "{ns}Create/{ns}Item"), so
// that no more of a body is read than for a plain path.
func (c *compiler) rewriteXML(e *hclsyntax.FunctionCallExpr) hclsyntax.Expression {
	places, ok := c.xmlPlaces(e)
	if !ok {
		c.fail(e.Range(), "xml() takes a body and a path", sentence(
			`found something else; allowed is a place in a body, and a path that is written out: xml(body, "{urn:example}Create/{urn:example}Item")`))
		return e
	}
	n := *e
	n.Args = nil
	for i, p := range places {
		c.out.reads = append(c.out.reads, p)
		n.Args = append(n.Args, c.slot(e.Args[min(i, 1)], p))
	}
	return &n
}

// xmlPlaces are where the path of a call of xml() leads: from the root element
// on, or from what stands in the Body of a SOAP envelope.
func (c *compiler) xmlPlaces(e *hclsyntax.FunctionCallExpr) ([]place, bool) {
	if len(e.Args) != 2 || e.ExpandFinal {
		return nil, false
	}
	path, written := literal(e.Args[1])
	from, okFrom := c.bodyPlace(e.Args[0])
	steps, okSteps := xmlSteps(path)
	if !written || !okFrom || !okSteps {
		return nil, false
	}
	soap := []step{{name: "Envelope"}, {name: "Body"}}
	return []place{
		{root: from.root, steps: slices.Concat(from.steps, steps)},
		{root: from.root, steps: slices.Concat(from.steps, soap, steps)},
	}, true
}

// bodyPlace is the place that a plain path names, in what can have members.
func (c *compiler) bodyPlace(e hclsyntax.Expression) (place, bool) {
	v, ok := e.(*hclsyntax.ScopeTraversalExpr)
	if !ok {
		return place{}, false
	}
	root := v.Traversal.RootName()
	if c.locals[root] > 0 || !slices.Contains(c.roots, root) || slices.Contains(textRoots, root) || slices.Contains(fieldRoots, root) {
		return place{}, false
	}
	return placeOf(v.Traversal)
}

// xmlSteps cuts a path at each slash that is outside of braces. A step is a
// local name, {namespace}local, or, as the last, @attribute.
func xmlSteps(path string) ([]step, bool) {
	var steps []step
	for {
		space, name := "", path
		if strings.HasPrefix(path, "{") {
			end := strings.IndexByte(path, '}') + 1
			if end == 0 {
				return nil, false
			}
			space, name = path[:end], path[end:]
		}
		local, rest, more := strings.Cut(name, "/")
		attribute := strings.HasPrefix(local, "@")
		if plain := strings.TrimPrefix(local, "@"); plain == "" || strings.ContainsAny(plain, "@{}[]*: \t\r\n") || attribute && (more || space != "") {
			return nil, false
		}
		steps = append(steps, step{name: space + local})
		if !more {
			return steps, true
		}
		path = rest
	}
}

// quickXML is the first of the places at which something stands.
func quickXML(places []place) quick {
	return func(in *input) quickValue {
		for i := range places {
			if v := quickOf(places[i].value(in)); v.kind != isNull {
				return v
			}
		}
		return quickValue{}
	}
}
