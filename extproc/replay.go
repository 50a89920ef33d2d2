package extproc

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"oneticket/dedup"
	"oneticket/extproc/body"
)

// framing headers are of one connection, or of the body as it was sent; no
// rule can ask for them.
var framing = map[string]bool{
	"connection": true, "keep-alive": true, "proxy-connection": true, "te": true,
	"trailer": true, "transfer-encoding": true, "upgrade": true,
	"content-length": true, "content-encoding": true,
	decisionHeader: true, replayedHeader: true,
}

// notReplayed are the headers of one answer.
var notReplayed = map[string]bool{
	"date": true, "age": true, "server": true, "alt-svc": true,
	// of the bytes as they were coded
	"content-md5": true, "digest": true, "content-digest": true, "repr-digest": true,
	// of one request
	"request-id": true, "x-arequestid": true, "x-correlation-id": true, "correlation-id": true,
	"traceparent": true, "tracestate": true,
}

// notReplayedWith are parts of names: of the proxy's own headers, of one
// request, of rate limits, and of what may be a secret.
var notReplayedWith = []string{
	"request-id", "requestid", "trace-id", "traceid", "x-b3-", "transaction-id",
	"ratelimit", "rate-limit",
	"cookie", "auth", "token", "session", "csrf", "secret",
}

// replayed reports whether a header of an answer may be given again.
func (r *Rule) replayed(name string) bool {
	switch {
	case framing[name], strings.HasPrefix(name, ":"), slices.Contains(r.DropHeaders, name):
		return false
	case slices.Contains(r.ReplayHeaders, name):
		return true
	case notReplayed[name], strings.HasPrefix(name, "x-envoy-"):
		return false
	}
	return !slices.ContainsFunc(notReplayedWith, func(part string) bool { return strings.Contains(name, part) })
}

// kept are the headers that the function lets pass, in their order.
func kept(fields []dedup.HeaderField, keep func(string) bool) []dedup.HeaderField {
	var out []dedup.HeaderField
	for _, f := range fields {
		if keep(f.Name) {
			out = append(out, f)
		}
	}
	return out
}

// stored is the answer as it may be kept and given again. The body is nil
// where the answer's could not be decoded; where it is missing or over the
// rule's limit, only id, status and location are left.
func (r *Rule) stored(h *head, b *body.Body, empty bool) *dedup.Response {
	response := &dedup.Response{Status: h.status}
	if !empty && (b == nil || int64(len(b.Plain)) > r.maxAnswer()) {
		response.Cut = true
		response.Header = kept(h.fields, func(name string) bool { return name == "location" })
		return response
	}
	response.Header = kept(h.fields, r.replayed)
	if b != nil {
		response.Body = b.Plain
	}
	return response
}

// defaultMaxAnswer is limits.max_response where a rule says nothing.
const defaultMaxAnswer = 256 << 10

func (r *Rule) maxAnswer() int64 {
	if r.MaxAnswer <= 0 {
		return defaultMaxAnswer
	}
	return r.MaxAnswer
}

// refusal is what a waiter with an equal request gets in place of a refusal of
// its own: the same answer, and so with the challenge for its credentials.
func (r *Rule) refusal(h *head, b *body.Body, empty bool) *dedup.Response {
	response := r.stored(h, b, empty)
	if response.Cut {
		return nil
	}
	response.Header = kept(h.fields, func(name string) bool { return name == "www-authenticate" || r.replayed(name) })
	return response
}

// replay is the stored answer of the record, or one made of what is left of
// it. It is a copy.
func (r *Rule) replay(record *dedup.Record) *dedup.Response {
	stored := record.Response
	if stored == nil || stored.Cut {
		return rebuilt(record)
	}
	return &dedup.Response{
		Status: stored.Status,
		Header: append(kept(stored.Header, r.replayed), dedup.HeaderField{Name: replayedHeader, Value: "true"}),
		Body:   bodyFor(stored.Status, stored.Body),
	}
}

// created is replay for whoever's own request has come to it: a create whose
// answer was lost, or an update.
func (r *Rule) created(record *dedup.Record) *dedup.Response {
	response := r.replay(record)
	response.Header = kept(response.Header, func(name string) bool { return name != replayedHeader })
	return response
}

// rebuilt names the ticket, and claims nothing that is not known.
func rebuilt(record *dedup.Record) *dedup.Response {
	response := &dedup.Response{Status: http.StatusOK}
	if record.Response != nil && record.Response.Status != 0 {
		response.Status = record.Response.Status
	}
	named := struct {
		ID       string `json:"id,omitempty"`
		Location string `json:"location,omitempty"`
	}{record.Ticket.ID, record.Ticket.Location}
	if named.Location == "" && record.Response != nil {
		for _, f := range record.Response.Header {
			if f.Name == "location" {
				named.Location = f.Value
			}
		}
	}
	if text, err := json.Marshal(named); err == nil {
		response.Body = bodyFor(response.Status, text)
	}
	if response.Body != nil {
		response.Header = append(response.Header, dedup.HeaderField{Name: "content-type", Value: "application/json"})
	}
	if named.Location != "" {
		response.Header = append(response.Header, dedup.HeaderField{Name: "location", Value: named.Location})
	}
	response.Header = append(response.Header, dedup.HeaderField{Name: replayedHeader, Value: "true"})
	return response
}

// bodyFor keeps a body from statuses that have none.
func bodyFor(status int, text []byte) []byte {
	if status == http.StatusNoContent || status == http.StatusNotModified {
		return nil
	}
	return text
}
