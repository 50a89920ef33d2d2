package deadletter

import (
	"slices"
	"strings"

	"oneticket/dedup"
)

// harmless are the headers that a create needs to be read as it was, and that
// say nothing of who sent it. idempotency-key names a request, not a caller:
// without it a rule that keys by it would find another key in a replay.
var harmless = []string{
	"accept", "accept-language", "content-encoding", "content-language", "content-type",
	"idempotency-key", "soapaction", "user-agent",
}

// secretParts make a header or a query parameter a secret by its name.
var secretParts = []string{
	"auth", "cookie", "credential", "csrf", "key", "pass", "pwd", "secret", "session", "signature", "token", "xsrf",
}

// secretNames are short names of parameters that are secrets as a whole.
var secretNames = []string{"code", "sid", "sig"}

func secretName(name string) bool {
	name = strings.ToLower(name)
	return name != "idempotency-key" && (slices.Contains(secretNames, name) ||
		slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(name, part) }))
}

// Harmless returns the headers that may be kept: those of the allow list and
// of extra, which are the lower-case names that a rule needs to read the
// request. A name that has auth, cookie, credential, csrf, key, pass, pwd,
// secret, session, signature, token or xsrf in it is never kept, not for an
// extra either; only idempotency-key is. Names come out in lower case.
func Harmless(header []dedup.HeaderField, extra []string) []dedup.HeaderField {
	var kept []dedup.HeaderField
	for _, f := range header {
		f.Name = strings.ToLower(f.Name)
		if (slices.Contains(harmless, f.Name) || slices.Contains(extra, f.Name)) && !secretName(f.Name) {
			kept = append(kept, f)
		}
	}
	return kept
}

// Secrets are what a rule calls a credential in its requests, beside what is
// one by its name.
type Secrets struct {
	Header []string // names in lower case; they win over what is kept
	Query  []string // names of parameters
	Body   []string // paths of members, as in "auth.password", or names of form fields
}

// Placeholder stands in a letter where a secret stood.
const Placeholder = "oneticket-redacted"

// Clean returns the letter without secrets: with harmless headers only, and
// with Placeholder for every named member of the body and every parameter of
// the query that is named or a secret by its name. Redacted says what was
// there. A body that a member must be taken from is kept decoded; where that,
// or finding the member, is not possible the whole body is left out: a secret
// is not kept for a doubt.
func Clean(l Letter, extra []string, s Secrets) Letter {
	l.Redacted = slices.Clone(l.Redacted)
	l.Path = l.cleanPath(s.Query)
	before := l.Header
	l.Header = slices.DeleteFunc(Harmless(l.Header, extra), func(f dedup.HeaderField) bool { return slices.Contains(s.Header, f.Name) })
	for _, f := range before {
		name := strings.ToLower(f.Name)
		if secretName(name) || slices.Contains(s.Header, name) {
			l.redacted("header." + name)
		}
	}
	if len(s.Body) > 0 && len(l.Body) > 0 {
		l.cleanBody(s.Body)
	}
	l.Length = len(l.Body)
	return l
}

// guarded is the last look before a letter is written: whatever the caller
// did, nothing that is a secret by its name goes into the file.
func guarded(l Letter) Letter {
	var names []string
	for _, f := range l.Header {
		names = append(names, strings.ToLower(f.Name))
	}
	return Clean(l, names, Secrets{})
}

func (l *Letter) redacted(what string) {
	if !slices.Contains(l.Redacted, what) {
		l.Redacted = append(l.Redacted, what)
	}
}

// cleanPath keeps every byte of the path but those of secret values. A query
// that hides its names in escapes is read as the backend reads it.
func (l *Letter) cleanPath(named []string) string {
	path, query, found := strings.Cut(l.Path, "?")
	if !found {
		return l.Path
	}
	return path + "?" + eachPair(query, func(name string) bool {
		secret := secretName(name) || slices.Contains(named, name)
		if secret {
			l.redacted("query." + name)
		}
		return secret
	}, Placeholder)
}
