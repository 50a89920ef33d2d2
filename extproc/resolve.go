package extproc

import (
	"context"
	"net/http"
	"time"

	"oneticket/dedup"
	"oneticket/extproc/body"
)

// A closer writes the close of a ticket: the engine.
type closer interface {
	CloseTicket(ctx context.Context, scope dedup.TicketScope, id string, p *dedup.Policy) error
	CloseHeld(ctx context.Context, scope dedup.TicketScope, ref dedup.Ref, id string, p *dedup.Policy) error
}

// A resolving is a request of a client that may close tickets, or whose answer
// may show that one is closed. It passes untouched.
type resolving struct{ rule *Rule }

// resolves finds the rule by which a request may be about tickets that are there
// already; nil when there is none. Resolves count also while a rule is off.
func (x *exchange) resolves() *resolving {
	cluster := x.asked.text("xds.cluster_name")
	_, known := x.rules.Hosts[cluster]
	for _, r := range x.rules.Rules {
		if known && r.Backend != cluster || r.Resolves.Head == nil || !r.Resolves.Head(&x.request) {
			continue
		}
		return &resolving{r}
	}
	return nil
}

// onResolve lets the request pass, and asks for what is needed to see whether
// it closes a ticket.
func (x *exchange) onResolve(one *resolving, e event, reason string) reply {
	x.decided(one.rule, note{kind: dedup.Pass, reason: reason})
	r := reply{note: x.note}
	switch {
	case !x.mode.served():
		x.server.degraded.note(x.mode, x.started)
		x.step = atEnd
		r.rest = restNothing
	case x.head.contentLength() > one.rule.maxBody():
		x.step = atAnswer
		r.rest = restHeader
	case e.end, x.head.contentLength() == 0:
		x.resolving, x.step = one, atAnswer
	default:
		x.resolving, x.step = one, atBody
	}
	return r
}

// onResolveBody keeps what the rule reads of the request.
func (x *exchange) onResolveBody(raw []byte) reply {
	x.step = atAnswer
	rule := x.resolving.rule
	x.request.Raw, x.request.Body = nil, dedup.Value{}
	if b, err := body.Decode(raw, x.head.value("content-type"), x.head.value("content-encoding"), x.server.limits(rule)); err == nil {
		x.request.Raw = b.Text
		x.request.Body, _ = b.Value(rule.Resolves.Want) // what does not parse has no fields
	}
	return reply{note: x.note}
}

// mayResolve is the reply to a request that is sent on as it came, at the path
// of a create: some APIs close a ticket where they make it. The reply without
// that is otherwise.
func (x *exchange) mayResolve(raw []byte, otherwise reply) reply {
	if otherwise.answer != nil || x.replaying != nil || x.hold != nil || x.joining != nil || x.bulk != nil {
		return otherwise
	}
	if x.resolving = x.resolves(); x.resolving == nil {
		return otherwise
	}
	if x.rule == nil { // no rule takes it for a create
		x.decided(x.resolving.rule, note{kind: dedup.Pass, reason: resolves})
	}
	return x.onResolveBody(raw)
}

// unmatched is the reply to what may be a clear that no record takes: such a
// request may still name a ticket.
func (x *exchange) unmatched(r reply, raw []byte) reply {
	if x.note.kind == dedup.Pass && x.note.reason == string(dedup.UnmatchedClear) {
		return x.mayResolve(raw, r)
	}
	return r
}

// resolved closes the tickets if the answer says so; the client waits for it,
// because its next request may be for a new one.
func (x *exchange) resolved(ctx context.Context, raw []byte) {
	one := x.resolving
	x.resolving = nil
	if x.ended().local() {
		return
	}
	answer := &dedup.Answer{Status: x.answered.status, Header: x.answered.fields}
	if b, err := body.Decode(raw, x.answered.value("content-type"), x.answered.value("content-encoding"), body.Limits{Size: readAnswer, Budget: answerBudget}); err == nil {
		answer.Raw = b.Text
		answer.Body, _ = b.Value(one.rule.Resolves.Answer)
	}
	for _, ticket := range one.rule.Resolves.Closed(&x.request, answer) {
		if !x.shownBefore(one.rule, ticket) {
			x.server.closed(ctx, one.rule, ticket)
		}
	}
}

// shownFor is how long a ticket that is read again and again, by a page that
// somebody has open, is not closed once more.
const shownFor = time.Minute

// shownBefore reports whether the request only reads the ticket, and one of late
// has shown already that it is closed.
func (x *exchange) shownBefore(rule *Rule, ticket string) bool {
	if x.request.Method != http.MethodGet && x.request.Method != http.MethodHead {
		return false
	}
	id, now := rule.Backend+" "+ticket, x.server.o.Now()
	at, _ := x.server.shown.of(id)
	if !at.IsZero() && now.Sub(at) < shownFor {
		return true
	}
	x.server.shown.note(id, now, false)
	return false
}

// closed writes that the ticket is closed.
func (s *Server) closed(ctx context.Context, rule *Rule, ticket string) {
	s.closing(ctx, rule, ticket, func(ctx context.Context, to closer) error {
		return to.CloseTicket(ctx, dedup.TicketScope(rule.Backend), ticket, rule.Policy(""))
	})
}

// closedAt writes it over the record that was seen to hold the ticket, and
// reports whether it did.
func (s *Server) closedAt(ctx context.Context, rule *Rule, ref dedup.Ref, ticket string) bool {
	return s.closing(ctx, rule, ticket, func(ctx context.Context, to closer) error {
		return to.CloseHeld(ctx, dedup.TicketScope(rule.Backend), ref, ticket, rule.Policy(""))
	})
}

func (s *Server) closing(ctx context.Context, rule *Rule, ticket string, write func(context.Context, closer) error) bool {
	to, can := s.o.Decider.(closer)
	if !can {
		return false
	}
	ctx, cancel := s.settling(ctx)
	defer cancel()
	if err := write(ctx, to); err != nil {
		s.o.Log.Warn("the close of a ticket could not be written yet", "rule", rule.Name, "ticket", ticket, "error", err)
		return false
	}
	s.o.Log.Info("closed", "rule", rule.Name, "ticket", ticket)
	return true
}
