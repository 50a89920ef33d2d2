package extproc

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"oneticket/dedup"
	"oneticket/extproc/body"
)

// A bulk is the creates of one request that holds several. A nil bulk is that
// of a request that is one create.
type bulk struct {
	list *body.List
	all  []*element // as they came
	sent []*element // those that were let go, in that order
}

// An element is one of them.
type element struct {
	at    int
	text  []byte
	fault dedup.Fault
	one   *exchange // claims and settles it; nil: it has no key, and is sent on untouched
	raw   []byte    // the request with this one alone
	why   string    // it has no key
	same  *element  // an earlier one for the same fault, which is claimed for both

	sends   bool
	token   string
	waits   bool            // another request is at it
	denial  *dedup.Response // of its sender, who may not see the ticket
	given   []byte          // its item of the answer
	status  int             // of the answer that the item was of
	refusal []byte          // what the answer says of it where it was refused; nil: it was not
	wrote   bool            // it was sent with our token in the backend's own field
}

// readBulk reads the faults of all. What cannot be taken apart has no key as a
// whole.
func (x *exchange) readBulk(rule *Rule, b *body.Body, items []dedup.Value) (dedup.Fault, error) {
	list, ok := b.List(rule.Each.List)
	if !ok || rule.Each.Answer == nil || list.Len() != len(items) || len(items) == 0 || len(items) > mostElements || x.head.signed() ||
		int64(list.Around()*len(items)) > rule.maxBody() { // each create alone has all that is around the list
		return dedup.Fault{}, x.notApart(rule, items)
	}
	if x.replaying != nil && len(items) == 1 { // a dead letter is one create in the form of several
		x.request.Each, x.request.Raw = &items[0], list.Text(0)
		return rule.Fault(&x.request)
	}
	found, unmatched := &bulk{list: list}, 0
	for i := range items {
		e, err := x.readElement(rule, list, i, &items[i])
		switch {
		case errors.Is(err, dedup.ErrNoMatch):
			unmatched++
		case err != nil:
			return dedup.Fault{}, err
		}
		found.all = append(found.all, e)
	}
	if unmatched == len(items) {
		return dedup.Fault{}, dedup.ErrNoMatch
	}
	if !slices.ContainsFunc(found.all, func(e *element) bool { return e.one != nil }) {
		first := slices.IndexFunc(found.all, func(e *element) bool { return e.why != "" })
		return dedup.Fault{}, &dedup.Unkeyed{Why: found.all[first].why}
	}
	found.pair()
	x.bulk = found
	return dedup.Fault{}, nil
}

// notApart is the error for what is sent on whole, if it is for this rule.
func (x *exchange) notApart(rule *Rule, items []dedup.Value) error {
	req := x.request
	if req.Each = &(dedup.Value{}); len(items) > 0 {
		req.Each = &items[0]
	}
	if _, err := rule.Fault(&req); errors.Is(err, dedup.ErrNoMatch) {
		return err
	}
	return &dedup.Unkeyed{Why: dedup.WhyBulk}
}

// readElement also returns one with dedup.ErrNoMatch: it is no create, and sent
// on.
func (x *exchange) readElement(rule *Rule, list *body.List, i int, value *dedup.Value) (*element, error) {
	e := &element{at: i, text: list.Text(i)}
	req := x.request
	req.Each, req.Raw = value, e.text
	fault, err := rule.Fault(&req)
	var unkeyed *dedup.Unkeyed
	switch {
	case errors.As(err, &unkeyed):
		if unkeyed.Field != "" && rule.RejectMissing && rule.Action == Enforce {
			return nil, err
		}
		e.why = unkeyed.Why
		return e, nil
	case err != nil:
		return e, err
	}
	raw, ok := list.With([][]byte{e.text})
	if !ok {
		return nil, &dedup.Unkeyed{Why: dedup.WhyBulk}
	}
	fault.Backend = rule.Backend
	e.fault, e.raw, e.one = fault, raw, x.oneOf(rule, req, raw)
	return e, nil
}

// oneOf is the exchange of one create alone.
func (x *exchange) oneOf(rule *Rule, req dedup.Request, raw []byte) *exchange {
	h := x.head
	h.fields = slices.Clone(h.fields)
	for i := range h.fields {
		if h.fields[i].Name == "content-length" {
			h.fields[i].Value = strconv.Itoa(len(raw))
		}
	}
	return &exchange{
		server: x.server, rules: x.rules, peer: x.peer, ask: x.ask, mode: x.mode, head: h, asked: x.asked,
		request: req, rule: rule, started: x.started, hasty: true,
	}
}

// pair finds those for one fault: they are one claim.
func (b *bulk) pair() {
	type claim struct {
		ref     dedup.Ref
		cleared bool
	}
	first := map[claim]*element{}
	for _, e := range b.all {
		if e.one == nil {
			continue
		}
		c := claim{e.fault.Ref, e.fault.Fingerprint.Cleared}
		if e.same = first[c]; e.same == nil {
			first[c] = e
		}
	}
}

// claims are the elements that are claimed, in the order of their keys: any two
// requests claim in one order.
func (b *bulk) claims() []*element {
	var all []*element
	for _, e := range b.all {
		if e.one != nil && e.same == nil {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b *element) int {
		return cmp.Or(cmp.Compare(a.fault.Ref.Scope, b.fault.Ref.Scope), cmp.Compare(a.fault.Ref.Key, b.fault.Ref.Key))
	})
	return all
}

// lead is the element that is claimed for this one.
func (e *element) lead() *element {
	if e.same != nil {
		return e.same
	}
	return e
}

// reads reports whether the answer is to be read.
func (b *bulk) reads() bool {
	if b == nil || len(b.sent) == 0 {
		return false
	}
	return len(b.sent) < len(b.all) || slices.ContainsFunc(b.sent, func(e *element) bool {
		return e.one != nil && (e.one.hold != nil || e.one.joining != nil)
	})
}

// holds reports whether a create of it is not settled.
func (b *bulk) holds() bool {
	return b != nil && slices.ContainsFunc(b.all, func(e *element) bool { return e.one != nil && e.one.hold != nil })
}

// held are the exchanges whose create is not settled.
func (b *bulk) held() []*exchange {
	var all []*exchange
	if b == nil {
		return nil
	}
	for _, e := range b.all {
		if e.one != nil && e.one.hold != nil {
			all = append(all, e.one)
		}
	}
	return all
}

func (b *bulk) delivered(err error) {
	for _, one := range b.held() {
		one.delivered(err)
	}
}

// lostMany settles all creates of the request alike: their client is told
// nothing by us.
func (x *exchange) lostMany(ctx context.Context, kind dedup.OutcomeKind) {
	var corrections []func()
	for _, one := range x.bulk.held() {
		if kind == dedup.OutcomeUnknown {
			corrections = append(corrections, one.correction(one.hold))
		}
		one.lost(ctx, dedup.Outcome{Kind: kind})
	}
	x.unfollowAll(corrections)
}

// release takes back all claims: nothing was sent.
func (b *bulk) release(ctx context.Context) {
	for _, one := range b.held() {
		one.release(ctx)
	}
}
