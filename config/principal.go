package config

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"oneticket/dedup"
)

// Anonymous is the principal of a request without any credential.
const Anonymous = "anonymous"

// Principal is the stable part of the request's credential: what the rule's
// principal says; else the user of Basic, the issuer and subject of a JWT, or
// the whole Authorization header. A caller who has no such header but another
// credential is known by all of that. It is nothing to store, log or show:
// whoever keeps it keeps a keyed hash. It proves nobody: only the backend's
// answer to the whole credential does.
func (r *Rule) Principal(req *dedup.Request) string {
	if r.principal != nil {
		if text, ok := r.principal.text(&input{request: req}); ok {
			return "named:" + text
		}
	}
	switch given := valuesOf(req.Header, "authorization"); len(given) {
	case 0:
		if parts := r.Credential(req); len(parts) > 0 {
			return "credential:" + quotedAll(parts)
		}
		return Anonymous
	case 1:
		return authorized(given[0])
	default:
		return "authorization:" + quotedAll(given)
	}
}

func valuesOf(fields []dedup.HeaderField, name string) []string {
	var all []string
	for _, f := range fields {
		if f.Name == name {
			all = append(all, f.Value)
		}
	}
	return all
}

// quotedAll joins texts such that none can look like two.
func quotedAll(texts []string) string {
	var b strings.Builder
	for _, s := range texts {
		b.WriteString(strconv.Quote(s))
	}
	return b.String()
}

func authorized(value string) string {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
	rest = strings.TrimSpace(rest)
	switch {
	case strings.EqualFold(scheme, "basic"):
		if user, ok := basicUser(rest); ok {
			return "basic:" + user
		}
	case strings.EqualFold(scheme, "bearer"):
		if subject, ok := jwtSubject(rest); ok {
			return "jwt:" + subject
		}
	}
	return "authorization:" + value
}

func basicUser(encoded string) (string, bool) {
	plain, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", false
	}
	user, _, ok := strings.Cut(string(plain), ":")
	return user, ok && user != ""
}

// jwtSubject reads a token that nobody has verified here: the backend has.
func jwtSubject(token string) (string, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", false
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return "", false
	}
	var claims struct {
		Issuer  string `json:"iss"`
		Subject string `json:"sub"`
	}
	if err := json.Unmarshal(payload, &claims); err != nil || claims.Subject == "" {
		return "", false
	}
	return quotedAll([]string{claims.Issuer, claims.Subject}), true
}
