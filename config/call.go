package config

import (
	"net/url"
	"slices"
	"strings"

	"oneticket/dedup"
)

// What the expressions of an outside call may name beside a request.
var (
	lookUpRoots = slices.Concat(requestRoots, []string{"base", "native", "token"})
	readRoots   = slices.Concat(requestRoots, []string{"base", "ticket"})
	updateRoots = slices.Concat(requestRoots, []string{"base", "fingerprint", "key", "native", "severity", "ticket", "token"})
)

// A call is how one outside call is written: expressions that are filled in
// with a request, a ticket and a token.
type call struct {
	method      string
	path        *expression // escapes what it fills in, see compilePath
	query       []callField
	headers     []callField
	contentType string
	body        *template // nil = none
	whole       bool      // a part of the body that is missing makes the call impossible; else it is left out
}

// A callField is one query parameter or header.
type callField struct {
	name     string
	value    *expression
	optional bool // left out when it is missing; else the call is impossible then
}

// make fills the call in. It reports false when something that it needs is
// missing, or could not be sent without meaning something else.
func (c *call) make(in *input) (dedup.Call, bool) {
	path, ok := c.path.asWritten(in)
	if !ok || !isPath(path) {
		return dedup.Call{}, false
	}
	query, ok := fieldTexts(c.query, in)
	if !ok {
		return dedup.Call{}, false
	}
	header, ok := fieldTexts(c.headers, in)
	if !ok || slices.ContainsFunc(header, func(f dedup.HeaderField) bool { return hasControl(f.Value) }) {
		return dedup.Call{}, false
	}
	out := dedup.Call{Method: c.method, Path: path + queryText(query), Header: header}
	if c.body == nil {
		return out, true
	}
	v, ok := c.body.value(in, c.whole)
	if !ok || v.Kind == dedup.MissingValue {
		return dedup.Call{}, false
	}
	text, contentType := bodyText(v, c.contentType)
	out.Body = text
	out.Header = append(out.Header, dedup.HeaderField{Name: "content-type", Value: contentType})
	return out, true
}

func fieldTexts(fields []callField, in *input) ([]dedup.HeaderField, bool) {
	var out []dedup.HeaderField
	for i := range fields {
		f := &fields[i]
		text, ok := f.value.asWritten(in)
		switch {
		case ok:
			out = append(out, dedup.HeaderField{Name: f.name, Value: text})
		case !f.optional:
			return nil, false
		}
	}
	return out, true
}

// asWritten is the value as a text, and not as identity text: what was put
// together of several is not made another text again, and may be empty.
func (e *expression) asWritten(in *input) (string, bool) {
	if e.quick != nil {
		v := e.quick(in)
		return v.text, v.kind == isText
	}
	v, ok := e.value(in)
	if !ok {
		return "", false
	}
	return asText(v)
}

func queryText(fields []dedup.HeaderField) string {
	if len(fields) == 0 {
		return ""
	}
	var b strings.Builder
	for i, f := range fields {
		b.WriteByte("?&"[min(i, 1)])
		b.WriteString(queryEscape(f.Name))
		b.WriteByte('=')
		b.WriteString(queryEscape(f.Value))
	}
	return b.String()
}

// queryEscape writes a blank as %20, which every parser of a query takes for one.
func queryEscape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f })
}

// orEmpty is a request to stand in where there is no request: a look-up in the background.
func (r *Rule) orEmpty(req *dedup.Request) *dedup.Request {
	if req != nil {
		return req
	}
	return &dedup.Request{Host: r.Backend.Host}
}

// callInput is what a call reads: the request, and more by name.
func (r *Rule) callInput(req *dedup.Request, more map[string]dedup.Value) *input {
	more["base"] = textValue(r.base(req))
	return &input{request: r.orEmpty(req), more: more}
}

// base is that of the request; where there is none, of the last one that a call
// was made for.
func (r *Rule) base(req *dedup.Request) string {
	if req == nil {
		if last := r.lastBase.Load(); last != nil {
			return *last
		}
		return ""
	}
	base, found := r.match.base(req)
	if last := r.lastBase.Load(); found && (last == nil || *last != base) {
		r.lastBase.Store(&base)
	}
	return base
}

// base is what stands before the API's own path: the group of that name in
// the path of match, /jira in /jira/rest/api/2/issue.
func (m *match) base(req *dedup.Request) (base string, found bool) {
	if m.path == nil {
		return "", false
	}
	i := m.path.SubexpIndex("base")
	if i < 0 {
		return "", false
	}
	if found := m.path.FindStringSubmatch(req.Path); found != nil {
		return found[i], true
	}
	return "", false
}

func ticketValue(t dedup.Ticket) dedup.Value {
	return dedup.Value{Kind: dedup.ObjectValue, Members: []dedup.Member{
		{Name: "id", Value: textValue(t.ID)}, {Name: "location", Value: textValue(t.Location)},
	}}
}
