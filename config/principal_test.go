package config_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"oneticket/config"
	"oneticket/dedup"
)

func basic(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }

func jwt(claims string) string {
	return "Bearer e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

func callerOf(headers ...string) *dedup.Request {
	r := &dedup.Request{Method: "POST", Host: "desk.example.test", Path: "/tickets"}
	for i := 0; i < len(headers); i += 2 {
		r.Header = append(r.Header, dedup.HeaderField{Name: headers[i], Value: headers[i+1]})
	}
	return r
}

func TestThePrincipalIsTheStablePartOfACredential(t *testing.T) {
	r := desk(t, "")
	for _, c := range []struct {
		name string
		req  *dedup.Request
		want string
	}{
		{"basic", callerOf("authorization", basic("bot:s3cret")), "basic:bot"},
		{"basic, another password", callerOf("authorization", basic("bot:other")), "basic:bot"},
		{"basic, a colon in the password", callerOf("authorization", basic("bot:a:b")), "basic:bot"},
		{"basic in another case", callerOf("authorization", "bASIC  "+base64.StdEncoding.EncodeToString([]byte("bot:x"))), "basic:bot"},
		{"basic that is none", callerOf("authorization", "Basic ???"), "authorization:Basic ???"},
		{"basic without a user", callerOf("authorization", basic(":x")), "authorization:" + basic(":x")},
		{"jwt", callerOf("authorization", jwt(`{"iss":"https://id","sub":"bot","exp":1}`)), `jwt:"https://id""bot"`},
		{"jwt, a later one", callerOf("authorization", jwt(`{"iss":"https://id","sub":"bot","exp":2}`)), `jwt:"https://id""bot"`},
		{"jwt of another issuer", callerOf("authorization", jwt(`{"iss":"https://other","sub":"bot"}`)), `jwt:"https://other""bot"`},
		{"jwt without a subject", callerOf("authorization", jwt(`{}`)), "authorization:" + jwt(`{}`)},
		{"opaque bearer", callerOf("authorization", "Bearer abc"), "authorization:Bearer abc"},
		{"another scheme", callerOf("authorization", "Token token=abc"), "authorization:Token token=abc"},
		{"two headers", callerOf("authorization", "Bearer a", "authorization", "Bearer b"), `authorization:"Bearer a""Bearer b"`},
		{"nothing", callerOf("content-type", "application/json", "idempotency-key", "1"), config.Anonymous},
		{"a cookie is no anonymous caller", callerOf("cookie", "sid=1"), `credential:"header cookie: sid=1"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := r.Principal(c.req); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestAPrincipalThatTheRuleNames(t *testing.T) {
	r := desk(t, "principal = body.routing_key\n")
	req := callerOf("authorization", "Bearer abc")
	if got := r.Principal(req); got != "authorization:Bearer abc" {
		t.Error(got)
	}
	req.Body, _ = dedup.ReadJSON([]byte(`{"routing_key":"R1","x":1}`), r.Wants())
	if got := r.Principal(req); got != "named:R1" {
		t.Error(got)
	}
}

func TestAWholeCredentialIsAllOfItsParts(t *testing.T) {
	r := desk(t, `credential = { headers = ["X-Who"], query = ["tech"], body = ["auth.password", "routing_key"], path = "/hook/([^/]+)/([^/]+)" }
`)
	req := callerOf("x-who", "me", "authorization", basic("bot:s3cret"), "x-api-key", "k", "content-type", "application/json",
		"idempotency-key", "1", "cookie", "b", "cookie", "a")
	req.Path = "/hook/secret-1/secret-2"
	req.Query = []dedup.HeaderField{{Name: "KEY", Value: "q"}, {Name: "tech", Value: "t"}, {Name: "keyword", Value: "w"}}
	req.Body, _ = dedup.ReadJSON([]byte(`{"auth":{"password":"p"},"routing_key":"R1","summary":"x"}`), r.Wants())
	want := []string{"body auth.password: p", "body routing_key: R1", "header authorization: " + basic("bot:s3cret"), "header cookie: b", "header cookie: a",
		"header x-api-key: k", "header x-who: me", "path: secret-1", "path: secret-2", "query KEY: q", "query tech: t"}
	got := r.Credential(req)
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	slices.Reverse(req.Query)
	req.Header = append(req.Header[2:], req.Header[:2]...)
	if again := r.Credential(req); !slices.Equal(again, got) {
		t.Errorf("depends on the order: %q", again)
	}
	if other := r.Credential(callerOf("authorization", basic("bot:wrong"))); slices.Equal(other, r.Credential(callerOf("authorization", basic("bot:s3cret")))) {
		t.Error("a wrong password is as good as the right one")
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	r := desk(t, `credential = { query = ["tech"], path = "/hook/([^/]+)/([^/]+)" }
`)
	for target, want := range map[string]string{
		"/hook/secret-1/secret-2?a=1&key=secret&tech=secret&k%65y=secret": "/hook/redacted/redacted?a=1&key=redacted&tech=redacted&k%65y=redacted",
		"/h%6fok/secret/secret": "/hook/redacted/redacted",
		"/tickets?x=1":          "/tickets?x=1",
		"/tickets":              "/tickets",
		"/tickets?%zz=secret":   "/tickets?%zz=redacted",
	} {
		if got := r.RedactTarget(target); got != want || strings.Contains(got, "secret") {
			t.Errorf("%s: %s", target, got)
		}
	}
	if !r.RedactHeader("X-Api-Key") || !r.RedactHeader("Cookie") || r.RedactHeader("Accept") {
		t.Error("headers")
	}
}
