package extproc

import (
	"net/url"
	"strconv"
	"strings"

	"oneticket/dedup"
)

// A head is the header of a request or an answer. Names are in lower case, and
// the pseudo-headers stand apart.
type head struct {
	method, scheme, authority, path string // of a request
	status                          int    // of an answer
	fields                          []dedup.HeaderField
}

func (h *head) value(name string) string {
	for _, f := range h.fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func (h *head) has(name string) bool {
	for _, f := range h.fields {
		if f.Name == name {
			return true
		}
	}
	return false
}

// contentLength is -1 where the header says none, or nonsense.
func (h *head) contentLength() int64 {
	text := h.value("content-length")
	if text == "" {
		return -1
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// request is what rules read, before the body is there.
func (h *head) request(rules *Rules, a attributes) dedup.Request {
	path, query, _ := strings.Cut(h.path, "?")
	return dedup.Request{
		Method: h.method,
		Host:   h.host(rules, a),
		Path:   unescape(path, url.PathUnescape),
		Query:  queryFields(query),
		Header: h.fields,
	}
}

// host is the one the request is sent on to: the name by which the client
// reached us says nothing of the backend.
func (h *head) host(rules *Rules, a attributes) string {
	if host := rules.Hosts[a.text("xds.cluster_name")]; host != "" {
		return host
	}
	host := strings.ToLower(h.authority)
	switch h.scheme {
	case "https":
		return strings.TrimSuffix(host, ":443")
	default:
		return strings.TrimSuffix(host, ":80")
	}
}

func queryFields(query string) []dedup.HeaderField {
	if query == "" {
		return nil
	}
	var fields []dedup.HeaderField
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		fields = append(fields, dedup.HeaderField{
			Name:  unescape(name, url.QueryUnescape),
			Value: unescape(value, url.QueryUnescape),
		})
	}
	return fields
}

// unescape decodes once; what cannot be decoded is taken as it is.
func unescape(s string, decode func(string) (string, error)) string {
	if decoded, err := decode(s); err == nil {
		return decoded
	}
	return s
}
