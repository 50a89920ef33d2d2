package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"oneticket/dedup"
)

// An answer says how a backend's answers to a create are read.
type answer struct {
	success  statuses
	when     *expression // over the answer; nil = always
	noTicket bool
	id       *expression
	location *expression
	refused  *expression

	exists      statuses
	existsMatch *regexp.Regexp // nil = by the status alone
	remembered  *expression
}

// Judge reads what the answer says of the create. A success is believed only
// with a ticket in it, and wins over all else.
func (r *Rule) Judge(req *dedup.Request, a *dedup.Answer) dedup.Judgement {
	in := &input{answer: a}
	if r.answer.namesNative() {
		in.more = r.sentNative(req)
	}
	return r.answer.judge(in)
}

// namesNative reports whether the ticket is known by its token: an API that
// only says "accepted" is asked by that later.
func (w *answer) namesNative() bool { return w.id != nil && w.id.names("native") }

// sentNative is the token as it stands in the backend's own field of what was
// sent: the client's own, else that of the key, which a backend that folds gets
// in every episode.
func (r *Rule) sentNative(req *dedup.Request) map[string]dedup.Value {
	if req == nil {
		return nil
	}
	if own, ok := r.fieldText(req); ok && !r.TokenVolatile && (r.TokenField != nil || r.TokenItem != nil) {
		return map[string]dedup.Value{"native": textValue(own)}
	}
	token := r.clientToken(req)
	if token == "" {
		var f dedup.Fault
		if r.readKey(&input{request: req}, &f) != nil {
			return nil
		}
		token = string(f.Ref.Key)
	}
	native, ok := r.NativeToken(token)
	if !ok {
		return nil
	}
	return map[string]dedup.Value{"native": textValue(native)}
}

func (w *answer) judge(in *input) dedup.Judgement {
	a := in.answer
	refused := w.refused != nil && w.refused.truth(in)
	ticket := w.ticket(in)
	switch {
	case !refused && w.isSuccess(in) && (w.noTicket || ticket.ID != ""):
		if w.remembered != nil && w.remembered.truth(in) {
			return dedup.Judgement{Says: dedup.SaysRemembered, Ticket: ticket}
		}
		return dedup.Judgement{Says: dedup.SaysCreated, Ticket: ticket}
	case refused:
		return dedup.Judgement{Says: dedup.SaysRefused}
	case w.exists.has(a.Status) && (w.existsMatch == nil || w.existsMatch.Match(a.Raw)):
		return dedup.Judgement{Says: dedup.SaysExists, Ticket: ticket}
	case isRefusal(a):
		return dedup.Judgement{Says: dedup.SaysRefused}
	}
	return dedup.Judgement{Says: dedup.SaysUnclear}
}

func (w *answer) isSuccess(in *input) bool {
	return w.success.has(in.answer.Status) && (w.when == nil || w.when.truth(in))
}

func (w *answer) ticket(in *input) dedup.Ticket {
	var t dedup.Ticket
	if w.id != nil {
		t.ID, _ = w.id.text(in)
	}
	if w.location != nil {
		t.Location, _ = w.location.text(in)
	}
	return t
}

// isRefusal reports whether the status alone says that nothing was made.
func isRefusal(a *dedup.Answer) bool {
	switch a.Status {
	case 408, 409, 423, 425, 499: // it may still be, or was, made
		return false
	case 503:
		_, again := headerOf(a, "retry-after")
		return again
	}
	return a.Status >= 300 && a.Status < 500
}

func headerOf(a *dedup.Answer, name string) (string, bool) {
	for _, h := range a.Header {
		if h.Name == name {
			return h.Value, true
		}
	}
	return "", false
}

// statuses is a set of status codes.
type statuses map[int]bool

func (s statuses) has(status int) bool { return s[status] }

// statuses reads [200, 201], or classes: ["2xx"].
func (l *loader) statuses(s shape, byDefault ...string) statuses {
	given := s.list("status")
	if len(given) == 0 {
		given = byDefault
	}
	set := statuses{}
	for i, text := range given {
		if class, ok := strings.CutSuffix(text, "xx"); ok && len(class) == 1 && class >= "1" && class <= "5" {
			for n := range 100 {
				set[int(class[0]-'0')*100+n] = true
			}
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 100 || n > 599 {
			l.fail(itemRange(s.members["status"], i), "this is no status", fmt.Sprintf("Found %q; allowed are 100 to 599, and classes such as \"2xx\".", text))
		}
		set[n] = true
	}
	return set
}

// answer reads how answers are judged; c compiles over answers.
func (l *loader) answer(from layers, c *compiler) answer {
	success := l.shape(from, "success", "status", "when")
	exists := l.shape(from, "exists", "status", "match")
	a := answer{success: l.statuses(success, "2xx"), when: success.expression("when", c), exists: l.statuses(exists, "409"),
		refused: l.expression(from, "refused", c), remembered: l.expression(from, "remembered", c)}
	if text := exists.text("match"); text != "" {
		re, err := regexp.Compile(text)
		if err != nil {
			l.diags = append(l.diags, patternProblem(exists.members["match"], text, err))
		}
		a.existsMatch = re
	}
	l.ticket(from, c, &a)
	return a
}

// ticketRoots: the id can be that by which a backend that folds was asked, or
// that of the element of a bulk answer.
var ticketRoots = append([]string{"native", itemName}, answerRoots...)

// rejectsRoots: of a bulk answer, item is the element that was refused.
var rejectsRoots = append([]string{itemName}, answerRoots...)

// ticket reads ticket = { id = ..., location = ... }, or "none".
func (l *loader) ticket(from layers, c *compiler, a *answer) {
	v, set := from.get("ticket")
	if set {
		if given, diags := v.expr.Value(nil); !diags.HasErrors() {
			if text, ok := asText(given); ok && text == "none" {
				a.noTicket = true
				return
			} else if ok {
				l.fail(v.at, "ticket is an object", fmt.Sprintf("Found %q; allowed is { id = ..., location = ... }, or \"none\" when answers name no ticket.", text))
				return
			}
		}
	}
	s := l.shape(from, "ticket", ticketMembers...)
	a.id, a.location = s.expression("id", c.seeing(ticketRoots)), s.expression("location", c)
	if _, given := s.members["id"]; !given {
		l.fail(from.at("ticket"), "ticket has no id", `It says where an answer names the ticket: ticket = { id = body.id }; or ticket = "none" when answers name none.`)
	}
}
