package config

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"oneticket/dedup"
)

// A match says which requests a rule is about. All but `when` is decided by
// the head of the request.
type match struct {
	methods []string
	path    *regexp.Regexp // nil = every path
	query   []fieldPattern
	headers []fieldPattern
	when    *expression // nil = all
	clears  *expression // the fault is over: no create of a rule without identity and key, which has no faults; nil = none
}

// A fieldPattern is what one query parameter or header must be.
type fieldPattern struct {
	name  string
	value *regexp.Regexp
}

func (l *loader) match(from layers, c *compiler) match {
	s := l.shape(from, "match", "method", "path", "query", "headers", "when", "clears")
	m := match{methods: s.list("method"), when: s.expression("when", c), clears: s.expression("clears", c)}
	if len(m.methods) == 0 {
		m.methods = []string{"POST"}
	}
	for _, method := range m.methods {
		if strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" || method == "" {
			l.fail(s.members["method"].Range(), "this is no method", fmt.Sprintf("Found %q; methods are in capitals: write %q.", method, cmp.Or(strings.ToUpper(method), "POST")))
		}
	}
	if path := s.text("path"); path != "" {
		// A trailing slash is another spelling of the same route.
		m.path = l.wholePattern(s.members["path"], path, "/?")
	}
	m.query = l.fieldPatterns(s, "query")
	m.headers = l.fieldPatterns(s, "headers")
	for i := range m.headers {
		m.headers[i].name = strings.ToLower(m.headers[i].name)
	}
	return m
}

// wholePattern compiles a pattern that must match all of a text.
func (l *loader) wholePattern(e hclsyntax.Expression, text, tail string) *regexp.Regexp {
	if _, err := regexp.Compile(text); err != nil {
		l.diags = append(l.diags, patternProblem(e, text, err))
		return nil
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "^"), "$")
	whole, err := regexp.Compile(`^(?:` + text + `)` + tail + `$`)
	if err != nil { // an escaped "$" at the end
		l.fail(e.Range(), "bad regular expression", sentence("found: "+err.Error()))
	}
	return whole
}

func (l *loader) fieldPatterns(s shape, name string) []fieldPattern {
	e, ok := s.members[name]
	if !ok {
		return nil
	}
	inner := shape{l: l, setting: "match." + name, members: map[string]hclsyntax.Expression{}}
	inner.overlay(e, nil)
	var all []fieldPattern
	for _, field := range slices.Compact(slices.Sorted(slices.Values(inner.order))) {
		value := l.wholePattern(inner.members[field], inner.text(field), "")
		all = append(all, fieldPattern{field, value})
	}
	return all
}

// head reports whether the head of the request is that of a create.
func (m *match) head(r *dedup.Request) bool {
	return slices.Contains(m.methods, r.Method) &&
		(m.path == nil || m.path.MatchString(r.Path)) &&
		matchFields(m.query, r.Query) && matchFields(m.headers, r.Header)
}

// MayCreate reports whether a request of which no more is known than its method
// and its path, as it stands on the wire, may be a create of the backend; with an
// empty path, of which no more is known than its method. One of a backend that
// the configuration does not have may be.
func (c *Config) MayCreate(backend, method, path string) bool {
	b := c.Backend(backend)
	if b == nil {
		return true
	}
	paths := []string{path}
	if short, ok := strings.CutPrefix(path, strings.TrimRight(b.URL.EscapedPath(), "/")); ok && short != path {
		paths = append(paths, short) // it was put before the path of every request
	}
	for _, r := range c.Rules {
		if r.Backend == b && r.Action != "off" && slices.ContainsFunc(paths, func(p string) bool { return r.match.place(method, p) }) {
			return true
		}
	}
	return false
}

// place is head where the query and the header are not known.
func (m *match) place(method, path string) bool {
	if decoded, err := url.PathUnescape(path); err == nil {
		path = decoded
	}
	return slices.Contains(m.methods, method) && (m.path == nil || path == "" || m.path.MatchString(path))
}

// matchesBody reports whether the request is one of the rule's, by what its body says.
func (r *Rule) matchesBody(in *input) bool {
	m := &r.match
	return (m.when == nil || m.when.truth(in)) && !(r.RetryMode && r.key == nil && m.clears != nil && m.clears.truth(in))
}

// matchFields: one field of the name must match; one that is absent counts as
// empty.
func matchFields(patterns []fieldPattern, fields []dedup.HeaderField) bool {
	for _, p := range patterns {
		found, ok := false, false
		for _, f := range fields {
			if f.Name == p.name {
				found, ok = true, ok || p.value.MatchString(f.Value)
			}
		}
		if !ok && (found || !p.value.MatchString("")) {
			return false
		}
	}
	return true
}
