package config

import (
	"fmt"
	"math"
	"reflect"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// A builtin is one function of the expression language.
type builtin struct {
	fn       function.Function
	min, max int // arguments that a user writes; max < 0 is any number
	hidden   hiddenArgument
}

// hiddenArgument is what the compiler appends to a call, so that the functions
// are built once and not for each request.
type hiddenArgument uint8

const (
	noHidden hiddenArgument = iota
	withInput
	withSeverities // the input, then the map
)

const inputName = "input of the expression" // no name that a user can write

var (
	inputType       = cty.Capsule("input", reflect.TypeFor[input]())
	severityMapType = cty.Capsule("severities", reflect.TypeFor[severityMap]())
)

// functions is the whole language; callable is the same as HCL wants it.
var (
	functions = allFunctions()
	callable  = callables(functions)
)

func allFunctions() map[string]builtin {
	all := map[string]builtin{}
	for name, f := range terraformFunctions() {
		all[name] = fromCty(f)
	}
	for _, more := range []map[string]builtin{textFunctions(), collectionFunctions(), lenientFunctions(), keyFunctions()} {
		for name, f := range more {
			all[name] = f
		}
	}
	all["severity"] = builtin{fn: severityFunc, min: 1, max: -1, hidden: withSeverities}
	all[xmlName], all[graphqlName] = xmlFunction(), graphqlFunction()
	all["env"] = builtin{fn: envFunc(noEnvironment), min: 1, max: 1}
	return all
}

func callables(all map[string]builtin) map[string]function.Function {
	out := make(map[string]function.Function, len(all))
	for name, f := range all {
		out[name] = f.fn
	}
	return out
}

func (f builtin) takes() string {
	switch {
	case f.max < 0:
		return fmt.Sprintf("%d or more", f.min)
	case f.min == f.max:
		return fmt.Sprint(f.min)
	}
	return fmt.Sprintf("%d to %d", f.min, f.max)
}

// terraformFunctions are taken from cty as they are.
func terraformFunctions() map[string]function.Function {
	return map[string]function.Function{
		"abs": stdlib.AbsoluteFunc, "ceil": stdlib.CeilFunc, "floor": stdlib.FloorFunc, "max": stdlib.MaxFunc, "min": stdlib.MinFunc,
		"parseint": stdlib.ParseIntFunc, "signum": stdlib.SignumFunc,
		"tostring": stdlib.MakeToFunc(cty.String), "tonumber": stdlib.MakeToFunc(cty.Number), "tobool": stdlib.MakeToFunc(cty.Bool),

		"chomp": stdlib.ChompFunc, "indent": stdlib.IndentFunc, "join": stdlib.JoinFunc, "split": stdlib.SplitFunc,
		"strrev": stdlib.ReverseFunc, "substr": stdlib.SubstrFunc, "title": stdlib.TitleFunc, "trim": stdlib.TrimFunc,
		"trimprefix": stdlib.TrimPrefixFunc, "trimsuffix": stdlib.TrimSuffixFunc, "format": stdlib.FormatFunc,
		"formatlist": stdlib.FormatListFunc, "formatdate": stdlib.FormatDateFunc,

		"chunklist": stdlib.ChunklistFunc, "compact": stdlib.CompactFunc, "concat": stdlib.ConcatFunc,
		"distinct": stdlib.DistinctFunc, "element": stdlib.ElementFunc, "flatten": stdlib.FlattenFunc, "keys": stdlib.KeysFunc,
		"merge": stdlib.MergeFunc, "range": stdlib.RangeFunc, "reverse": stdlib.ReverseListFunc, "slice": stdlib.SliceFunc,
		"sort": stdlib.SortFunc, "values": stdlib.ValuesFunc, "zipmap": stdlib.ZipmapFunc,
		"toset": stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)), "tolist": stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
		"setunion": stdlib.SetUnionFunc, "setintersection": stdlib.SetIntersectionFunc, "setsubtract": stdlib.SetSubtractFunc,

		"jsonencode": stdlib.JSONEncodeFunc, "jsondecode": stdlib.JSONDecodeFunc, "csvdecode": stdlib.CSVDecodeFunc,
	}
}

// fromCty gives f the null rule: given null, it returns null. Its parameters
// are loosened so that HCL passes null on; the arguments are converted here.
func fromCty(f function.Function) builtin {
	params, rest := f.Params(), f.VarParam()
	spec := &function.Spec{Type: function.StaticReturnType(cty.DynamicPseudoType)}
	for _, p := range params {
		spec.Params = append(spec.Params, anything(p.Name))
	}
	b := builtin{min: len(params), max: len(params)}
	if rest != nil {
		loose := anything(rest.Name)
		spec.VarParam = &loose
		b.max = -1
	}
	spec.Impl = func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		converted := make([]cty.Value, len(args))
		for i, arg := range args {
			if arg.IsNull() {
				return missing, nil
			}
			want := rest
			if i < len(params) {
				want = &params[i]
			}
			var err error
			if converted[i], err = convert.Convert(arg, want.Type); err != nil {
				return missing, function.NewArgError(i, err)
			}
		}
		return f.Call(converted)
	}
	b.fn = function.New(spec)
	return b
}

// textFunc is a function of texts, with the null rule.
func textFunc(n int, impl func(args []string) (cty.Value, error)) builtin {
	params := make([]function.Parameter, n)
	for i := range params {
		params[i] = function.Parameter{Name: "text", Type: cty.String}
	}
	return fromCty(function.New(&function.Spec{
		Params: params,
		Type:   function.StaticReturnType(cty.DynamicPseudoType),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			texts := make([]string, len(args))
			for i := range args {
				texts[i] = args[i].AsString()
			}
			return impl(texts)
		},
	}))
}

// looseBuiltin is a function that sees null.
func looseBuiltin(n int, impl func(args []cty.Value) (cty.Value, error)) builtin {
	return builtin{fn: looseFunc(n, impl), min: n, max: n}
}

// variadic is a function of any number of values that sees null.
func variadic(least int, impl func(args []cty.Value) (cty.Value, error)) builtin {
	rest := anything("values")
	return builtin{min: least, max: -1, fn: function.New(&function.Spec{
		VarParam: &rest,
		Type:     function.StaticReturnType(cty.DynamicPseudoType),
		Impl:     func(args []cty.Value, _ cty.Type) (cty.Value, error) { return impl(args) },
	})}
}

// Getenv looks an environment variable up.
type Getenv func(name string) (value string, set bool)

func noEnvironment(string) (string, bool) { return "", false }

func envFunc(getenv Getenv) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "name", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name := args[0].AsString()
			if v, set := getenv(name); set {
				return cty.StringVal(v), nil
			}
			return cty.NilVal, fmt.Errorf("the environment has no variable %q: set it where oneticket is started", name)
		},
	})
}

const envSummary = "env() needs a variable that is set"

// envDiags says at the call what is wrong with env(...).
func envDiags(e *hclsyntax.FunctionCallExpr, diags hcl.Diagnostics) hcl.Diagnostics {
	return hcl.Diagnostics{problem(e.Range(), envSummary, sentence(detailOf(diags)))}
}

// int64Of returns the whole number in v.
func int64Of(v cty.Value) (int64, bool) {
	n, err := convert.Convert(v, cty.Number)
	if err != nil || n.IsNull() || !n.IsKnown() {
		return 0, false
	}
	f := n.AsBigFloat()
	if !f.IsInt() {
		return 0, false
	}
	i, _ := f.Int64()
	return i, i != math.MaxInt64
}
