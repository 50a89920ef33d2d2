package config

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"oneticket/dedup"
)

// A read is how one ticket is read by its id.
type read struct {
	call *call
	open *expression // over the answer; missing = it does not say
	when *expression // over the answer: it is that of a ticket; nil = every 2xx is
	gone statuses
}

// readRead returns the path, which updates of the ticket mostly share.
func (l *loader) readRead(from layers, c *compiler, k *calls) hclsyntax.Expression {
	if !hasCall(from, "read") {
		return nil
	}
	s := l.shape(from, "read", append([]string{"open", "when", "gone"}, callMembers...)...)
	over := c.seeing(answerRoots)
	k.read = &read{call: l.call(s, c.seeing(readRoots), "GET", nil), when: s.expression("when", over), gone: s.statusMember("gone", "404", "410")}
	k.read.open = s.required("open", over, `It says whether the ticket that was read is open: open = body.status != "closed".`)
	return s.members["path"]
}

// ReadCall is the request that reads the ticket. It is false where the rule
// has none. req is a request of the fault; nil when there is none at hand.
func (r *Rule) ReadCall(req *dedup.Request, ticket dedup.Ticket) (dedup.Call, bool) {
	if r.calls.read == nil || ticket.ID == "" {
		return dedup.Call{}, false
	}
	return r.calls.read.call.make(r.callInput(req, map[string]dedup.Value{"ticket": ticketValue(ticket)}))
}

// ReadAnswer says what the ticket is by the answer to ReadCall. What does not
// say so clearly is not answered: a page of HTML closes no ticket.
func (r *Rule) ReadAnswer(a *dedup.Answer) dedup.ReadResult {
	k := r.calls.read
	switch {
	case k == nil || a == nil:
		return dedup.ReadResult{}
	case k.gone.has(a.Status):
		return dedup.ReadResult{Answered: true, Gone: true}
	case a.Status < 200 || a.Status > 299:
		return dedup.ReadResult{}
	}
	in := &input{answer: a}
	if k.when != nil && !k.when.truth(in) {
		return dedup.ReadResult{}
	}
	open, ok := k.open.text(in)
	if !ok || open != "true" && open != "false" {
		return dedup.ReadResult{}
	}
	return dedup.ReadResult{Answered: true, Open: open == "true"}
}
