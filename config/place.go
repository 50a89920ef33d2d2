package config

import (
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"oneticket/dedup"
)

// An input is what one evaluation reads: a request, or a backend's answer.
// What an evaluation finds out beside its value is noted here.
type input struct {
	request *dedup.Request
	answer  *dedup.Answer
	more    map[string]dedup.Value // what a call reads beside them, by root: ticket, token, item, ...

	keyOf           string // the key function that made the last key
	unknownSeverity bool   // severity() met a text that its map lacks
}

// A place is one path into an input, as an expression names it.
type place struct {
	root  string
	steps []step
	json  bool // what stands there as one text of JSON
}

// bodyPresent is the root of "body" beside the word null: it asks whether
// there is a body that could be read, and reads none of it.
const bodyPresent = "body present"

func presence(body dedup.Value) dedup.Value {
	if body.Kind == dedup.MissingValue || body.Kind == dedup.NullValue {
		return dedup.Value{}
	}
	return textValue("present")
}

// A step goes to a member by name, or to an item when item is set.
type step struct {
	name  string
	index int
	item  bool
}

// value returns what stands at the place; missing when nothing does, at any
// depth.
func (p *place) value(in *input) dedup.Value {
	v, steps := p.start(in)
	for _, s := range steps {
		if s.item {
			v = v.Item(s.index)
		} else {
			v = v.Member(s.name)
		}
	}
	if p.json {
		text, ok := v.ScalarJSON()
		if !ok {
			return dedup.Value{}
		}
		return textValue(text)
	}
	return v
}

func (p *place) start(in *input) (dedup.Value, []step) {
	if v, ok := in.more[p.root]; ok {
		return v, p.steps
	}
	if in.answer != nil {
		return p.startAnswer(in.answer)
	}
	switch p.root {
	case "body":
		return in.request.Body, p.steps
	case eachName:
		return eachValue(in.request), p.steps[1:]
	case bodyPresent:
		return presence(in.request.Body), nil
	case "headers":
		return startFields(in.request.Header, p.steps)
	case "query":
		return startFields(in.request.Query, p.steps)
	case "method":
		return textValue(in.request.Method), p.steps
	case "host":
		return textValue(in.request.Host), p.steps
	case "path":
		return textValue(in.request.Path), p.steps
	}
	return dedup.Value{}, nil
}

func (p *place) startAnswer(a *dedup.Answer) (dedup.Value, []step) {
	switch p.root {
	case "body":
		return a.Body, p.steps
	case itemName:
		if a.Item != nil {
			return *a.Item, p.steps
		}
		return a.Body, p.steps
	case bodyPresent:
		return presence(a.Body), nil
	case "headers":
		return startFields(a.Header, p.steps)
	case "status":
		return dedup.Value{Kind: dedup.NumberValue, Literal: strconv.Itoa(a.Status)}, p.steps
	case "text":
		return textValue(string(a.Raw)), p.steps
	}
	return dedup.Value{}, nil
}

func textValue(s string) dedup.Value {
	return dedup.Value{Kind: dedup.StringValue, Literal: s}
}

// startFields looks up the one field that the first step names. A field that
// stands twice has no one value, as a repeated member of a body has none.
func startFields(fields []dedup.HeaderField, steps []step) (dedup.Value, []step) {
	if len(steps) == 0 {
		return fieldsObject(fields), nil
	}
	if steps[0].item {
		return dedup.Value{}, nil
	}
	return oneField(fields, steps[0].name), steps[1:]
}

func oneField(fields []dedup.HeaderField, name string) dedup.Value {
	var found dedup.Value
	for i := range fields {
		if fields[i].Name != name {
			continue
		}
		if found.Kind != dedup.MissingValue {
			return dedup.Value{}
		}
		found = textValue(fields[i].Value)
	}
	return found
}

func fieldsObject(fields []dedup.HeaderField) dedup.Value {
	object := dedup.Value{Kind: dedup.ObjectValue}
	seen := make(map[string]bool, len(fields))
	for _, f := range fields {
		if !seen[f.Name] {
			seen[f.Name] = true
			object.Members = append(object.Members, dedup.Member{Name: f.Name, Value: oneField(fields, f.Name)})
		}
	}
	return object
}

// String writes the place as an expression does.
func (p *place) String() string {
	var b strings.Builder
	b.WriteString(p.root)
	for _, s := range p.steps {
		switch {
		case s.item:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		default:
			b.WriteString("." + s.name)
		}
	}
	return b.String()
}

// placeOf turns a traversal into a place. It reports false for a step that is
// neither a name nor an item's number.
func placeOf(t hcl.Traversal) (place, bool) {
	p := place{root: t.RootName()}
	for _, s := range t[1:] {
		next, ok := stepOf(s)
		if !ok {
			return place{}, false
		}
		p.steps = append(p.steps, next)
	}
	if p.root == "headers" && len(p.steps) > 0 {
		p.steps[0].name = strings.ToLower(p.steps[0].name)
	}
	return p, true
}

func stepOf(s hcl.Traverser) (step, bool) {
	switch s := s.(type) {
	case hcl.TraverseAttr:
		return step{name: s.Name}, true
	case hcl.TraverseIndex:
		if s.Key.Type() == cty.String {
			return step{name: s.Key.AsString()}, true
		}
		if number := s.Key.AsBigFloat(); number.IsInt() {
			i, _ := number.Int64()
			return step{index: int(i), item: true}, true
		}
	}
	return step{}, false
}

// missing is the null that stands for whatever is missing.
var missing = cty.NullVal(cty.DynamicPseudoType)

// evaluable turns a value of a body into one that HCL evaluates: every scalar
// is its text, what is missing is null. An empty list or object is missing.
func evaluable(v dedup.Value) cty.Value {
	switch v.Kind {
	case dedup.ListValue:
		if len(v.Items) == 0 {
			return missing
		}
		items := make([]cty.Value, len(v.Items))
		for i := range v.Items {
			items[i] = evaluable(v.Items[i])
		}
		return cty.TupleVal(items)
	case dedup.ObjectValue:
		if len(v.Members) == 0 {
			return missing
		}
		members := make(map[string]cty.Value, len(v.Members))
		for i := range v.Members {
			members[v.Members[i].Name] = evaluable(v.Members[i].Value)
		}
		return cty.ObjectVal(members)
	}
	if text, ok := v.Text(); ok {
		return cty.StringVal(text)
	}
	return missing
}
