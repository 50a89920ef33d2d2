package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// calls are the outside calls that a rule can make; each is nil when neither
// the rule nor its preset has it.
type calls struct {
	lookUp *lookUp
	read   *read
	count  *count
	update *update // a changed severity
	clear  *update // a fault that is over
	reopen *update // a fault that is back

	mergeClose *update // a double
	mergeLink  *update

	verifyEvery time.Duration // where a ticket can be read
}

// callMembers are the members that say what a request of ours looks like.
var callMembers = []string{"method", "path", "query", "headers", "content_type", "body"}

// outsideCalls reads lookup, read, update, clear, reopen and the merges.
func (l *loader) outsideCalls(from layers, c *compiler) calls {
	verify, _ := from.get("verify_every")
	k := calls{verifyEvery: verify.length}
	k.lookUp = l.lookUp(from, c)
	readPath := l.readRead(from, c, &k)
	l.readUpdates(from, c, &k, readPath)
	l.readMerges(from, c, &k)
	k.count = l.count(from, c)
	return k
}

// hasCall reports whether somebody sets the call, and nobody to null.
func hasCall(from layers, setting string) bool {
	v, set := from.get(setting)
	return set && !isNullWord(v.expr)
}

// seeing is c for expressions that see other names.
func (c *compiler) seeing(roots []string) *compiler {
	other := *c
	other.roots = roots
	return &other
}

// call reads what a request of ours looks like; path and method are those of
// another call where it has none of its own.
func (l *loader) call(s shape, c *compiler, method string, path hclsyntax.Expression) *call {
	k := &call{method: method, contentType: s.text("content_type")}
	if own := s.text("method"); own != "" {
		k.method = own
	}
	if !validMethod(k.method) {
		l.fail(s.at, "this is no method", fmt.Sprintf("Found %q; methods are in capitals, as PATCH.", k.method))
	}
	if own, ok := s.members["path"]; ok {
		path = own
	}
	if path == nil {
		l.fail(s.at, s.setting+" has no path", s.setting+` says which request is made: path = "/api/tickets/${ticket.id}".`)
		return k
	}
	k.path = c.compilePath(path)
	k.query = l.callFields(s, "query", c)
	k.headers = l.callFields(s, "headers", c)
	l.checkHeaders(s, k)
	if e, ok := s.members["body"]; ok {
		k.body = c.compileTemplate(e)
	}
	return k
}

func validMethod(s string) bool {
	return s != "" && s == strings.ToUpper(s) && !strings.ContainsFunc(s, func(c rune) bool { return c < 'A' || c > 'Z' })
}

// callFields reads query = { name = ... } in the order of the file.
func (l *loader) callFields(s shape, name string, c *compiler) []callField {
	e, ok := s.members[name]
	if !ok {
		return nil
	}
	inner := shape{l: l, setting: s.setting + "." + name, members: map[string]hclsyntax.Expression{}}
	inner.overlay(e, nil)
	var all []callField
	for _, field := range inner.order {
		value := inner.members[field]
		all = append(all, callField{name: field, value: c.compile(value), optional: isCallOf(value, "optional")})
	}
	return all
}

// checkHeaders puts the names in lower case, and asks for JSON.
func (l *loader) checkHeaders(s shape, k *call) {
	for i := range k.headers {
		f := &k.headers[i]
		if f.name = strings.ToLower(f.name); !isHeaderName(f.name) || framingHeaders[f.name] {
			l.fail(s.members["headers"].Range(), fmt.Sprintf("%q is no header of a call", f.name), "Whoever sends it adds the host, the length and the credentials.")
		}
	}
	if !slices.ContainsFunc(k.headers, func(f callField) bool { return f.name == "accept" }) {
		k.headers = append([]callField{{name: "accept", value: constant(typeJSON, s.at)}}, k.headers...)
	}
}

// framingHeaders are set by whoever sends the call.
var framingHeaders = map[string]bool{
	"host": true, "content-length": true, "content-type": true, "transfer-encoding": true, "connection": true, "authorization": true, "cookie": true,
}

func isHeaderName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_'
	})
}

// statusMember reads one member as a list of statuses.
func (s shape) statusMember(name string, byDefault ...string) statuses {
	as := shape{l: s.l, setting: s.setting, members: map[string]hclsyntax.Expression{}}
	if e, ok := s.members[name]; ok {
		as.members["status"] = e
	}
	return s.l.statuses(as, byDefault...)
}

func (s shape) flag(name string) bool {
	v, _ := s.scalar(name, Setting{Kind: Flag})
	return v.flag
}

// required compiles a member that the call cannot do without.
func (s shape) required(name string, c *compiler, why string) *expression {
	if _, ok := s.members[name]; !ok {
		s.l.fail(s.at, s.setting+" has no "+name, why)
		return nil
	}
	return s.expression(name, c)
}

// expressions are all that the call names of a request.
func (k *call) expressions() []*expression {
	if k == nil {
		return nil
	}
	all := []*expression{k.path}
	for _, fields := range [][]callField{k.query, k.headers} {
		for _, f := range fields {
			all = append(all, f.value)
		}
	}
	return append(all, k.body.reads()...)
}

// expressions are all that the calls name of a request's body.
func (k *calls) expressions() []*expression {
	var all []*expression
	for _, c := range k.all() {
		all = append(all, c.expressions()...)
	}
	return all
}

// all are the calls that the rule has.
func (k *calls) all() []*call {
	var all []*call
	if k.lookUp != nil {
		all = append(all, k.lookUp.call)
	}
	if k.read != nil {
		all = append(all, k.read.call)
	}
	for _, u := range []*update{k.update, k.clear, k.reopen} {
		if u != nil {
			all = append(all, u.call)
		}
	}
	return all
}
