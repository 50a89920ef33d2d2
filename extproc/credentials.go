package extproc

import (
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"oneticket/dedup"
)

// Credentials are what a client presented, for calls on its behalf. They live
// in memory only, and nothing prints them.
type Credentials struct{ fields, query []dedup.HeaderField }

// credentials are those of this exchange's request. A header of the
// connection to the proxy is not for the backend.
func (x *exchange) credentials(r *Rule) Credentials {
	c := Credentials{fields: kept(x.head.fields, func(name string) bool {
		return name != "proxy-authorization" && name != callHeader && r.tellsCredential(name)
	})}
	for _, f := range x.request.Query {
		if r.CredentialQuery != nil && r.CredentialQuery(f.Name) {
			c.query = append(c.query, f)
		}
	}
	return c
}

// CredentialsOf are what the configuration says to present where no client's
// credentials are at hand.
func CredentialsOf(fields ...dedup.HeaderField) Credentials { return Credentials{fields: fields} }

// WithQuery are these and parameters of the query.
func (c Credentials) WithQuery(parameters ...dedup.HeaderField) Credentials {
	c.query = append(slices.Clone(c.query), parameters...)
	return c
}

// put adds them to the header of a call, but for those that the call has set
// itself.
func (c Credentials) put(header http.Header) {
	set := header.Clone()
	for _, f := range c.fields {
		if _, given := set[http.CanonicalHeaderKey(f.Name)]; !given {
			header.Add(f.Name, f.Value)
		}
	}
}

// target is the path of a call with those that stand in a query, but for
// parameters that the call has itself.
func (c Credentials) target(path string) string {
	_, query, has := strings.Cut(path, "?")
	own := queryFields(query)
	for _, f := range c.query {
		if named(own, f.Name) {
			continue
		}
		separator := "?"
		if has {
			separator = "&"
		}
		path, has = path+separator+url.QueryEscape(f.Name)+"="+url.QueryEscape(f.Value), true
	}
	return path
}

// Empty reports whether there are none.
func (c Credentials) Empty() bool { return len(c.fields) == 0 && len(c.query) == 0 }

const hidden = "credentials"

func (Credentials) String() string               { return hidden }
func (Credentials) GoString() string             { return hidden }
func (Credentials) LogValue() slog.Value         { return slog.StringValue(hidden) }
func (Credentials) MarshalText() ([]byte, error) { return []byte(hidden), nil }
