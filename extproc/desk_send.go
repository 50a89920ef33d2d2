package extproc

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"oneticket/dedup"
	"oneticket/extproc/body"
)

// Create sends the request once more, with the token. What may have made a
// ticket is sent again only after a look-up that found none.
func (d *desk) Create(ctx context.Context, token string) dedup.Outcome {
	if absent := d.absent.Swap(false); d.unsure.Load() && !absent {
		return dedup.Outcome{Kind: dedup.OutcomeNeverSent}
	}
	r, o := d.sendUntilTaken(ctx, token, d.rule.createWithin())
	d.noted(r, o.Kind == dedup.OutcomeCreated)
	d.created.Store(o.Kind == dedup.OutcomeCreated)
	d.unsure.Store(!d.folds && (o.Kind == dedup.OutcomeUnknown || o.Kind == dedup.OutcomeExists)) // what was before is surely not there
	d.server.count.Resent(d.rule.Name, o.Kind)
	d.server.o.Log.Info("sent again", "rule", d.rule.Name, "key", d.fault.Ref.Key, "outcome", o.Kind, "status", r.Answer.Status)
	return o
}

// sendUntilTaken makes the call, and once more without the token in the
// backend's own field where that was refused.
func (d *desk) sendUntilTaken(ctx context.Context, token string, within time.Duration) (CallResult, dedup.Outcome) {
	_, wrote := d.again(token)
	r, o := d.sendAgain(ctx, token, within)
	if !wrote || o.Kind != dedup.OutcomeRefused || !d.rule.rejects(r.Answer, d.refusalIn(r)) {
		return r, o
	}
	d.plain.Store(true)
	r, o = d.sendAgain(ctx, token, within)
	if d.rule.blamed(o, r.Answer, d.refusalIn(r)) {
		d.server.switchOff(d.rule)
	}
	return r, o
}

// sendAgain makes the call. What the proxy answers in the backend's place does
// not say whether anything was sent: its access log does.
func (d *desk) sendAgain(ctx context.Context, token string, within time.Duration) (CallResult, dedup.Outcome) {
	if s := stayOf(ctx); s != nil { // the client waits
		within = max(0, min(within, s.left()))
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	log := &d.server.accessLog
	entry := log.book.follow(rand.Text(), "", "")
	defer log.book.forget(entry)
	call, _ := d.again(token)
	r := d.server.o.Calls.named(ctx, d.rule.Backend, call, d.as, entry.id)
	o := d.outcome(r, func() (dedup.Judgement, []byte) { return d.judge(r) })
	if o.Kind == dedup.OutcomeUnknown && log.await(entry, log.connected("")) == neverSent {
		o.Kind = dedup.OutcomeNeverSent
	}
	return r, o
}

// again is the request as it was let go, with the token; wrote says whether that
// stands in the backend's own field because we have written it there.
func (d *desk) again(token string) (call dedup.Call, wrote bool) {
	rule := d.rule
	if d.plain.Load() {
		rule = rule.without()
	}
	set, text, replaced := rule.withToken(&d.head, token, d.raw, d.server.limits(d.rule))
	call = dedup.Call{Method: d.head.method, Path: d.head.path, Body: d.raw}
	if replaced {
		call.Body = text
	}
	for _, f := range d.head.fields {
		if !ofConnection(f.Name) && !named(set, f.Name) {
			call.Header = append(call.Header, f)
		}
	}
	for _, f := range set {
		if !ofConnection(f.Name) {
			call.Header = append(call.Header, f)
		}
	}
	return call, replaced
}

// ofConnection reports whether a header was of the connection to the proxy, or
// of one sending.
func ofConnection(name string) bool {
	switch name {
	case "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
		"content-length", "expect", "host", "proxy-authorization", "x-request-id", "x-forwarded-proto", callHeader, replayHeader:
		return true
	}
	return strings.HasPrefix(name, "x-envoy-")
}

// outcome judges an attempt of ours as one of a client is judged. What the
// proxy answers in the backend's place looks like the backend's own 5xx.
func (d *desk) outcome(r CallResult, judge func() (dedup.Judgement, []byte)) dedup.Outcome {
	switch {
	case r.Sent == CallNotSent && r.Err != nil:
		return dedup.Outcome{Kind: dedup.OutcomeNeverSent}
	case r.Sent == CallUnknown:
		return dedup.Outcome{Kind: dedup.OutcomeUnknown}
	}
	says, stored := judge()
	h := head{status: r.Answer.Status, fields: r.Answer.Header}
	end := Ending{
		Details: viaUpstream, Attempts: 1, Status: h.status, RetryAfter: h.has("retry-after"),
		Complete: true, Says: says.Says, SafeRetries: d.rule.SafeRetries,
	}
	if !d.rule.SafeRetries {
		end.Attempts = Unsaid // the proxy may have sent it several times
	}
	o := dedup.Outcome{Kind: end.Outcome(), Ticket: says.Ticket}
	if o.Kind == dedup.OutcomeCreated || o.Kind == dedup.OutcomeRemembered {
		o.Response = d.rule.stored(&h, &body.Body{Plain: stored}, len(stored) == 0)
		o.Bearer = d.who.shared
	}
	return o
}

// judge is what the answer says of the create, and what of it is stored.
func (d *desk) judge(r CallResult) (dedup.Judgement, []byte) {
	if d.request.Each == nil {
		return d.rule.Judge(&d.request, &r.Answer), r.Plain
	}
	m := d.readMany(r, 1)
	return m.judge(d.rule, &d.request, 0), m.parts[0].text
}

// readMany reads the answer to n creates of one request.
func (d *desk) readMany(r CallResult, n int) *manyAnswer {
	b, err := decodeJSON(r.Plain)
	if err != nil {
		b = nil
	}
	return d.rule.Each.readMany(r.Answer, b, n)
}

// refusalIn is what the answer says of the one create of a request in the form
// of several; nil where it is none.
func (d *desk) refusalIn(r CallResult) []byte {
	if d.request.Each == nil {
		return nil
	}
	return d.readMany(r, 1).refusal(0)
}
