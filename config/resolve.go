package config

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"oneticket/dedup"
)

// A resolve is one kind of request by which clients close a ticket, or by
// whose answer they see that it is closed.
type resolve struct {
	methods []string
	path    *regexp.Regexp
	group   int         // of the path, that is the ticket's id; -1: none
	id      *expression // the id, or a list of them, over the request and its answer; nil = by the group
	when    *expression // over the request and its answer; nil = always
}

// resolveRoots: an expression sees the request as any, and its answer below
// one name.
var resolveRoots = append([]string{"answer"}, requestRoots...)

func (l *loader) resolves(from layers, c *compiler) []resolve {
	if !hasCall(from, "resolve") {
		return nil
	}
	v, _ := from.get("resolve")
	list, ok := v.expr.(*hclsyntax.TupleConsExpr)
	if !ok {
		l.fail(v.at, "resolve is a list", `It has one object for each kind of request that closes a ticket: resolve = [{ method = "PUT", path = "/tickets/(?P<id>[0-9]+)" }].`)
		return nil
	}
	var all []resolve
	for _, e := range list.Exprs {
		all = append(all, l.resolve(e, c.seeing(resolveRoots)))
	}
	return all
}

func (l *loader) resolve(e hclsyntax.Expression, c *compiler) resolve {
	s := shape{l: l, setting: "resolve", at: e.Range(), members: map[string]hclsyntax.Expression{}}
	s.overlay(e, []string{"method", "path", "id", "when"})
	r := resolve{methods: s.list("method"), group: -1, id: s.expression("id", c), when: s.expression("when", c)}
	if len(r.methods) == 0 || !allMethods(r.methods) {
		l.fail(s.at, "resolve needs a method", "Methods are in capitals: one, or a list.")
	}
	path, given := s.members["path"]
	if !given {
		l.fail(s.at, "resolve has no path", `It says which path: path = "/tickets/(?P<id>[0-9]+)".`)
		return r
	}
	if r.path = l.wholePattern(path, s.text("path"), "/?"); r.path == nil {
		return r
	}
	if r.group = r.path.SubexpIndex("id"); r.group < 0 && r.id == nil {
		l.fail(path.Range(), `the path has no group "id"`, fmt.Sprintf("It says which part of the path is the ticket's id: %s. Where that stands elsewhere, say so: id = body.ticket.id.", `"/tickets/(?P<id>[0-9]+)"`))
	}
	return r
}

func allMethods(methods []string) bool {
	return !slices.ContainsFunc(methods, func(m string) bool { return !validMethod(m) })
}

// head reports whether the head of the request is such a one, and the id where
// that is in the path.
func (k *resolve) head(req *dedup.Request) (id string, ok bool) {
	if !slices.Contains(k.methods, req.Method) || k.path == nil {
		return "", false
	}
	found := k.path.FindStringSubmatch(req.Path)
	if found == nil || k.id == nil && found[k.group] == "" {
		return "", false
	}
	if k.id == nil {
		id = found[k.group]
	}
	return id, true
}

// mostResolved bounds how many tickets one request closes.
const mostResolved = 256

// tickets are those that the request closes.
func (k *resolve) tickets(in *input) []string {
	path, ok := k.head(in.request)
	switch {
	case !ok || k.when != nil && !k.when.truth(in):
		return nil
	case k.id == nil:
		return []string{path}
	}
	v, ok := k.id.value(in)
	if !ok {
		return nil
	}
	items := []dedup.Value{valueOf(v)}
	if items[0].Kind == dedup.ListValue {
		items = items[0].Items
	}
	var all []string
	for _, one := range items[:min(len(items), mostResolved)] {
		if id, ok := one.Text(); ok {
			all = append(all, id)
		}
	}
	return all
}

// Resolves reports, by the head of a request of a client, whether it may close
// a ticket of the rule's backend, and which, where the path says that. Whether
// it did, Resolved says.
func (r *Rule) Resolves(req *dedup.Request) (ticketID string, ok bool) {
	return r.resolving(req, !isReading(req.Method))
}

// ReadsTicket is Resolves for a client's own read of a ticket: its answer may
// show that the ticket is closed.
func (r *Rule) ReadsTicket(req *dedup.Request) (ticketID string, ok bool) {
	return r.resolving(req, isReading(req.Method))
}

func isReading(method string) bool { return method == "GET" || method == "HEAD" }

func (r *Rule) resolving(req *dedup.Request, asked bool) (string, bool) {
	if !asked || !r.Backend.serves(req.Host) {
		return "", false
	}
	for i := range r.resolves {
		if id, ok := r.resolves[i].head(req); ok {
			return id, true
		}
	}
	return "", false
}

// Resolved are the tickets that are closed, by a request for which Resolves or
// ReadsTicket said yes, with its body, and by the backend's answer.
func (r *Rule) Resolved(req *dedup.Request, a *dedup.Answer) []string {
	if a == nil || a.Status < 200 || a.Status > 299 {
		return nil
	}
	in := &input{request: req, more: map[string]dedup.Value{"answer": answerValue(a)}}
	for i := range r.resolves {
		if ids := r.resolves[i].tickets(in); len(ids) > 0 {
			return ids
		}
	}
	return nil
}

func answerValue(a *dedup.Answer) dedup.Value {
	p := place{root: "status"}
	status, _ := p.startAnswer(a)
	return dedup.Value{Kind: dedup.ObjectValue, Members: []dedup.Member{
		{Name: "status", Value: status}, {Name: "headers", Value: fieldsObject(a.Header)},
		{Name: "body", Value: a.Body}, {Name: "text", Value: textValue(string(a.Raw))},
	}}
}

// ResolveMethods are those of the requests that Resolves and ReadsTicket know,
// each once, in order.
func (r *Rule) ResolveMethods() []string {
	var all []string
	for _, k := range r.resolves {
		all = append(all, k.methods...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ResolveWants are the places of the bodies that Resolved reads.
func (r *Rule) ResolveWants() (request, answer *dedup.Want) {
	var reads []*expression
	for _, k := range r.resolves {
		reads = append(reads, k.when, k.id)
	}
	return dedup.NewWant(bodyPaths(reads)...), dedup.NewWant(answerPaths(reads)...)
}

// answerPaths are the places below answer.body.
func answerPaths(all []*expression) [][]dedup.Step {
	var paths [][]dedup.Step
	for _, e := range all {
		if e == nil {
			continue
		}
		for _, p := range e.reads {
			switch {
			case p.root != "answer":
			case len(p.steps) == 0:
				paths = append(paths, []dedup.Step{})
			case p.steps[0].name == "body":
				below := place{root: "body", steps: p.steps[1:]}
				paths = append(paths, bodyPaths([]*expression{{reads: []place{below}}})...)
			}
		}
	}
	return paths
}
