package extproc

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"oneticket/dedup"
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
	plain   atomic.Bool // it goes without our token in the backend's own field
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
	return d.rule.carries(&d.request, &d.head, d.raw, token, d.leavesField(), d.server.limits(d.rule))
}

// leavesField reports whether the backend's own field is left alone.
func (d *desk) leavesField() bool { return d.plain.Load() || d.rule.Field.Off() }

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
