package extproc

import (
	"strconv"
	"strings"
	"unicode"

	"oneticket/dedup"
	"oneticket/extproc/body"
)

// withToken lets the request go with the token where the backend looks for it.
func (x *exchange) withToken(rule *Rule, token string, raw []byte) (r reply) {
	r.set, r.body, r.replace = rule.withToken(&x.head, token, raw, x.server.limits(rule))
	return r
}

// withToken is what has to be changed in a request so that it carries the
// token. What the client has set there itself stays, unless it is volatile.
func (r *Rule) withToken(h *head, token string, raw []byte, limits body.Limits) (set []dedup.HeaderField, text []byte, replaced bool) {
	if codings, narrower := readable(h.value("accept-encoding")); narrower {
		set = append(set, dedup.HeaderField{Name: "accept-encoding", Value: codings})
	}
	name := r.TokenHeader
	if name != "" && fitsHeader(token) && (r.TokenVolatile || h.value(name) == "") {
		set = append(set, dedup.HeaderField{Name: name, Value: token})
	}
	native, ok := r.native(token)
	if !ok {
		return set, nil, false
	}
	if text, replaced = r.writeNative(h, raw, native, limits); !replaced {
		return set, nil, false
	}
	if h.has("content-length") { // else it is chunked, and stays so
		set = append(set, dedup.HeaderField{Name: "content-length", Value: strconv.Itoa(len(text))})
	}
	return set, text, true
}

// native is the token as the backend's own field has it; false where it has
// none, or cannot hold it.
func (r *Rule) native(token string) (string, bool) {
	if r.Field.Off() {
		return "", false
	}
	return r.nativeForm(token)
}

// nativeForm is native also where the field is not written any more.
func (r *Rule) nativeForm(token string) (string, bool) {
	switch {
	case token == "", len(r.TokenField) == 0 && len(r.TokenList) == 0:
		return "", false
	case r.Native != nil:
		return r.Native(token)
	}
	return token, true
}

// writeNative writes it into the body; false where that cannot be done, or
// something stands there.
func (r *Rule) writeNative(h *head, raw []byte, native string, limits body.Limits) ([]byte, bool) {
	if h.signed() {
		return nil, false
	}
	b, err := body.Decode(raw, h.value("content-type"), h.value("content-encoding"), limits)
	if err != nil {
		return nil, false
	}
	if r.Each != nil {
		if l, ok := b.List(r.Each.List); ok {
			return r.writeElement(l, native)
		}
	}
	return b.Put(r.place(), native)
}

// place is where in a body the token stands.
func (r *Rule) place() body.Place {
	if len(r.TokenList) > 0 {
		return body.Place{Path: r.TokenList, List: r.TokenItem == nil, Item: r.TokenItem, Over: r.TokenVolatile}
	}
	return body.Place{Path: r.TokenField, Over: r.TokenVolatile}
}

// writeElement is writeNative for a list of one create.
func (r *Rule) writeElement(l *body.List, native string) ([]byte, bool) {
	if l.Len() != 1 {
		return nil, false
	}
	text, ok := r.inElement(l.Text(0), native)
	if !ok {
		return nil, false
	}
	return l.With([][]byte{text})
}

// inElement writes it into the text of one create of several.
func (r *Rule) inElement(text []byte, native string) ([]byte, bool) {
	return body.Put(text, r.place(), native)
}

// longestToken is more than any backend takes as an idempotency key.
const longestToken = 255

// fitsHeader reports whether the token may be sent in a header. A client's own
// token comes from a field of its body, which holds anything; the proxy refuses
// the whole create for a line break in a header, and the backend for one that
// is too long, every time that it is sent.
func fitsHeader(token string) bool {
	return token != "" && len(token) <= longestToken && !strings.ContainsFunc(token, unicode.IsControl)
}

// signed reports whether the header vouches for the bytes of the body, which
// then must not change.
func (h *head) signed() bool {
	for _, f := range h.fields {
		switch f.Name {
		case "content-md5", "digest", "content-digest", "repr-digest", "signature", "signature-input", "x-amz-content-sha256", "x-hub-signature", "x-hub-signature-256":
			return true
		}
	}
	return false
}

// readable is what is left of an Accept-Encoding without the codings that we
// cannot undo: an answer whose ticket cannot be read is a create in doubt.
func readable(accepted string) (codings string, narrower bool) {
	var left []string
	for c := range strings.SplitSeq(accepted, ",") {
		name, _, _ := strings.Cut(c, ";")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip", "x-gzip", "deflate", "br", "zstd", "identity":
			left = append(left, strings.TrimSpace(c))
		case "":
		default:
			narrower = true
		}
	}
	if len(left) == 0 {
		left = []string{"identity"}
	}
	return strings.Join(left, ", "), narrower
}
