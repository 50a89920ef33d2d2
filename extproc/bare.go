package extproc

import (
	"context"
	"time"

	"oneticket/dedup"
)

// noteBare tells the record that the create goes without what a look-up finds.
func (x *exchange) noteBare(hold *dedup.Hold) {
	if hold != nil && x.desk != nil && x.desk.leavesField() && !x.desk.carries(hold.Token()) {
		hold.Bare()
	}
}

// bare sends the create once more as its client has sent it, under the claim
// that it has: the attempt before was refused, so nothing was made. The client
// waits for that, and gets its answer.
func (x *exchange) bare(ctx context.Context) (dedup.Outcome, bool) {
	d := x.desk
	if d == nil {
		x.server.switchOff(x.rule)
		return dedup.Outcome{}, false
	}
	d.plain.Store(true)
	x.noteBare(x.hold)
	r, o := d.sendAgain(context.WithoutCancel(ctx), x.sending.token, x.bareWithin())
	if x.rule.blamed(o, r.Answer, d.refusalIn(r)) {
		x.server.switchOff(x.rule)
	}
	d.noted(r, o.Kind == dedup.OutcomeCreated)
	x.server.o.Log.Info("sent once more without our token in the backend's field", "rule", x.rule.Name, "key", x.note.key, "outcome", o.Kind, "status", r.Answer.Status)
	x.answered = head{status: r.Answer.Status, fields: r.Answer.Header}
	x.instead = x.answerOf(r)
	return o, true
}

// lastOutcome is the outcome of the whole answer; where that is a refusal of our
// token in the backend's own field, of the same create without it.
func (x *exchange) lastOutcome(ctx context.Context, raw []byte) dedup.Outcome {
	o := x.outcome(ctx, raw)
	if !x.rejected {
		return o
	}
	if again, sent := x.bare(ctx); sent {
		return again
	}
	return o
}

// bareWithin is how long bare may take.
func (x *exchange) bareWithin() time.Duration {
	within := x.rule.createWithin()
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
	d := x.deskOfMany(again)
	if d == nil {
		x.server.switchOff(x.rule)
		for _, e := range again {
			if e.one != nil {
				end.settle(ctx, e, dedup.Outcome{Kind: dedup.OutcomeRefused})
			}
		}
		return m
	}
	for _, e := range again {
		if e.one != nil && e.one.desk != nil {
			e.one.desk.plain.Store(true)
			e.one.noteBare(e.one.hold)
		}
	}
	r, whole := d.sendAgain(context.WithoutCancel(ctx), "", x.bareWithin())
	second := d.readMany(r, len(again))
	x.answered = head{status: r.Answer.Status, fields: r.Answer.Header}
	x.instead = x.answerOf(r)
	blamed := false
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
		blamed = blamed || e.wrote && x.rule.blamed(o, r.Answer, e.refusal)
		e.one.answered = x.answered
		end.settle(ctx, e, o)
	}
	if blamed {
		x.server.switchOff(x.rule)
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
	d := &desk{
		server: x.server, rule: x.rule, request: one.request, fault: one.fault, head: x.head, raw: raw,
		as: one.as, who: one.who, whole: one.whole,
	}
	d.plain.Store(true)
	return d
}
