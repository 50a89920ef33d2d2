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
	id      int         // the group of the path that is the ticket's id
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
	s.overlay(e, []string{"method", "path", "when"})
	r := resolve{methods: s.list("method"), when: s.expression("when", c)}
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
	if r.id = r.path.SubexpIndex("id"); r.id < 0 {
		l.fail(path.Range(), `the path has no group "id"`, fmt.Sprintf("It says which part of the path is the ticket's id: %s.", `"/tickets/(?P<id>[0-9]+)"`))
	}
	return r
}

func allMethods(methods []string) bool {
	return !slices.ContainsFunc(methods, func(m string) bool { return !validMethod(m) })
}

// ticket is the id in the path, if the head of the request is such a one.
func (k *resolve) ticket(req *dedup.Request) (string, bool) {
	if !slices.Contains(k.methods, req.Method) {
		return "", false
	}
	found := k.path.FindStringSubmatch(req.Path)
	if found == nil || found[k.id] == "" {
		return "", false
	}
	return found[k.id], true
}

// Resolves reports, by the head of a request of a client, whether it may close
// a ticket of the rule's backend, and which. Whether it did, Resolved says.
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
		if id, ok := r.resolves[i].ticket(req); ok {
			return id, true
		}
	}
	return "", false
}

// Resolved reports whether the ticket that Resolves or ReadsTicket named is
// closed, by the request with its body and by the backend's answer.
func (r *Rule) Resolved(req *dedup.Request, a *dedup.Answer) bool {
	if a == nil || a.Status < 200 || a.Status > 299 {
		return false
	}
	in := &input{request: req, more: map[string]dedup.Value{"answer": answerValue(a)}}
	for i := range r.resolves {
		k := &r.resolves[i]
		if _, ok := k.ticket(req); ok && (k.when == nil || k.when.truth(in)) {
			return true
		}
	}
	return false
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
	var whens []*expression
	for _, k := range r.resolves {
		whens = append(whens, k.when)
	}
	return dedup.NewWant(bodyPaths(whens)...), dedup.NewWant(answerPaths(whens)...)
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
