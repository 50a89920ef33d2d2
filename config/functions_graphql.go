package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

const graphqlName = "graphql"

// graphqlFunction is what is left of a call of graphql() when it is compiled:
// it is given the document and the name of the operation. A document that is
// none, and an operation that is not in it, are missing.
func graphqlFunction() builtin {
	return builtin{min: 1, max: 1, fn: looseFunc(2, func(args []cty.Value) (cty.Value, error) {
		document, ok := asText(args[0])
		if !ok {
			return missing, nil
		}
		name, _ := asText(args[1])
		kind, fields, ok := graphqlOperation(document, name)
		if !ok {
			return missing, nil
		}
		names := make([]cty.Value, len(fields))
		for i, field := range fields {
			names[i] = cty.StringVal(field)
		}
		return cty.ObjectVal(map[string]cty.Value{"type": cty.StringVal(kind), "fields": cty.TupleVal(names)}), nil
	})}
}

// rewriteGraphQL puts places in the stead of graphql(body), so that only the
// document and the operation's name are read for it.
func (c *compiler) rewriteGraphQL(e *hclsyntax.FunctionCallExpr) hclsyntax.Expression {
	var from place
	ok := len(e.Args) == 1 && !e.ExpandFinal
	if ok {
		from, ok = c.bodyPlace(e.Args[0])
	}
	if !ok {
		c.fail(e.Range(), "graphql() takes a body", sentence("found something else; allowed is graphql(body), or a place in it"))
		return e
	}
	n := *e
	n.Args = nil
	for _, name := range []string{"query", "operationName"} {
		p := place{root: from.root, steps: append(slices.Clone(from.steps), step{name: name})}
		c.out.reads = append(c.out.reads, p)
		n.Args = append(n.Args, c.slot(e.Args[0], p))
	}
	return &n
}
