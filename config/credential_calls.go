package config

import (
	"slices"
	"strings"

	"oneticket/dedup"
)

// CredentialQuery reports whether a query parameter is one of those that the
// rule's credential names. Calls repeat these as they repeat its headers; what
// only looks like a secret, as "user" does, may mean something else to a search.
func (r *Rule) CredentialQuery(name string) bool {
	return slices.Contains(r.credential.query, strings.ToLower(name))
}

// Presents reports whether each of the rule's calls presents all secrets of the
// request beside its headers: those in the query that CredentialQuery names, and
// what the call itself takes from the body and the path.
func (r *Rule) Presents(req *dedup.Request) bool {
	k := &r.credential
	for _, f := range req.Query {
		if k.isQuery(f.Name) && !r.CredentialQuery(f.Name) {
			return false
		}
	}
	for _, field := range k.body {
		if _, ok := memberAt(req.Body, field).Text(); ok && !r.calls.allRead("body", field) {
			return false
		}
	}
	for _, re := range k.path {
		if re.MatchString(req.Path) && !r.calls.allRead("base", nil) && !r.calls.allRead("path", nil) {
			return false
		}
	}
	return true
}

// allRead reports whether every call reads the place.
func (k *calls) allRead(root string, field []string) bool {
	for _, c := range k.all() {
		if !slices.ContainsFunc(c.expressions(), func(e *expression) bool { return e.readsPlace(root, field) }) {
			return false
		}
	}
	return true
}

func (e *expression) readsPlace(root string, field []string) bool {
	return e != nil && slices.ContainsFunc(e.reads, func(p place) bool {
		names := make([]string, len(p.steps))
		for i, s := range p.steps {
			names[i] = s.name
		}
		return p.root == root && slices.Equal(names, field)
	})
}
