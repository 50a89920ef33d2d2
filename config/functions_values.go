package config

import (
	"errors"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// collectionFunctions are those of Terraform's that meet our values: an item
// that is missing is null, and texts are compared as identity texts.
func collectionFunctions() map[string]builtin {
	return map[string]builtin{
		"length":   looseBuiltin(1, length),
		"contains": looseBuiltin(2, contains),
		"lookup":   {fn: looseVar(2, lookup), min: 2, max: 3},
		"one":      looseBuiltin(1, onlyItem),
		"pick":     looseBuiltin(3, pick),
		"absent":   looseBuiltin(2, absent),
		"coalesce": variadic(1, coalesce),
	}
}

// looseVar is looseFunc with n parameters and more of the same.
func looseVar(n int, impl func([]cty.Value) (cty.Value, error)) function.Function {
	params := make([]function.Parameter, n)
	for i := range params {
		params[i] = anything("value")
	}
	rest := anything("more")
	return function.New(&function.Spec{
		Params: params, VarParam: &rest,
		Type: function.StaticReturnType(cty.DynamicPseudoType),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return impl(args) },
	})
}

func length(args []cty.Value) (cty.Value, error) {
	v := args[0]
	switch {
	case v.IsNull():
		return missing, nil
	case v.Type() == cty.String:
		return cty.NumberIntVal(int64(utf8.RuneCountInString(v.AsString()))), nil
	case !v.CanIterateElements():
		return missing, errors.New("length of neither a text nor a collection")
	case v.Type().IsObjectType():
		return cty.NumberIntVal(int64(len(v.Type().AttributeTypes()))), nil
	}
	return v.Length(), nil
}

var errNoList = errors.New("not a list")

// items calls yield for each item of the list until it returns false.
func items(list cty.Value, yield func(cty.Value) bool) error {
	if !list.CanIterateElements() || list.Type().IsObjectType() || list.Type().IsMapType() {
		return errNoList
	}
	for _, v := range list.AsValueSlice() {
		if !yield(v) {
			break
		}
	}
	return nil
}

func contains(args []cty.Value) (cty.Value, error) {
	list, want := args[0], args[1]
	wanted, ok := textOf(want)
	if list.IsNull() || !ok {
		return missing, nil
	}
	found := false
	err := items(list, func(v cty.Value) bool {
		text, ok := textOf(v)
		found = ok && text == wanted
		return !found
	})
	return cty.BoolVal(found), err
}

// lookup returns a member, or the default where it is missing.
func lookup(args []cty.Value) (cty.Value, error) {
	if args[0].IsNull() || args[1].IsNull() {
		return missing, nil
	}
	if found := member(args[0], args[1]); !found.IsNull() || len(args) < 3 {
		return found, nil
	}
	return args[2], nil
}

// onlyItem returns the only item of a list; null for an empty one.
func onlyItem(args []cty.Value) (cty.Value, error) {
	if args[0].IsNull() {
		return missing, nil
	}
	var found []cty.Value
	if err := items(args[0], func(v cty.Value) bool { found = append(found, v); return true }); err != nil {
		return missing, err
	}
	switch len(found) {
	case 0:
		return missing, nil
	case 1:
		return found[0], nil
	}
	return missing, errors.New("more than one item")
}

// pick returns the item of a list whose member has the text. Two such items
// are as good as none: nobody can say which of them is meant.
func pick(args []cty.Value) (cty.Value, error) {
	list, name := args[0], args[1]
	wanted, ok := textOf(args[2])
	if list.IsNull() || name.IsNull() || !ok {
		return missing, nil
	}
	found, count := missing, 0
	err := items(list, func(item cty.Value) bool {
		if text, ok := textOf(member(item, name)); ok && text == wanted {
			found, count = item, count+1
		}
		return true
	})
	if count != 1 {
		return missing, err
	}
	return found, err
}

// absent returns null for a value that stands in the list of placeholders.
func absent(args []cty.Value) (cty.Value, error) {
	if args[0].IsNull() || args[1].IsNull() {
		return args[0], nil
	}
	found, err := contains([]cty.Value{args[1], args[0]})
	if err != nil || isBool(found, true) {
		return missing, err
	}
	return args[0], nil
}

// coalesce returns the first value that is neither null nor the empty text.
func coalesce(args []cty.Value) (cty.Value, error) {
	for _, v := range args {
		if v.IsNull() || v.Type() == cty.String && v.AsString() == "" {
			continue
		}
		return v, nil
	}
	return missing, nil
}

// lenientFunctions take expressions that may fail.
func lenientFunctions() map[string]builtin {
	first := func(args []cty.Value) (cty.Value, error) {
		for _, arg := range args {
			if v, ok := attempt(arg); ok {
				return v, nil
			}
		}
		return missing, nil
	}
	return map[string]builtin{
		"try":      {fn: closureFunc(first), min: 1, max: -1},
		"optional": {fn: closureFunc(first), min: 1, max: 1},
		"can": {min: 1, max: 1, fn: closureFunc(func(args []cty.Value) (cty.Value, error) {
			_, ok := attempt(args[0])
			return cty.BoolVal(ok), nil
		})},
	}
}

// attempt evaluates the argument. A value that is not known yet is passed on.
func attempt(arg cty.Value) (cty.Value, bool) {
	v, diags := customdecode.ExpressionClosureFromVal(arg).Value()
	if diags.HasErrors() || v.IsKnown() && v.IsNull() {
		return missing, false
	}
	return v, true
}

func closureFunc(impl func(args []cty.Value) (cty.Value, error)) function.Function {
	return function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "expressions", Type: customdecode.ExpressionClosureType},
		Type:     function.StaticReturnType(cty.DynamicPseudoType),
		Impl:     func(args []cty.Value, _ cty.Type) (cty.Value, error) { return impl(args) },
	})
}
