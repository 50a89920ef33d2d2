package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// inOurWords says what HCL reports of a value as the rest of the messages do:
// what was found, and what to write.
func inOurWords(d *hcl.Diagnostic) *hcl.Diagnostic {
	if d.Subject == nil || d.Severity != hcl.DiagError {
		return d
	}
	if extra, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d); ok && extra.FunctionCallError() != nil {
		return callFailed(d, extra)
	}
	switch d.Summary {
	case "Variables not allowed", "Unknown variable":
		return variableInConstant(d)
	case "Call to unknown function":
		if call, ok := d.Expression.(*hclsyntax.FunctionCallExpr); ok {
			return unknownFunction(call.NameRange, call.Name)
		}
	}
	return problem(*d.Subject, lowerFirst(d.Summary), d.Detail)
}

// callFailed points at the whole call, or at the argument that is wrong.
func callFailed(d *hcl.Diagnostic, extra hclsyntax.FunctionCallDiagExtra) *hcl.Diagnostic {
	at := *d.Subject
	if call, ok := d.Expression.(*hclsyntax.FunctionCallExpr); ok && call.Name == extra.CalledFunctionName() {
		at = call.Range()
	}
	if extra.CalledFunctionName() == "env" {
		return problem(at, envSummary, sentence(extra.FunctionCallError().Error()))
	}
	return problem(at, extra.CalledFunctionName()+"() fails", sentence(extra.FunctionCallError().Error()))
}

// variableInConstant is for a name in a value that is the same for all
// requests: mostly a text without quotes.
func variableInConstant(d *hcl.Diagnostic) *hcl.Diagnostic {
	name := ""
	if e, ok := d.Expression.(*hclsyntax.ScopeTraversalExpr); ok {
		name = e.Traversal.RootName()
		if len(e.Traversal) > 1 {
			name = written(e.Traversal)
		}
	}
	root, _, deep := strings.Cut(name, ".")
	switch {
	case slices.Contains(requestRoots, root):
		return problem(*d.Subject, "this value is the same for all requests", fmt.Sprintf("Found %s; a request is known only to expressions, such as those of identity.", name))
	case deep:
		return problem(*d.Subject, fmt.Sprintf("unknown name %q", root), otherWorld(root, "A value that comes from outside is env(\"NAME\")."))
	}
	return problem(*d.Subject, "a text without quotes", fmt.Sprintf("Found %s; write %q.", name, name))
}

// written is a path as it stands in the file, as far as messages need it.
func written(t hcl.Traversal) string {
	var b strings.Builder
	b.WriteString(t.RootName())
	for _, s := range t[1:] {
		if a, ok := s.(hcl.TraverseAttr); ok {
			b.WriteString("." + a.Name)
		} else {
			b.WriteString("[...]")
		}
	}
	return b.String()
}

// otherWorld is for the names that users of Terraform try first.
func otherWorld(root, otherwise string) string {
	if slices.Contains([]string{"var", "local", "each", "data", "module", "self", "count", "path", "terraform"}, root) {
		return fmt.Sprintf("There is no %s here. A value that comes from outside is env(\"NAME\").", root)
	}
	return otherwise
}

func unknownFunction(at hcl.Range, name string) *hcl.Diagnostic {
	all := slices.Sorted(maps.Keys(functions))
	return problem(at, fmt.Sprintf("unknown function %q", name), choices("The functions are", all, nearest(name, all)))
}

// failName is for a name that an expression cannot know.
func (c *compiler) failName(root hcl.TraverseRoot) {
	allowed := slices.Clone(c.roots)
	for name, count := range c.locals {
		if count > 0 && name != "" {
			allowed = append(allowed, name)
		}
	}
	slices.Sort(allowed)
	c.fail(root.SrcRange, fmt.Sprintf("unknown name %q", root.Name),
		otherWorld(root.Name, "An expression here can name "+listed(allowed)+"."+nearest(root.Name, allowed)))
}
