package extproc

import (
	"context"
	"time"

	"oneticket/dedup"
	"oneticket/extproc/body"
)

// untrueRetry is after how long a client shall ask again whose answer names a
// ticket that cannot be believed.
const untrueRetry = 5 * time.Second

// onAnswer takes the header of the answer; of the backend, or of the proxy.
func (x *exchange) onAnswer(ctx context.Context, e event) reply {
	x.ending = e.attributes
	if x.step == atBody && x.resolving == nil && x.ending.text("response.code_details") == "request_payload_too_large" {
		x.pass(x.matched[0], tooLarge)
	}
	x.step = atEnd
	x.answered = e.head
	x.noteAnswer(ctx)
	switch {
	case x.hold == nil && x.joining == nil && x.resolving == nil && !x.bulk.reads():
		return x.decorated()
	case e.end:
		return x.whole(ctx, nil)
	}
	x.step = atAnswerBody
	return x.decorated()
}

// onAnswerBody takes the whole body of the answer: in the mode that we serve
// it comes as one event, whose end is open only when trailers follow.
func (x *exchange) onAnswerBody(ctx context.Context, e event) reply {
	x.step = atEnd
	if !e.end && !x.mode.said && (x.hold != nil || x.bulk != nil) {
		x.lostMany(ctx, dedup.OutcomeUnknown)
		if x.hold != nil {
			x.lost(ctx, dedup.Outcome{Kind: dedup.OutcomeUnknown})
		}
		return reply{note: x.note}
	}
	r := x.whole(ctx, e.body)
	r.set = nil // the header was answered before
	return r
}

// whole has the whole answer of a request that waits for one.
func (x *exchange) whole(ctx context.Context, raw []byte) reply {
	switch {
	case x.hold != nil:
		return x.settled(ctx, raw)
	case x.bulk != nil:
		return x.bulkAnswered(ctx, raw)
	case x.joining != nil:
		x.join(ctx, raw)
	case x.resolving != nil:
		x.resolved(ctx, raw)
	}
	return x.goesBack()
}

// decorated is the reply to the header of an answer.
func (x *exchange) decorated() reply {
	r := reply{note: x.note}
	if x.tell {
		r.set = append(r.set, x.note.field())
	}
	return r
}

// settled writes the outcome, and answers in the backend's place where its
// success is not true, or where the ticket is there although it failed.
func (x *exchange) settled(ctx context.Context, raw []byte) reply {
	hold, o := x.hold, x.lastOutcome(ctx, raw)
	claimed := o.Kind == dedup.OutcomeCreated || o.Kind == dedup.OutcomeRemembered
	st, err := x.settle(ctx, o)
	switch {
	case claimed && (err != nil || st.Success):
		x.server.unletter(x.sending.ref, x.sending.episode)
		x.dropped()
		return x.goesBack()
	case claimed:
		if st.DeadLetter {
			x.keepLetter(ctx, dedup.OutcomeUnknown)
		}
		x.dropped()
		if x.tell {
			return x.give(notTrue(untrueRetry, x.note.key))
		}
		return x.decorated()
	}
	return x.failed(ctx, hold, o)
}

// outcome judges the whole answer.
func (x *exchange) outcome(ctx context.Context, raw []byte) dedup.Outcome {
	answer, b := x.decoded(raw)
	var o dedup.Outcome
	var refusal []byte
	if x.request.Each != nil { // a dead letter: one create, in the form of several
		m := x.rule.Each.readMany(*answer, b, 1)
		o, refusal = x.outcomeOfOne(ctx, m, 0), m.refusal(0)
	} else {
		o = x.outcomeOf(ctx, func() dedup.Judgement { return x.rule.Judge(&x.request, answer) }, b, len(raw) == 0)
	}
	x.rejected = x.wrote && o.Kind == dedup.OutcomeRefused && x.rule.rejects(*answer, refusal)
	return o
}

// outcomeOfOne is the outcome of one of several creates.
func (x *exchange) outcomeOfOne(ctx context.Context, m *manyAnswer, i int) dedup.Outcome {
	return x.outcomeOf(ctx, func() dedup.Judgement { return m.judge(x.rule, &x.request, i) }, m.body(i), false)
}

func (x *exchange) outcomeOf(ctx context.Context, judge func() dedup.Judgement, b *body.Body, empty bool) dedup.Outcome {
	end := x.ended()
	if end.local() {
		return dedup.Outcome{Kind: end.Outcome()}
	}
	says := judge()
	end.Says = says.Says
	o := dedup.Outcome{Kind: end.Outcome(), Ticket: says.Ticket}
	switch o.Kind {
	case dedup.OutcomeCreated, dedup.OutcomeRemembered:
		o.Response = x.rule.stored(&x.answered, b, empty)
		if x.rule.Action == Enforce {
			o.Bearer = x.who(ctx).shared
		}
	case dedup.OutcomeRefused:
		o.Refusal = x.rule.refusal(&x.answered, b, empty)
	}
	return o
}

// decoded is the whole answer; the body is nil where that fails.
func (x *exchange) decoded(raw []byte) (*dedup.Answer, *body.Body) {
	h := &x.answered
	answer := &dedup.Answer{Status: h.status, Header: h.fields}
	b, err := body.Decode(raw, h.value("content-type"), h.value("content-encoding"), body.Limits{Size: readAnswer, Budget: answerBudget})
	if err != nil {
		return answer, nil
	}
	answer.Raw = b.Text
	answer.Body, _ = b.Value(x.rule.WantAnswer) // an answer that is no JSON has its status, header and text
	return answer, b
}

const (
	// readAnswer is how much of an answer is read for its ticket; what the
	// proxy buffers is less.
	readAnswer = 64 << 20
	// answerBudget is larger than a request's: an id that is not read is a
	// create in doubt.
	answerBudget = time.Second
)

// ended is what the proxy says of the answer.
func (x *exchange) ended() Ending {
	e := Ending{
		Details: x.ending.text("response.code_details"), Attempts: Unsaid,
		Status: x.answered.status, RetryAfter: x.answered.has("retry-after"),
		Complete: true, SafeRetries: x.rule.SafeRetries,
	}
	e.Flags, _ = x.ending.number("response.flags")
	if n, ok := x.ending.number("upstream.request_attempt_count"); ok {
		e.Attempts = int(n)
	}
	return e
}

// delivered notes whether the reply reached the proxy; only then may a create
// have been let go.
func (x *exchange) delivered(err error) {
	x.bulk.delivered(err)
	if x.hold == nil || x.letGo || err != nil {
		return
	}
	x.letGo = true
	x.hold.MarkSent()
}

// release takes back a claim under which nothing was sent.
func (x *exchange) release(ctx context.Context) {
	hold := x.hold
	x.hold = nil
	ctx, cancel := x.server.settling(ctx)
	defer cancel()
	x.unfollow(hold, dedup.OutcomeNeverSent)
	if err := hold.Release(ctx); err != nil {
		x.server.o.Log.Warn("a claim could not be released and ends with its lease", "key", hold.Key(), "error", err)
	}
}

// settle writes the outcome of the create, once, also when the client has
// gone. A store that does not take it keeps nobody from the answer: the record
// becomes doubtful when its lease is over.
func (x *exchange) settle(ctx context.Context, o dedup.Outcome) (dedup.Settlement, error) {
	hold := x.hold
	x.hold = nil
	ctx, cancel := x.settling(ctx, o)
	defer cancel()
	st, err := hold.Settle(ctx, o)
	x.unfollow(hold, o.Kind)
	x.server.o.Metrics.Outcome(x.rule.Name, o.Kind)
	if err != nil {
		x.server.o.Log.Warn("an outcome could not be written", "rule", x.rule.Name, "key", x.note.key, "outcome", o.Kind, "error", err)
		return st, err
	}
	x.server.logOutcome(x.note, o, x.ended())
	return st, nil
}

// end is called once, when the stream is over or broken. A create that has no
// outcome by then is in doubt, also one whose reply did not reach the proxy:
// it may have let the request pass without us.
func (x *exchange) end(ctx context.Context) {
	defer x.land(nil)
	if x.bulk.holds() {
		x.lostMany(ctx, x.lastWord())
	}
	if x.hold != nil {
		x.lost(ctx, dedup.Outcome{Kind: x.lastWord()})
	}
}

// lost settles a create whose client is told nothing by us.
func (x *exchange) lost(ctx context.Context, o dedup.Outcome) {
	hold := x.hold
	x.settle(ctx, o)
	x.answered = head{} // of an answer that was cut off
	x.keepLetter(ctx, o.Kind)
	x.followUp(hold, o.Kind, x.canLookUp)
}
