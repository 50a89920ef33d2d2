package extproc

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"oneticket/dedup"
)

// A problem is an answer of ours, in the form of RFC 9457.
type problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Key    string `json:"key,omitempty"`
	Field  string `json:"field,omitempty"`
}

func (p problem) response(fields ...dedup.HeaderField) *dedup.Response {
	text, err := json.Marshal(p)
	if err != nil {
		text = nil // strings and a number always marshal
	}
	return &dedup.Response{
		Status: p.Status,
		Header: append([]dedup.HeaderField{{Name: "content-type", Value: "application/problem+json"}}, fields...),
		Body:   text,
	}
}

// busy asks the client to come again.
func busy(status int, after time.Duration, key dedup.Key) *dedup.Response {
	if status == 0 {
		status = http.StatusServiceUnavailable
	}
	return problem{
		Title: "An earlier request for the same fault has no outcome yet", Status: status, Key: string(key),
		Detail: "Whether it opened a ticket is not known yet, and a second one must not be opened. Send this request again.",
	}.response(retryAfter(after))
}

// notTrue takes the place of a success that is not one.
func notTrue(after time.Duration, key dedup.Key) *dedup.Response {
	return problem{
		Title: "The ticket could not be confirmed", Status: http.StatusServiceUnavailable, Key: string(key),
		Detail: "The ticket system answered with a ticket that is not open for this fault. Send the request again.",
	}.response(retryAfter(after))
}

// notUpdated is for a change that the rule has no way to give the ticket, where
// its sender is to know.
func notUpdated(key dedup.Key) *dedup.Response {
	return problem{
		Title: "The open ticket was not changed", Status: http.StatusConflict, Key: string(key),
		Detail: "A ticket for this fault is open, and its rule has no request that would give it what is new.",
	}.response()
}

// nothingOpen answers a clear of a fault that has no ticket.
func nothingOpen(key dedup.Key) *dedup.Response {
	return problem{
		Title: "No ticket is open for this fault", Status: http.StatusOK, Key: string(key),
		Detail: "The fault is over, and there is nothing to close.",
	}.response()
}

// outdated refuses a dead letter.
func outdated(key dedup.Key) *dedup.Response {
	return problem{
		Title: "This create is not to be sent any more", Status: http.StatusConflict, Key: string(key),
		Detail: "Its episode has a ticket or is over, or it is not known to be safe to send it again.",
	}.response()
}

// rejected names the field that a rule with on_missing = "reject" misses.
func rejected(field string) *dedup.Response {
	detail := "The request does not say which fault it is for."
	if field != "" {
		detail = "The request does not say which fault it is for: " + field + " is missing."
	}
	return problem{
		Title: "An identity field is missing", Status: http.StatusUnprocessableEntity, Detail: detail, Field: field,
	}.response()
}

// retryAfter is whole seconds, rounded up: less than one is a client that
// comes back too early.
func retryAfter(after time.Duration) dedup.HeaderField {
	seconds := max(1, int64((after+time.Second-1)/time.Second))
	return dedup.HeaderField{Name: "retry-after", Value: strconv.FormatInt(seconds, 10)}
}
