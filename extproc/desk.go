package extproc

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"oneticket/dedup"
	"oneticket/extproc/body"
)

// A desk asks the backend on behalf of one request of a client, with the
// credentials of that request. It holds them, and the request, in memory only,
// and is let go with the exchange or with what follows it up.
type desk struct {
	server  *Server
	rule    *Rule
	request dedup.Request // as the rule reads it
	fault   dedup.Fault
	head    head   // as it came
	raw     []byte // its body, as it came
	as      Credentials
	who     bearer
	whole   bool // as is all of the sender's credential, so that an answer to it says something of all

	folds   bool        // sent again, the create becomes the ticket of the first send
	unsure  atomic.Bool // it may have been sent already: again only after a look-up that found nothing
	absent  atomic.Bool // what the last look-up has said
	created atomic.Bool // by an attempt of ours
	updated atomic.Pointer[dedup.Response]
}

// newDesk is nil where nobody is to be asked: a nil Backend is nobody.
func (x *exchange) newDesk(ctx context.Context, rule *Rule, fault dedup.Fault, raw []byte) *desk {
	if x.server.o.Calls == nil || rule.Action != Enforce {
		return nil
	}
	d := &desk{
		server: x.server, rule: rule, request: x.request, fault: fault, head: x.head, raw: raw,
		as: x.credentials(rule), who: x.whoOf(ctx, rule),
	}
	d.folds = rule.policy(fault.Class).Memory == dedup.Folds && !fault.Unfolded
	d.whole = rule.presents(&d.request, d.as)
	return d
}

// size is about how much memory is held.
func (d *desk) size() int64 {
	n := int64(len(d.raw) + len(d.request.Raw))
	for _, f := range d.head.fields {
		n += int64(len(f.Name) + len(f.Value))
	}
	return n + 4096
}

// call makes one call, within the time that there is.
func (d *desk) call(ctx context.Context, call dedup.Call, within time.Duration) CallResult {
	if s := stayOf(ctx); s != nil {
		within = min(within, s.left())
	}
	if within <= 0 {
		return CallResult{Sent: CallNotSent, Later: true, Err: errPatience}
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return d.server.o.Calls.Call(ctx, d.rule.Backend, call, d.as)
}

// asking is how long a call may take that asks something, or changes a ticket.
func (d *desk) asking() time.Duration {
	if d.rule.Timeout > 0 {
		return min(callWithin, d.rule.Timeout)
	}
	return callWithin
}

// noted notes what the answer says of the sender's credential. A success counts
// only where the rule could read it: a page that asks to log in is none.
func (d *desk) noted(r CallResult, read bool) {
	if d.whole && r.Sent == CallAnswered && (read || r.Answer.Status > 299) {
		d.server.principals.answered(d.who, r.Answer.Status)
	}
}

// LookUp asks for the tickets with the token.
func (d *desk) LookUp(ctx context.Context, token string) dedup.LookUpResult {
	found := d.find(ctx, token)
	d.absent.Store(found.Answered && len(found.Tickets) == 0)
	d.server.count.LookedUp(d.rule.Backend, foundWord(found))
	return found
}

func (d *desk) find(ctx context.Context, token string) dedup.LookUpResult {
	if d.rule.Asks.LookUp == nil {
		return dedup.LookUpResult{}
	}
	call, ok := d.rule.Asks.LookUp(&d.request, token)
	if !ok {
		return dedup.LookUpResult{}
	}
	r := d.call(ctx, call, d.asking())
	if r.Sent != CallAnswered {
		d.noted(r, false)
		return dedup.LookUpResult{Later: r.Later}
	}
	found := d.rule.Asks.Found(&r.Answer, token)
	d.noted(r, found.Answered)
	if len(found.Tickets) == 0 && !d.carries(token) {
		found.Answered = false // a create without the token is not found by it
	}
	return found
}

func foundWord(r dedup.LookUpResult) string {
	switch {
	case slices.ContainsFunc(r.Tickets, func(t dedup.FoundTicket) bool { return t.Open }):
		return "open"
	case len(r.Tickets) > 0:
		return "closed"
	case r.Answered:
		return "absent"
	default:
		return "unanswered"
	}
}

// carries reports whether a request like this one carries the token where a
// look-up finds it.
func (d *desk) carries(token string) bool {
	path := slices.Concat(d.rule.TokenField, d.rule.TokenList)
	if len(path) == 0 {
		return true
	}
	native, ok := d.rule.nativeForm(token)
	switch {
	case !ok:
		return false
	case d.hasNative(path, native):
		return true
	case d.rule.Field.Off():
		return false
	}
	_, written := d.rule.writeNative(&d.head, d.raw, native, d.server.limits(d.rule))
	return written
}

// hasNative reports whether the client has put it there itself.
func (d *desk) hasNative(path []string, native string) bool {
	v := d.request.Body
	if d.request.Each != nil {
		v = *d.request.Each
	}
	v = at(v, path)
	is := func(one dedup.Value) bool { text, ok := one.Text(); return ok && text == native }
	if i := d.rule.TokenItem; i != nil {
		return slices.ContainsFunc(i.Of(v), func(one dedup.Value) bool { return is(one.Member(i.Value)) })
	}
	return is(v) || slices.ContainsFunc(v.Items, is)
}

// Read asks whether the ticket is open.
func (d *desk) Read(ctx context.Context, ticket dedup.Ticket) dedup.ReadResult {
	read, _ := d.read(ctx, ticket)
	d.server.count.Verified(d.rule.Backend, readWord(read))
	return read
}

// read also tells how the call itself ended.
func (d *desk) read(ctx context.Context, ticket dedup.Ticket) (dedup.ReadResult, CallResult) {
	if d.rule.Asks.Read == nil {
		return dedup.ReadResult{}, CallResult{Sent: CallNotSent}
	}
	call, ok := d.rule.Asks.Read(&d.request, ticket)
	if !ok {
		return dedup.ReadResult{}, CallResult{Sent: CallNotSent}
	}
	r := d.call(ctx, call, d.asking())
	if r.Sent != CallAnswered {
		return dedup.ReadResult{}, r
	}
	read := d.rule.Asks.ReadAnswer(&r.Answer)
	d.noted(r, read.Answered)
	return read, r
}

func readWord(r dedup.ReadResult) string {
	switch {
	case !r.Answered:
		return "unanswered"
	case r.Gone:
		return "gone"
	case r.Open:
		return "open"
	default:
		return "closed"
	}
}

// Create sends the request once more, with the token. What may have made a
// ticket is sent again only after a look-up that found none.
func (d *desk) Create(ctx context.Context, token string) dedup.Outcome {
	if absent := d.absent.Swap(false); d.unsure.Load() && !absent {
		return dedup.Outcome{Kind: dedup.OutcomeNeverSent}
	}
	within := d.rule.Timeout
	if within <= 0 {
		within = callWithin
	}
	r, o := d.sendUntilTaken(ctx, token, within)
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
	if wrote && o.Kind == dedup.OutcomeRefused && d.rule.rejects(r.Answer, d.refusalIn(r)) {
		d.server.switchOff(d.rule)
		return d.sendAgain(ctx, token, within)
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
	set, text, replaced := d.rule.withToken(&d.head, token, d.raw, d.server.limits(d.rule))
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
	b, err := body.Decode(r.Plain, "application/json", "", body.Limits{Size: readAnswer, Budget: answerBudget})
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
