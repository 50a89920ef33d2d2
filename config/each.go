package config

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"oneticket/dedup"
)

// An Each is how a request is taken apart that holds several creates, and where
// the answer has what became of them. Paths are names of members; the empty
// path is the whole body.
type Each struct {
	List    []string // in the request; a request that has no list there is one create
	Answer  []string // in the answer, in the order of the request; nil: the rule does not name it
	Failed  []string // in the answer, of the creates that were refused; nil: none is named
	Number  []string // in an item of Failed: which create of the request it was, from 0
	Wrapper []byte   // an answer without items, as JSON; nil: the list alone
}

const (
	eachName = "each"
	itemName = "item"
)

var ticketMembers = []string{"id", "location", "items", "failed", "number", "wrapper"}

// eachValue is what each.value means in the request.
func eachValue(req *dedup.Request) dedup.Value {
	if req.Each != nil {
		return *req.Each
	}
	return req.Body
}

func (p *place) isEachValue() bool {
	return len(p.steps) > 0 && !p.steps[0].item && p.steps[0].name == "value"
}

// each reads for_each and the members of ticket that belong to it; nil without
// for_each.
func (l *loader) each(from layers) *Each {
	v, set := from.get("for_each")
	if !set || isNullWord(v.expr) {
		return nil
	}
	e := &Each{}
	var ok bool
	if e.List, ok = membersOf(v.expr, "body"); !ok {
		l.fail(v.at, "for_each is a path", "It says where in the body the list stands: for_each = body.issueUpdates.")
	}
	if t, given := from.get("ticket"); !given || !isObject(t.expr) {
		l.warnOfWhole(v)
		return e
	}
	s := l.shape(from, "ticket", ticketMembers...)
	e.Answer = l.eachPath(s, "items", "body", "body.issues")
	e.Failed = l.eachPath(s, "failed", "body", "body.errors")
	e.Number = l.eachPath(s, "number", itemName, "item.failedElementNumber")
	if text := s.text("wrapper"); text != "" {
		if e.Wrapper = []byte(text); !json.Valid(e.Wrapper) {
			l.fail(s.members["wrapper"].Range(), "ticket.wrapper is no JSON", `It is an answer without items: wrapper = "{\"issues\":[],\"errors\":[]}".`)
		}
	}
	if e.Answer == nil {
		l.warnOfWhole(v)
	}
	if (e.Failed == nil) != (e.Number == nil) {
		l.fail(s.at, "failed and number go together", "ticket.failed is the list of the creates that were refused, ticket.number says in its items which they were.")
	}
	return e
}

func (l *loader) warnOfWhole(forEach value) {
	l.diags = append(l.diags, warning(forEach.at, "for_each without ticket.items",
		"A request that holds several creates is sent on whole, unguarded and counted. Say where the answer has what became of them: ticket = { items = body.issues, id = item.key }."))
}

// keysOfWhole are key functions of what they are given; request_key is of the
// item's own text.
var keysOfWhole = []string{"client_key", "webhook_key", "job_key"}

// checkEach: what does not read the item is the same of every item, and all of
// them would be one create.
func (l *loader) checkEach(r *Rule, from layers) {
	if r.Each == nil || len(r.identity) == 0 && r.key == nil {
		return
	}
	reads := func(e *expression) bool {
		own := e != nil && e.calls["request_key"] && !e.callsAny(keysOfWhole)
		return e == nil || own || len(rootPaths([]*expression{e}, eachName)) > 0 // nil: reported already
	}
	readsItem := slices.ContainsFunc(r.identity, func(f identityField) bool { return !f.optional && reads(f.value) })
	if own := from.blocks[0].has("for_each"); !own && !readsItem && (len(r.identity) > 0 || !reads(r.key)) {
		r.Each = &Each{List: r.Each.List} // of the preset: the rule is about single creates, and several are sent on whole
		return
	}
	switch {
	case len(r.identity) > 0 && !readsItem:
		l.fail(from.at("identity"), "identity reads nothing of each.value", "All items of for_each would be one fault, and get one ticket. At least one field that is not optional(...) names each.value.")
	case len(r.identity) == 0 && !reads(r.key):
		l.fail(from.at("key"), "key reads nothing of each.value", "All items of for_each would be one create. Take request_key(), or a function of each.value.")
	}
}

func isObject(e hclsyntax.Expression) bool {
	_, ok := e.(*hclsyntax.ObjectConsExpr)
	return ok
}

func (l *loader) eachPath(s shape, name, root, example string) []string {
	e, given := s.members[name]
	if !given {
		return nil
	}
	path, ok := membersOf(e, root)
	if !ok {
		l.fail(e.Range(), "ticket."+name+" is a path", fmt.Sprintf("It says where it stands: %s = %s.", name, example))
	}
	return path
}

// membersOf is the path below the root that the expression is, if it goes
// through members alone; never nil then.
func membersOf(e hclsyntax.Expression, root string) ([]string, bool) {
	v, ok := e.(*hclsyntax.ScopeTraversalExpr)
	if !ok || v.Traversal.RootName() != root {
		return nil, false
	}
	p, ok := placeOf(v.Traversal)
	names := []string{}
	for _, s := range p.steps {
		ok = ok && !s.item
		names = append(names, s.name)
	}
	return names, ok
}

// inElements is the path in every item of the list of the request.
func (e *Each) inElements(path []dedup.Step) [][]dedup.Step {
	if e == nil {
		return nil
	}
	return [][]dedup.Step{below(e.List, path)}
}

func below(list []string, path []dedup.Step) []dedup.Step {
	return slices.Concat(stepsOf(list), []dedup.Step{{Items: true}}, path)
}

// elementPaths are the places of the request that the expressions name by
// each.value, where it is an item.
func (e *Each) elementPaths(all []*expression) [][]dedup.Step {
	if e == nil {
		return nil
	}
	paths := [][]dedup.Step{below(e.List, []dedup.Step{{Name: "\x00"}})} // the items are counted
	for _, path := range rootPaths(all, eachName) {
		paths = append(paths, below(e.List, path))
	}
	return paths
}

// itemPaths are the places of the answer that the expressions name by item.
func (e *Each) itemPaths(all []*expression) [][]dedup.Step {
	paths := rootPaths(all, itemName)
	if e == nil || e.Answer == nil {
		return paths
	}
	for _, path := range slices.Clone(paths) {
		paths = append(paths, below(e.Answer, path))
	}
	if e.Failed != nil {
		paths = append(paths, below(e.Failed, stepsOf(e.Number)))
	}
	return paths
}

// rootPaths are the paths below a name that stands for a part of the body.
func rootPaths(all []*expression, root string) [][]dedup.Step {
	var paths [][]dedup.Step
	for _, e := range all {
		if e == nil {
			continue
		}
		for _, p := range e.reads {
			steps := p.steps
			if p.root != root {
				continue
			}
			if root == eachName {
				steps = steps[1:]
			}
			path := []dedup.Step{}
			for _, s := range steps {
				path = append(path, dedup.Step{Name: s.name, Items: s.item})
			}
			paths = append(paths, path)
		}
	}
	return paths
}
