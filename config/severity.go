package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// A severityMap says what the texts of one backend mean:
//
//	severity = { critical = ["1", "1 - High"], major = ["2"], minor = ["3"] }
//
// The worst stands first. Texts are compared without case; a name means
// itself.
type severityMap struct {
	names  []string          // worst first
	byText map[string]string // lower-case text -> name
	ranks  map[string]int    // name -> rank, higher is worse
}

// name returns what the map makes of a text; false when it lacks it.
func (m *severityMap) name(text string) (string, bool) {
	if m == nil || len(m.names) == 0 {
		return text, true // without a map every text stands for itself
	}
	name, ok := m.byText[strings.ToLower(text)]
	if !ok {
		return text, false
	}
	return name, true
}

// severityFunc is severity(x, ...): the worst that its arguments say. One that
// is missing says nothing; one that the map lacks stays as its own text, is
// noted, and ranks below all that the map knows.
var severityFunc = looseVar(0, func(args []cty.Value) (cty.Value, error) {
	m := args[len(args)-1].EncapsulatedValue().(*severityMap)
	in := args[len(args)-2].EncapsulatedValue().(*input)
	w := worst{rank: -1}
	for _, arg := range args[:len(args)-2] {
		if text, ok := textOf(arg); ok {
			w.add(m, in, text)
		}
	}
	if w.rank < 0 {
		return missing, nil
	}
	return cty.StringVal(w.name), nil
})

// worst is the worst severity of those added.
type worst struct {
	name string
	rank int
}

func (w *worst) add(m *severityMap, in *input, text string) {
	name, known := m.name(text)
	in.unknownSeverity = in.unknownSeverity || !known
	if r := m.rank(name); r > w.rank {
		w.name, w.rank = name, r
	}
}

// quick is severity() compiled to Go.
func (m *severityMap) quick(args []quick, in *input) quickValue {
	w := worst{rank: -1}
	for _, arg := range args {
		v := arg(in)
		if v.kind == hasFailed {
			return v
		}
		if text, ok := v.final(); ok {
			w.add(m, in, text)
		}
	}
	if w.rank < 0 {
		return quickValue{}
	}
	return quickValue{text: w.name, kind: isText}
}

func (m *severityMap) rank(name string) int {
	if m == nil {
		return 0
	}
	return m.ranks[name] // from 1; 0 is what the map lacks
}

// newSeverityMap reads the map as it is written: its order is its meaning.
func newSeverityMap(e hclsyntax.Expression, ctx *hcl.EvalContext) (*severityMap, hcl.Diagnostics) {
	object, ok := e.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return nil, hcl.Diagnostics{problem(e.Range(), "severity is a map",
			`It names each severity, the worst first, with the texts that mean it: { critical = ["1", "high"], minor = ["3"] }.`)}
	}
	m := &severityMap{byText: map[string]string{}, ranks: map[string]int{}}
	var diags hcl.Diagnostics
	for i, item := range object.Items {
		name, nameDiags := memberName(item)
		diags = append(diags, nameDiags...)
		if nameDiags.HasErrors() {
			continue
		}
		m.names = append(m.names, name)
		m.ranks[name] = len(object.Items) - i
		diags = append(diags, m.add(name, name, item.KeyExpr.Range())...)
		list, listDiags := textList(item.ValueExpr, ctx)
		diags = append(diags, listDiags...)
		for _, text := range list {
			diags = append(diags, m.add(text, name, item.ValueExpr.Range())...)
		}
	}
	return m, diags
}

func (m *severityMap) add(text, name string, at hcl.Range) hcl.Diagnostics {
	folded := strings.ToLower(normal(text))
	if other, ok := m.byText[folded]; ok && other != name {
		return hcl.Diagnostics{problem(at, fmt.Sprintf("severity %q stands twice", text),
			fmt.Sprintf("It means %q already; a text means one severity.", other))}
	}
	m.byText[folded] = name
	return nil
}
