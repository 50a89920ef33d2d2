package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"oneticket/dedup"
)

// A credential says where a request holds secrets, beside the usual headers and
// query parameters.
type credential struct {
	headers []string // lower case
	query   []string // lower case
	body    [][]string
	path    []*regexp.Regexp // each group is a secret
}

func (l *loader) credential(from layers) credential {
	s := l.shape(from, "credential", "headers", "query", "body", "path")
	k := credential{headers: lowered(s.list("headers")), query: lowered(s.list("query"))}
	for _, field := range s.list("body") {
		k.body = append(k.body, strings.Split(field, "."))
	}
	for _, text := range s.list("path") {
		if re := l.wholePattern(s.members["path"], text, "/?"); re != nil {
			k.path = append(k.path, re)
		}
	}
	return k
}

// credentialParts are parts of the names of headers that hold credentials.
var credentialParts = []string{"auth", "cookie", "token", "secret", "key", "session", "signature", "password"}

// credentialQuery are the query parameters that do.
var credentialQuery = []string{
	"access_token", "api_key", "apikey", "api-key", "auth", "authtoken", "key", "pass", "password", "pwd", "secret", "session", "sid", "sig", "signature",
	"technician_key", "token", "user", "username",
}

func (k *credential) isHeader(name string) bool {
	if slices.Contains(k.headers, name) {
		return true
	}
	if strings.Contains(name, "idempotency") { // differs on every try of some clients, and names nobody
		return false
	}
	return slices.ContainsFunc(credentialParts, func(part string) bool { return strings.Contains(name, part) })
}

func (k *credential) isQuery(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(k.query, name) || slices.Contains(credentialQuery, name)
}

// Credential is all that makes the caller's credential, in an order that does
// not depend on the request's: where it stands, its name, and the value. Two
// requests with equal parts are the same caller's. It is nothing to store, log
// or show: whoever keeps it keeps a keyed hash.
func (r *Rule) Credential(req *dedup.Request) []string {
	k := &r.credential
	var parts []string
	for _, f := range req.Header {
		if k.isHeader(f.Name) {
			parts = append(parts, "header "+f.Name+": "+f.Value)
		}
	}
	for _, f := range req.Query {
		if k.isQuery(f.Name) {
			parts = append(parts, "query "+f.Name+": "+f.Value)
		}
	}
	for _, field := range k.body {
		if text, ok := memberAt(req.Body, field).Text(); ok {
			parts = append(parts, "body "+strings.Join(field, ".")+": "+text)
		}
	}
	for _, re := range k.path {
		if found := re.FindStringSubmatch(req.Path); found != nil {
			for _, secret := range found[1:] {
				parts = append(parts, "path: "+secret)
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b string) int { return strings.Compare(nameOf(a), nameOf(b)) })
	return parts
}

// nameOf is a part without its value: repeated headers keep their order.
func nameOf(part string) string {
	name, _, _ := strings.Cut(part, ":")
	return name
}

func memberAt(v dedup.Value, path []string) dedup.Value {
	for _, name := range path {
		v = v.Member(name)
	}
	return v
}

// Redacted replaces a secret where a request is shown.
const Redacted = "redacted"

// RedactTarget is a request's path, with its query as it came, for a log.
func (r *Rule) RedactTarget(target string) string {
	path, query, has := strings.Cut(target, "?")
	path = r.redactPath(path)
	if !has {
		return path
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, _, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		if err != nil || r.credential.isQuery(plain) {
			pairs[i] = name + "=" + Redacted
		}
	}
	return path + "?" + strings.Join(pairs, "&")
}

// RedactHeader reports whether the value of the header is a secret.
func (r *Rule) RedactHeader(name string) bool { return r.credential.isHeader(strings.ToLower(name)) }

// HidesPath reports whether the path of a request to the backend may hold a
// credential.
func (c *Config) HidesPath(b *Backend) bool {
	return slices.ContainsFunc(c.Rules, func(r *Rule) bool { return r.Backend == b && len(r.credential.path) > 0 })
}

// Secrets are the places of the rule's requests that hold secrets, beside the
// usual headers and query parameters: names of headers and parameters in lower
// case, and dotted paths of members of the body.
func (r *Rule) Secrets() (header, query, body []string) {
	k := &r.credential
	for _, field := range k.body {
		body = append(body, strings.Join(field, "."))
	}
	return k.headers, k.query, body
}

func (r *Rule) redactPath(path string) string {
	plain, err := url.PathUnescape(path)
	if err != nil {
		plain = path
	}
	for _, re := range r.credential.path {
		at := re.FindStringSubmatchIndex(plain)
		if at == nil {
			continue
		}
		for i := len(at) - 2; i >= 2; i -= 2 { // from the end, so that the places before stay
			if at[i] >= 0 {
				plain = plain[:at[i]] + Redacted + plain[at[i+1]:]
			}
		}
		return plain
	}
	return path
}

func (l *loader) readCredential(r *Rule, from layers, c *compiler) {
	r.credential = l.credential(from)
	r.principal = l.expression(from, "principal", c)
}

// paths are the places of a body that hold secrets.
func (k *credential) paths() [][]dedup.Step {
	var all [][]dedup.Step
	for _, field := range k.body {
		all = append(all, stepsOf(field))
	}
	return all
}

func stepsOf(field []string) []dedup.Step {
	var path []dedup.Step
	for _, name := range field {
		path = append(path, dedup.Step{Name: name})
	}
	return path
}
