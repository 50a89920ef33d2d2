package extproc

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"oneticket/dedup"
)

// storedMany is the answer to a request of which all is known.
func (x *exchange) storedMany(rule *Rule) *dedup.Response {
	var items [][]byte
	response := &dedup.Response{Status: http.StatusOK}
	for i, e := range x.bulk.all {
		items = append(items, e.lead().given)
		if i == 0 {
			response.Status = e.lead().status
		}
	}
	response.Header = []dedup.HeaderField{{Name: "content-type", Value: "application/json"}, {Name: replayedHeader, Value: "true"}}
	response.Body = rule.Each.wrap(items)
	return response
}

// bulkAnswered settles each create by what the answer says of it, and puts the
// answer together for the request as it came.
func (x *exchange) bulkAnswered(ctx context.Context, raw []byte) reply {
	answer, b := x.decoded(raw)
	m := x.rule.Each.readMany(*answer, b, len(x.bulk.sent))
	var end bulkEnd
	outcomes := make([]dedup.Outcome, len(x.bulk.sent))
	var again []*element // refused because of our token in the backend's own field
	for i, e := range x.bulk.sent {
		e.given, e.refusal, e.status = m.parts[i].text, m.refusal(i), x.answered.status
		if e.one == nil {
			continue
		}
		e.one.answered, e.one.ending = x.answered, x.ending
		outcomes[i] = e.one.outcomeOfOne(ctx, m, i)
		if e.wrote && outcomes[i].Kind == dedup.OutcomeRefused && x.rule.rejects(*answer, e.refusal) {
			again = append(again, e)
		}
	}
	if len(again) > 0 && !m.list {
		again = x.bulk.sent // it was refused as a whole, with what has no key
	}
	for i, e := range x.bulk.sent {
		if e.one != nil && !slices.Contains(again, e) {
			end.settle(ctx, e, outcomes[i])
		}
	}
	if len(again) > 0 {
		m = x.bareMany(ctx, m, again, &end)
	}
	x.unfollowAll(end.corrections)
	return x.bulkGoesBack(ctx, m, &end)
}

// A bulkEnd is what is learned while the creates of a request are settled.
type bulkEnd struct {
	untrue      bool     // the success of one is not true, or what became of one is not known
	merged      bool     // some were sent again
	corrections []func() // of those that are in doubt
	lost        []lostOne
}

func (b *bulkEnd) settle(ctx context.Context, e *element, o dedup.Outcome) {
	hold := e.one.hold
	untrue, goesOn := e.one.settledOne(ctx, o)
	b.untrue = untrue || b.untrue
	if goesOn {
		b.lost = append(b.lost, lostOne{e, hold, o.Kind})
	}
	if hold != nil && o.Kind == dedup.OutcomeUnknown {
		b.corrections = append(b.corrections, e.one.correction(hold))
	}
}

// bulkGoesBack answers the client, whose request was perhaps another than the
// one that was sent.
func (x *exchange) bulkGoesBack(ctx context.Context, m *manyAnswer, end *bulkEnd) reply {
	local := x.ended().local()
	healed := x.healMany(ctx, end.lost)
	switch {
	case !x.tell:
		return x.decorated()
	case end.untrue: // whatever is there of the others
		return x.give(notTrue(untrueRetry, x.note.key))
	case healed && x.bulk.known():
		return x.recoveredMany()
	case len(x.bulk.sent) == len(x.bulk.all) && !end.merged:
		return x.goesBack()
	case m.list && !local:
		return x.together(ctx, m)
	case !local && x.answered.status >= 200 && x.answered.status < 300:
		return x.give(notTrue(untrueRetry, x.note.key)) // what it says of which is not known
	}
	return x.goesBack()
}

// settledOne writes the outcome of one create: whether its success is not true,
// and whether it has no ticket and is to be gone on with.
func (x *exchange) settledOne(ctx context.Context, o dedup.Outcome) (untrue, goesOn bool) {
	hold := x.hold
	claimed := o.Kind == dedup.OutcomeCreated || o.Kind == dedup.OutcomeRemembered
	if hold == nil {
		if j := x.joining; claimed && j != nil {
			x.joins(ctx, j.ref, j.episode, o.Bearer, o.Ticket)
		}
		x.joining = nil
		return false, false
	}
	st, err := x.settle(ctx, o)
	switch {
	case claimed && (err != nil || st.Success):
		x.server.unletter(x.sending.ref, x.sending.episode)
		x.dropped()
		return false, false
	case claimed:
		if st.DeadLetter {
			x.keepLetter(ctx, dedup.OutcomeUnknown)
		}
		x.dropped()
		return true, false
	case !unmade(o.Kind, x.answered.status):
		x.dropped()
		return false, false
	}
	x.keepLetter(ctx, o.Kind)
	return false, true
}

// together waits for what other requests are at, and puts the items back in
// the order of the client's own.
func (x *exchange) together(ctx context.Context, m *manyAnswer) reply {
	x.stay = x.answerStay(x.rule.Wait + callsWithin)
	for _, e := range x.bulk.claims() {
		if !e.waits {
			continue
		}
		if x.waitFor(ctx, x.rule, e); e.given == nil {
			x.bulk.release(ctx) // it was not made after all: the client asks again
			return x.busy(x.rule, e.fault, dedup.Verdict{RetryAfter: time.Second})
		}
	}
	var items [][]byte
	var refused []numbered
	status := x.answered.status
	for _, e := range x.bulk.all {
		switch lead := e.lead(); {
		case lead.refusal != nil:
			refused = append(refused, numbered{lead.refusal, e.at})
		default:
			items = append(items, lead.given)
			if status > 299 { // a failure of all: there is a ticket
				status = lead.status
			}
		}
	}
	text, ok := x.rule.Each.together(m, items, refused)
	if !ok {
		return x.give(notTrue(untrueRetry, x.note.key))
	}
	return x.give(&dedup.Response{Status: status, Header: kept(x.answered.fields, passesOn), Body: text})
}

// passesOn reports whether a header of the backend's answer goes to the client
// with a body that is not the backend's.
func passesOn(name string) bool {
	switch name {
	case "content-md5", "digest", "content-digest", "repr-digest", "etag":
		return false
	}
	return !framing[name] && !strings.HasPrefix(name, ":") && !strings.HasPrefix(name, "x-envoy-")
}
