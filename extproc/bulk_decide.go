package extproc

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"oneticket/dedup"
)

// decideBulk claims every fault of the request before it waits for any, and
// sends on what is new. What another request is at is waited for when ours are
// made: two requests that hold what the other one wants never wait for each
// other.
func (x *exchange) decideBulk(ctx context.Context, rule *Rule) reply {
	x.rule = rule
	x.whoOf(ctx, rule)
	x.stay = x.stays(rule.Wait + callsWithin)
	claims := x.bulk.claims()
	for _, e := range claims {
		e.one.bearer = x.bearer
		if e.one.desk = e.one.newDesk(ctx, rule, e.fault, e.raw); e.one.desk != nil {
			e.one.counter = &counter{}
			e.one.counter.desk.Store(e.one.desk)
		}
		x.decideElement(ctx, rule, e)
	}
	for _, e := range x.bulk.all {
		e.sends = e.sends || e.one == nil
		if e.why != "" {
			x.server.o.Metrics.Unkeyed(rule.Name, e.why)
		}
	}
	if rule.Action == Observe {
		x.bulk.sent = x.bulk.all
		return x.goesOn(rule, reply{})
	}
	return x.actBulk(ctx, rule, claims)
}

// actBulk answers, or sends on what has to be.
func (x *exchange) actBulk(ctx context.Context, rule *Rule, claims []*element) reply {
	for _, e := range claims {
		if e.waits && !x.bulk.anySends() {
			x.waitFor(ctx, rule, e)
		}
	}
	switch busy := x.bulk.waiting(); {
	case ctx.Err() != nil:
		return x.goneMany()
	case x.bulk.denied() != nil:
		x.bulk.release(ctx)
		x.told(rule)
		return x.give(copied(x.bulk.denied()))
	case !x.bulk.anySends() && busy != nil:
		return x.busy(rule, busy.fault, dedup.Verdict{RetryAfter: time.Second})
	case !x.bulk.anySends():
		x.told(rule)
		return x.give(x.storedMany(rule))
	}
	return x.sendBulk(ctx, rule, claims)
}

// goneMany: nobody reads this. The proxy may have given up waiting and let the
// request go, so that what is claimed is in doubt; the end settles it.
func (x *exchange) goneMany() reply {
	if x.bulk.holds() {
		x.follow()
	}
	x.step = atEnd
	return reply{note: x.note}
}

// waitFor decides once more, and waits for whoever is at it.
func (x *exchange) waitFor(ctx context.Context, rule *Rule, e *element) {
	e.one.hasty, e.one.stay = false, x.stay
	x.decideElement(ctx, rule, e)
}

// anySends reports whether something has to be sent on.
func (b *bulk) anySends() bool {
	for _, e := range b.all {
		if e.sends {
			return true
		}
	}
	return false
}

// waiting is one that another request is at.
func (b *bulk) waiting() *element {
	for _, e := range b.all {
		if e.waits {
			return e
		}
	}
	return nil
}

// denied is the refusal of a ticket that the sender may not see.
func (b *bulk) denied() *dedup.Response {
	for _, e := range b.all {
		if e.denial != nil {
			return e.denial
		}
	}
	return nil
}

// decideElement claims the fault of one and notes what the engine says.
func (x *exchange) decideElement(ctx context.Context, rule *Rule, e *element) {
	e.waits, e.one.stay = false, x.stay
	for range maxRounds {
		v, err := e.one.claim(ctx, rule, e.fault, e.raw)
		switch {
		case ctx.Err() != nil && v.Hold == nil:
			return
		case errors.Is(err, errCrowded), errors.Is(err, errPatience) && v.Waited:
			e.waits = true
			return
		case err != nil:
			x.server.o.Log.Warn("no store could decide; a create is sent on untouched", "rule", rule.Name, "key", e.fault.Ref.Key, "error", err)
			v = dedup.Verdict{Kind: dedup.Pass, WhyPass: dedup.WhyStoreDown}
		}
		if e.act(ctx, rule, v) {
			e.one.lived(rule, e.fault, v)
			return
		}
	}
	e.waits = true
}

// act notes what is to be done with it; false means that it has to be decided
// again.
func (e *element) act(ctx context.Context, rule *Rule, v dedup.Verdict) bool {
	x := e.one
	if v.Kind == dedup.Busy && rule.Action == Enforce {
		if e.waits = true; !x.hasty {
			x.conflict(rule, v)
		}
		return true
	}
	x.conflict(rule, v)
	if v.UpdateFailed {
		x.server.count.UpdateFailed(rule.Name)
	}
	n := note{kind: v.Kind, reason: string(v.Reason), key: e.fault.Ref.Key}
	if v.WhyPass != "" {
		n.reason = v.WhyPass
		x.server.o.Metrics.Unkeyed(rule.Name, v.WhyPass)
	}
	switch {
	case v.Kind == dedup.Create || rule.Action == Observe:
		e.claimed(rule, v)
	case v.Kind == dedup.Suppress && v.Forward:
		e.forward(ctx, rule, v)
	case v.Kind == dedup.Update && v.Refusal == nil && !v.UpdateFailed:
		e.give(&v.Record)
	case v.Kind == dedup.Suppress, v.Kind == dedup.Update:
		if !e.show(ctx, rule, v) {
			return false
		}
	default:
		e.sends = true
	}
	x.decided(rule, n)
	return true
}

// claimed notes the create that it is.
func (e *element) claimed(rule *Rule, v dedup.Verdict) {
	e.sends = true
	if v.Hold == nil { // observed
		return
	}
	x, p := e.one, rule.policy(e.fault.Class)
	x.hold, x.following = v.Hold, &followUp{}
	x.sending = sending{ref: e.fault.Ref, episode: v.Record.Episode, token: v.Hold.Token()}
	x.canLookUp, x.remembers = p.CanLookUp, p.Memory == dedup.Remembers && p.CanRead
	e.token = v.Hold.Token()
	x.noteBare(v.Hold)
}

// give answers it from the record.
func (e *element) give(record *dedup.Record) {
	if e.status = http.StatusOK; record.Response != nil && record.Response.Status != 0 {
		e.status = record.Response.Status
	}
	e.given = itemOf(record)
}

// show gives what is stored to a sender who may have it; false means that it
// has to be decided again.
func (e *element) show(ctx context.Context, rule *Rule, v dedup.Verdict) bool {
	x := e.one
	if v.Reason == dedup.Recovered {
		x.server.unletter(e.fault.Ref, v.Record.Episode)
	}
	if x.server.principals.known(x.whoOf(ctx, rule), &v.Record) {
		e.give(&v.Record)
		return true
	}
	switch read := x.show(ctx, e.fault, &v); read.says {
	case isShown:
		e.give(&v.Record)
	case isDenied:
		e.denial = read.denial
	case isOver:
		return false
	case isLater:
		e.waits = true
	default:
		e.forward(ctx, rule, v)
	}
	return true
}

// forward sends it on with the record's token.
func (e *element) forward(ctx context.Context, rule *Rule, v dedup.Verdict) {
	e.sends, e.token = true, v.Record.Token
	if !e.one.server.principals.known(e.one.whoOf(ctx, rule), &v.Record) {
		e.one.joining = &joining{ref: e.fault.Ref, episode: v.Record.Episode}
	}
}

// sendBulk lets those go that have to be, if every lease still covers it.
func (x *exchange) sendBulk(ctx context.Context, rule *Rule, claims []*element) reply {
	r, ok := x.cut(rule)
	for _, one := range x.bulk.held() {
		ok = ok && one.hold.Ready()
	}
	if !ok {
		x.bulk.release(ctx)
		return x.busy(rule, claims[0].fault, dedup.Verdict{RetryAfter: time.Second})
	}
	return x.goesOn(rule, r)
}

// cut makes the request of those that are sent, each with its token where the
// rule has a field for it.
func (x *exchange) cut(rule *Rule) (r reply, ok bool) {
	var texts [][]byte
	written := false
	for _, e := range x.bulk.all {
		if e.same != nil || !e.sends {
			continue
		}
		text := e.text
		if native, can := rule.native(e.token); can {
			if with, ok := rule.inElement(text, native); ok {
				text, written, e.wrote = with, true, true
			}
		}
		texts, x.bulk.sent = append(texts, text), append(x.bulk.sent, e)
	}
	r.set, _, _ = rule.withToken(&x.head, "", nil, x.server.limits(rule))
	if !written && len(texts) == len(x.bulk.all) {
		return r, true
	}
	if r.body, r.replace = x.bulk.list.With(texts); !r.replace {
		return r, false
	}
	if x.head.has("content-length") {
		r.set = append(r.set, dedup.HeaderField{Name: "content-length", Value: strconv.Itoa(len(r.body))})
	}
	return r, true
}

// goesOn lets the request go.
func (x *exchange) goesOn(rule *Rule, r reply) reply {
	if x.bulk.holds() {
		x.follow()
	}
	x.told(rule)
	x.step = atAnswer
	r.note = x.note
	return r
}

// told notes the decision on the whole: that on the first create, else that on
// the first of all. Each was counted by itself.
func (x *exchange) told(rule *Rule) {
	x.note = note{kind: dedup.Pass, rule: rule.Name}
	for _, e := range x.bulk.claims() {
		if e.one.note.kind == "" {
			continue
		}
		if e.one.hold != nil {
			x.note = e.one.note
			break
		}
		if x.note.key == "" {
			x.note = e.one.note
		}
	}
	x.tell = rule.Action == Enforce
}
