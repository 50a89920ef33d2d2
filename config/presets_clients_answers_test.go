package config_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"oneticket/config"
	"oneticket/dedup"
	"oneticket/extproc/body"
)

// decoded is the answer of the row, read as the filter reads it.
func (row *answerRow) decoded(t testing.TB) *dedup.Answer {
	t.Helper()
	a := row.answer(t)
	contentType, _ := headerValue(a.Header, "content-type")
	b, err := body.Decode(a.Raw, contentType, "", body.Limits{})
	if err != nil {
		return a
	}
	a.Body, _ = b.Value(nil)
	return a
}

func headerValue(fields []dedup.HeaderField, name string) (string, bool) {
	for _, f := range fields {
		if f.Name == name {
			return f.Value, true
		}
	}
	return "", false
}

// asked is the request that the answer is to; nil when the row has none.
func (row *answerRow) asked(t testing.TB, want *dedup.Want) *dedup.Request {
	t.Helper()
	if row.Request.Method == "" {
		return nil
	}
	text := string(row.Request.Body)
	if unquoted := ""; json.Unmarshal(row.Request.Body, &unquoted) == nil {
		text = unquoted
	}
	sent := clientRow{Client: row.Name, Method: row.Request.Method, Target: row.Request.Target, Body: text}
	req, _ := sent.request(t, want)
	return req
}

func writeAnswer(t *testing.T, b *strings.Builder, r *config.Rule, row *answerRow) {
	t.Helper()
	a := row.decoded(t)
	switch row.Kind {
	case "create":
		got := r.Judge(row.asked(t, r.Wants()), a)
		fmt.Fprintf(b, "%s ticket=%q location=%q rejects_field=%v\n", got.Says, got.Ticket.ID, got.Ticket.Location, r.RejectsField(a))
	case "lookup":
		writeFound(b, r.Found(a, row.Token))
	case "read":
		fmt.Fprintf(b, "%+v\n", r.ReadAnswer(a))
	case "wire":
		req := row.asked(t, nil)
		closes, _ := r.Resolves(req)
		reads, _ := r.ReadsTicket(req)
		fmt.Fprintf(b, "%s %s may_close=%q reads=%q closed=%q\n", req.Method, row.Request.Target, closes, reads, r.Resolved(req, a))
	default:
		f, reason := dedup.Fault{Fingerprint: dedup.Fingerprint{Severity: "major", Cleared: row.Kind == "clear"}}, dedup.Changed
		if row.Kind == "reopen" {
			reason = dedup.Reopened
		}
		got := r.Updated(a, f, reason)
		fmt.Fprintf(b, "%s stays=%v closed=%v\n", got.Kind, got.Stays, got.Ticket.Answered && !got.Ticket.Open)
	}
}

func writeFound(b *strings.Builder, found dedup.LookUpResult) {
	fmt.Fprintf(b, "answered=%v\n", found.Answered)
	for _, f := range found.Tickets {
		fmt.Fprintf(b, "  %s open=%v created=%s\n", f.Ticket.ID, f.Open, f.Created.Format("2006-01-02T15:04:05Z07:00"))
		if f.Response != nil {
			fmt.Fprintf(b, "  %d %v %s\n", f.Response.Status, f.Response.Header, f.Response.Body)
		}
	}
}
