package config

import (
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"oneticket/dedup"
)

// An update is how an open ticket is changed, and how the answer is read.
type update struct {
	call    *call
	success statuses
	gone    statuses
	when    *expression // over the answer: the change is in it; nil = by the status alone
	refused *expression // over the answer: a failure that looks like a success
	closed  *expression // over the answer: the ticket was closed already
	closes  bool        // it closes the ticket
	stays   *expression // over the answer: noted, but the ticket is open still
}

var updateMembers = append([]string{"success", "gone", "when", "refused", "closed", "closes", "stays"}, callMembers...)

// readUpdates reads update, clear and reopen. The last two are mostly requests
// to the same address.
func (l *loader) readUpdates(from layers, c *compiler, k *calls, path hclsyntax.Expression) {
	method := "PUT"
	if hasCall(from, "update") {
		s := l.shape(from, "update", updateMembers...)
		if own, ok := s.members["path"]; ok {
			path = own
		}
		k.update = l.readUpdate(s, c, method, path)
		method = k.update.call.method
	}
	for _, one := range []struct {
		name string
		to   **update
	}{{"clear", &k.clear}, {"reopen", &k.reopen}} {
		if hasCall(from, one.name) {
			*one.to = l.readUpdate(l.shape(from, one.name, updateMembers...), c, method, path)
		}
	}
}

func (l *loader) readUpdate(s shape, c *compiler, method string, path hclsyntax.Expression) *update {
	over := c.seeing(answerRoots)
	return &update{
		call:    l.call(s, c.seeing(updateRoots), method, path),
		success: s.statusMember("success", "2xx"), gone: s.statusMember("gone", "404", "410"),
		when: s.expression("when", over), refused: s.expression("refused", over),
		closed: s.expression("closed", over), stays: s.expression("stays", over), closes: s.flag("closes"),
	}
}

// forChange is the update for the fingerprint: nil where the rule has none.
func (k *calls) forChange(fp dedup.Fingerprint, reason dedup.Reason) *update {
	switch {
	case fp.Cleared:
		return k.clear
	case reason == dedup.Reopened:
		return k.reopen
	}
	return k.update
}

// UpdateCall is the request that gives the ticket the fault's fingerprint; with
// the reason dedup.Reopened, the one that opens it again. It is false where the
// rule has none, and where there is nothing that it could say.
func (r *Rule) UpdateCall(req *dedup.Request, ticket dedup.Ticket, token string, f dedup.Fault, reason dedup.Reason) (dedup.Call, bool) {
	u := r.calls.forChange(f.Fingerprint, reason)
	if u == nil || ticket.ID == "" {
		return dedup.Call{}, false
	}
	severity := textValue(f.Fingerprint.Severity)
	if f.Fingerprint.Severity == dedup.NoSeverity {
		severity = dedup.Value{}
	}
	native, _ := r.NativeToken(token)
	return u.call.make(r.callInput(req, map[string]dedup.Value{
		"ticket": ticketValue(ticket), "token": textValue(token), "native": textValue(native),
		"key": textValue(string(f.Ref.Key)), "severity": severity,
		"fingerprint": {Kind: dedup.ObjectValue, Members: []dedup.Member{
			{Name: "severity", Value: severity}, {Name: "cleared", Value: dedup.Value{Kind: dedup.BoolValue, Literal: strconv.FormatBool(f.Fingerprint.Cleared)}},
		}},
	}))
}

// Updated says what became of an UpdateCall by its answer: nil is none.
// UpdateRefused comes without the ticket, which has to be read, unless the
// answer says what it is.
func (r *Rule) Updated(a *dedup.Answer, f dedup.Fault, reason dedup.Reason) dedup.UpdateOutcome {
	u := r.calls.forChange(f.Fingerprint, reason)
	switch {
	case a == nil || u == nil:
		return dedup.UpdateOutcome{Kind: dedup.UpdateUnknown}
	case u.success.has(a.Status):
		return u.succeeded(&input{answer: a}, f.Fingerprint)
	case u.gone.has(a.Status):
		return dedup.UpdateOutcome{Kind: dedup.UpdateGone}
	}
	return dedup.UpdateOutcome{Kind: updateFailure(a)}
}

// UpdatedTellsClosed reports whether the answer to an update says of a closed
// ticket that it is one.
func (r *Rule) UpdatedTellsClosed() bool {
	return r.calls.update == nil || r.calls.update.closed != nil
}

// succeeded reads an answer with the status of a success. A closed ticket that
// took a severity is not open by that.
func (u *update) succeeded(in *input, fp dedup.Fingerprint) dedup.UpdateOutcome {
	switch {
	case u.refused != nil && u.refused.truth(in):
		return dedup.UpdateOutcome{Kind: dedup.UpdateRefused}
	case u.when != nil && !u.when.truth(in):
		return dedup.UpdateOutcome{Kind: dedup.UpdateUnknown}
	case !fp.Cleared && u.closed != nil && u.closed.truth(in):
		return dedup.UpdateOutcome{Kind: dedup.UpdateRefused, Ticket: dedup.ReadResult{Answered: true}}
	}
	stays := fp.Cleared && (!u.closes || u.stays != nil && u.stays.truth(in))
	return dedup.UpdateOutcome{Kind: dedup.UpdateApplied, Stays: stays}
}

// updateFailure: what was certainly not done is refused, or comes again; all
// else may have been done.
func updateFailure(a *dedup.Answer) dedup.UpdateKind {
	_, again := headerOf(a, "retry-after")
	switch {
	case a.Status == 429, a.Status == 503 && again:
		return dedup.UpdateNotSent
	case slices.Contains([]int{408, 423, 425, 499}, a.Status), a.Status < 300, a.Status >= 500:
		return dedup.UpdateUnknown
	}
	return dedup.UpdateRefused
}
