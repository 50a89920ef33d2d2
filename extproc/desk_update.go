package extproc

import (
	"context"
	"net/http"

	"oneticket/dedup"
	"oneticket/extproc/body"
)

// Update sends the fingerprint to the ticket, which was made with the token.
func (d *desk) Update(ctx context.Context, ticket dedup.Ticket, token string, next dedup.Fingerprint, reason dedup.Reason) dedup.UpdateOutcome {
	fault := d.fault
	fault.Fingerprint = next
	if d.rule.OnUpdateForward && !next.Cleared && reason != dedup.Reopened {
		return d.forwarded(ctx, token)
	}
	var call dedup.Call
	ok := d.rule.Asks.Update != nil
	if ok {
		call, ok = d.rule.Asks.Update(&d.request, ticket, token, fault, reason)
	}
	switch {
	case ok:
	case d.rule.OnUpdateForward && next.Cleared: // the client's own request is the clear
		return d.forwarded(ctx, token)
	default: // and it never will be: as if it were refused to this caller
		return dedup.UpdateOutcome{Kind: dedup.UpdateRefused, Mine: true}
	}
	if d.rule.Asks.Blind && !next.Cleared && reason != dedup.Reopened {
		if o, closed := d.closedBefore(ctx, ticket); closed {
			d.logUpdate(ticket, reason, o)
			return o
		}
	}
	r := d.call(ctx, call, d.asking())
	o := updateOutcome(r, func(a *dedup.Answer) dedup.UpdateOutcome { return d.rule.Asks.Updated(a, fault, reason) })
	d.noted(r, o.Kind == dedup.UpdateApplied)
	o.Answer = d.shown(r)
	if o.Kind == dedup.UpdateRefused && !o.Ticket.Answered {
		d.readRefused(ctx, ticket, r.Answer.Status, &o)
	}
	d.logUpdate(ticket, reason, o)
	return o
}

// closedBefore reads a ticket of which the answer to an update would not say
// that it is closed.
func (d *desk) closedBefore(ctx context.Context, ticket dedup.Ticket) (o dedup.UpdateOutcome, closed bool) {
	switch read, _ := d.read(ctx, ticket); {
	case !read.Answered || read.Open:
		return o, false
	case read.Gone:
		return dedup.UpdateOutcome{Kind: dedup.UpdateGone}, true
	default:
		return dedup.UpdateOutcome{Kind: dedup.UpdateRefused, Ticket: read}, true
	}
}

// updateOutcome is what is known of an update without its answer, else what
// that says.
func updateOutcome(r CallResult, read func(*dedup.Answer) dedup.UpdateOutcome) dedup.UpdateOutcome {
	switch r.Sent {
	case CallNotSent:
		return dedup.UpdateOutcome{Kind: dedup.UpdateNotSent}
	case CallUnknown:
		return dedup.UpdateOutcome{Kind: dedup.UpdateUnknown}
	default:
		return read(&r.Answer)
	}
}

// readRefused finds out whether it was refused because the ticket is closed, or
// because the caller may not change it.
func (d *desk) readRefused(ctx context.Context, ticket dedup.Ticket, status int, o *dedup.UpdateOutcome) {
	read, r := d.read(ctx, ticket)
	o.Ticket = read
	if d.rule.Asks.Read != nil {
		status = r.Answer.Status
	}
	o.Mine = !read.Answered && (status == http.StatusUnauthorized || status == http.StatusForbidden)
}

// forwarded: the client's own request is the update. Its answer is the client's.
// Where the backend folds it needs the token, to be of the ticket at all; to any
// other backend it would be the create once more.
func (d *desk) forwarded(ctx context.Context, token string) dedup.UpdateOutcome {
	if !d.folds {
		token = ""
	}
	call, _ := d.again(token)
	r := d.call(ctx, call, d.rule.createWithin())
	o := updateOutcome(r, func(a *dedup.Answer) dedup.UpdateOutcome {
		return forwardedSays(d.rule.Judge(&d.request, a).Says, a)
	})
	d.noted(r, o.Kind == dedup.UpdateApplied)
	answer := d.shown(r)
	if o.Kind == dedup.UpdateApplied {
		d.updated.Store(answer)
		return o
	}
	o.Answer = answer
	return o
}

// forwardedSays reads the answer to an update that no rule describes but as a
// create.
func forwardedSays(says dedup.Says, a *dedup.Answer) dedup.UpdateOutcome {
	end := Ending{Status: a.Status, RetryAfter: (&head{fields: a.Header}).has("retry-after")}
	switch {
	case says != dedup.SaysRefused && a.Status >= 200 && a.Status < 300:
		return dedup.UpdateOutcome{Kind: dedup.UpdateApplied}
	case a.Status == http.StatusNotFound, a.Status == http.StatusGone:
		return dedup.UpdateOutcome{Kind: dedup.UpdateGone}
	case a.Status == http.StatusServiceUnavailable && end.RetryAfter:
		return dedup.UpdateOutcome{Kind: dedup.UpdateNotSent}
	case says == dedup.SaysRefused, a.Status == http.StatusConflict, end.refused():
		return dedup.UpdateOutcome{Kind: dedup.UpdateRefused, Mine: true} // nobody can read the ticket
	default:
		return dedup.UpdateOutcome{Kind: dedup.UpdateUnknown}
	}
}

// shown is an answer to a call as a client may see it; nil when there is none.
func (d *desk) shown(r CallResult) *dedup.Response {
	if r.Answer.Status == 0 || r.Sent == CallUnknown {
		return nil
	}
	h := head{status: r.Answer.Status, fields: r.Answer.Header}
	response := d.rule.refusal(&h, &body.Body{Plain: r.Plain}, len(r.Plain) == 0)
	if response == nil {
		response = &dedup.Response{Status: h.status}
	}
	for _, f := range h.fields {
		if f.Name == "retry-after" && !named(response.Header, f.Name) {
			response.Header = append(response.Header, f)
		}
	}
	return response
}

func (d *desk) logUpdate(ticket dedup.Ticket, reason dedup.Reason, o dedup.UpdateOutcome) {
	d.server.o.Log.Info("update", "rule", d.rule.Name, "key", d.fault.Ref.Key, "ticket", ticket.ID, "reason", reason, "outcome", o.Kind)
}
