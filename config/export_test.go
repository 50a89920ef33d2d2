package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"oneticket/dedup"
)

// An Evaluated is one expression, evaluated by Go (where it compiles to Go)
// and by HCL.
type Evaluated struct {
	Quick, HCL     string
	QuickOK, HCLOK bool
	IsQuick        bool
	Problems       string
}

// Evaluate compiles an expression over a request and evaluates it both ways.
func Evaluate(text string, r *dedup.Request) Evaluated {
	var diags hcl.Diagnostics
	tree, parsed := hclsyntax.ParseExpression([]byte(text), "expression", hcl.InitialPos)
	diags = append(diags, parsed...)
	if diags.HasErrors() {
		return Evaluated{Problems: diags.Error()}
	}
	severities, _ := newSeverityMap(mustExpression(`{ critical = ["1", "high"], minor = ["3"] }`), constantContext(nil))
	c := &compiler{roots: requestRoots, getenv: func(name string) (string, bool) { return "value of " + name, name != "UNSET" },
		diags: &diags, severities: severities}
	e := c.compile(tree)
	if e == nil {
		return Evaluated{Problems: diags.Error()}
	}
	out := Evaluated{IsQuick: e.quick != nil}
	if out.IsQuick {
		out.Quick, out.QuickOK = e.quick(&input{request: r}).final()
	}
	slow := *e
	slow.quick = nil
	out.HCL, out.HCLOK = slow.text(&input{request: r})
	return out
}

func mustExpression(text string) hclsyntax.Expression {
	e, diags := hclsyntax.ParseExpression([]byte(text), "expression", hcl.InitialPos)
	if diags.HasErrors() {
		panic(diags.Error())
	}
	return e
}

// FunctionTakes says for each function how many arguments it takes.
func FunctionTakes() map[string]string {
	all := map[string]string{}
	for name, f := range functions {
		all[name] = f.takes()
	}
	return all
}

// VariablesOf are the names that expressions can use, by where they stand.
func VariablesOf() map[string][]string {
	return map[string][]string{
		"request": requestRoots, "answer": answerRoots, "ticket": ticketRoots, "lookup": lookUpRoots, "item": itemRoots,
		"read": readRoots, "update": updateRoots, "resolve": resolveRoots,
	}
}

// AllowedInPreset reports whether a preset may have the setting of a rule.
func AllowedInPreset(name string) bool { return !notInPresets[name] }

// Unconnected are the settings of the table of that name, as BLOCK.NAME.
func Unconnected() (names []string) {
	for _, u := range unconnected {
		names = append(names, u.block+"."+u.name)
	}
	return names
}

// Policies are those of all classes that the rule knows, DefaultClass among them.
func (r *Rule) Policies() map[string]*dedup.Policy { return r.policies }

// InUnproven reports whether the preset stands in the file of unproven ones.
var InUnproven = inUnproven
