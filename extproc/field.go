package extproc

import (
	"context"
	"sync/atomic"
	"time"

	"oneticket/dedup"
	"oneticket/extproc/body"
)

// A FieldSwitch is on until a backend has refused a create because of our token
// in a field of its own. From then on the field is left alone, for as long as
// the configuration is in force: what is made so cannot be looked up.
type FieldSwitch struct{ off atomic.Bool }

// Off reports whether the field is left alone.
func (f *FieldSwitch) Off() bool { return f != nil && f.off.Load() }

// FieldMetrics is what a Metrics may have beside: a create was refused because
// of our token in the backend's own field.
type FieldMetrics interface{ FieldRejected(backend string) }

// rejects reports whether the answer is a refusal because of the field; refused
// is what it says of one create of several.
func (r *Rule) rejects(answer dedup.Answer, refused []byte) bool {
	if r.RejectsField == nil || r.Field == nil {
		return false
	}
	if refused != nil {
		item := dedup.Value{}
		if b, err := body.Decode(refused, "application/json", "", body.Limits{Size: readAnswer, Budget: answerBudget}); err == nil {
			item, _ = b.Value(nil) // what cannot be read names no field
		}
		answer.Item = &item
	}
	return r.RejectsField(&answer)
}

// switchOff leaves the field alone from now on.
func (s *Server) switchOff(rule *Rule) {
	if m, ok := s.o.Metrics.(FieldMetrics); ok {
		m.FieldRejected(rule.Backend)
	}
	if rule.Field != nil && rule.Field.off.CompareAndSwap(false, true) {
		s.o.Log.Warn("the backend refuses our token in its own field: creates go without it from now on, and a lost answer cannot be looked up",
			"backend", rule.Backend, "rule", rule.Name, "field", rule.FieldName())
	}
}

// FieldName is the field of the backend that carries the token, for a person.
func (r *Rule) FieldName() string {
	name := ""
	for _, path := range [][]string{r.TokenField, r.TokenList} {
		for _, member := range path {
			if name != "" {
				name += "."
			}
			name += member
		}
	}
	return name
}

// noteBare tells the record that the create goes without what a look-up finds.
func (x *exchange) noteBare(hold *dedup.Hold) {
	if hold != nil && x.desk != nil && x.rule.Field.Off() && !x.desk.carries(hold.Token()) {
		hold.Bare()
	}
}

// bare sends the create once more as its client has sent it, under the claim
// that it has: the attempt before was refused, so nothing was made. The client
// waits for that, and gets its answer.
func (x *exchange) bare(ctx context.Context) (dedup.Outcome, bool) {
	x.server.switchOff(x.rule)
	d := x.desk
	if d == nil {
		return dedup.Outcome{}, false
	}
	x.noteBare(x.hold)
	r, o := d.sendAgain(context.WithoutCancel(ctx), x.sending.token, x.bareWithin())
	d.noted(r, o.Kind == dedup.OutcomeCreated)
	x.server.o.Log.Info("sent once more without our token in the backend's field", "rule", x.rule.Name, "key", x.note.key, "outcome", o.Kind, "status", r.Answer.Status)
	x.answered = head{status: r.Answer.Status, fields: r.Answer.Header}
	x.instead = x.answerOf(r)
	return o, true
}

// bareWithin is how long that may take.
func (x *exchange) bareWithin() time.Duration {
	within := x.rule.Timeout
	if within <= 0 {
		within = callWithin
	}
	return min(within, x.answerStay(within+x.rule.HealWithin+2*time.Second).left())
}

// answerStay is the stay at the message that the answer came with: the proxy
// grants one wish for it, whatever is asked for more than once.
func (x *exchange) answerStay(want time.Duration) *stay {
	if x.answering == nil {
		x.answering = x.stays(want)
	}
	return x.answering
}

// answerOf is the answer to a call as the client of the create gets it; one that
// did not come asks it to send the create again.
func (x *exchange) answerOf(r CallResult) *dedup.Response {
	if r.Answer.Status == 0 || r.Sent == CallUnknown {
		return busy(x.rule.busyStatus(), time.Second, x.note.key)
	}
	return &dedup.Response{Status: r.Answer.Status, Header: kept(r.Answer.Header, passesOn), Body: bodyFor(r.Answer.Status, r.Plain)}
}

// goesBack lets the client have the backend's answer: that to the create which
// was sent last.
func (x *exchange) goesBack() reply {
	if x.instead != nil && x.tell {
		return x.give(copied(x.instead))
	}
	return x.decorated()
}

// bareMany is bare for those creates of a request that were refused so, in one
// request. It returns the answer that the client's own is made of.
func (x *exchange) bareMany(ctx context.Context, m *manyAnswer, again []*element, end *bulkEnd) *manyAnswer {
	x.server.switchOff(x.rule)
	d := x.deskOfMany(again)
	if d == nil {
		for _, e := range again {
			if e.one != nil {
				end.settle(ctx, e, dedup.Outcome{Kind: dedup.OutcomeRefused})
			}
		}
		return m
	}
	for _, e := range again {
		if e.one != nil {
			e.one.noteBare(e.one.hold)
		}
	}
	r, whole := d.sendAgain(context.WithoutCancel(ctx), "", x.bareWithin())
	second := d.readMany(r, len(again))
	x.answered = head{status: r.Answer.Status, fields: r.Answer.Header}
	x.instead = x.answerOf(r)
	for i, e := range again {
		e.given, e.refusal, e.status = second.parts[i].text, second.refusal(i), r.Answer.Status
		if e.one == nil {
			continue
		}
		o := dedup.Outcome{Kind: dedup.OutcomeNeverSent}
		if whole.Kind != dedup.OutcomeNeverSent {
			o = d.outcome(r, func() (dedup.Judgement, []byte) {
				return second.judge(x.rule, &e.one.request, i), second.parts[i].text
			})
		}
		e.one.answered = x.answered
		end.settle(ctx, e, o)
	}
	if len(again) == len(x.bulk.sent) {
		return second
	}
	end.merged, end.untrue = true, end.untrue || !second.list
	x.answered = head{status: m.answer.Status, fields: m.answer.Header}
	return m
}

// deskOfMany asks for the same sender, with the request of these creates as they
// came; nil where nobody can.
func (x *exchange) deskOfMany(all []*element) *desk {
	var texts [][]byte
	var one *desk
	for _, e := range all {
		texts = append(texts, e.text)
		if one == nil && e.one != nil {
			one = e.one.desk
		}
	}
	raw, ok := x.bulk.list.With(texts)
	if one == nil || !ok {
		return nil
	}
	return &desk{
		server: x.server, rule: x.rule, request: one.request, fault: one.fault, head: x.head, raw: raw,
		as: one.as, who: one.who, whole: one.whole,
	}
}
