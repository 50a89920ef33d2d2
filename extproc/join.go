package extproc

import (
	"context"
	"net/http"
	"time"

	"oneticket/dedup"
)

// A joiner writes to whom the backend has shown a record's ticket: the engine.
type joiner interface {
	Join(ctx context.Context, ref dedup.Ref, episode int64, b dedup.Bearer, shown dedup.Ticket) error
}

// A joining is a request that was sent on because the backend alone can say
// whether its sender may see the ticket.
type joining struct {
	ref     dedup.Ref
	episode int64
}

// giveStored gives the stored answer to a sender who may have it. For any other
// the ticket is read with the sender's own credential, and a refusal of that is
// the answer; where it cannot be read the request is sent on with the record's
// token: the backend's refusal is the answer, and its success joins the record.
// False means that it has to be decided again.
func (x *exchange) giveStored(ctx context.Context, rule *Rule, fault dedup.Fault, v dedup.Verdict, n note, raw []byte) (reply, bool) {
	who := x.whoOf(ctx, rule)
	if x.server.principals.known(who, &v.Record) {
		x.land(nil)
		x.decided(rule, n)
		return x.give(rule.replay(&v.Record)), true
	}
	if x.flight == nil {
		one, leads := x.server.flights.board(flightKey{fault.Ref, who.local}, x.server.caller.of(&x.head, raw))
		if !leads {
			return x.await(ctx, rule, fault, one, raw)
		}
		x.flight = one
		if x.landed != x.server.flights.landed.Load() {
			return reply{}, false // the one before may have shown him the ticket since
		}
	}
	switch read := x.show(ctx, fault, &v); read.says {
	case isShown:
		x.land(nil)
		x.decided(rule, n)
		return x.give(rule.replay(&v.Record)), true
	case isDenied:
		x.land(read.denial)
		x.decided(rule, n)
		return x.give(copied(read.denial)), true
	case isOver:
		x.land(nil)
		return reply{}, false
	case isLater:
		x.land(nil)
		return x.busy(rule, fault, dedup.Verdict{RetryAfter: time.Second}), true
	}
	return x.forward(ctx, rule, fault, v, n, raw), true
}

// await waits for the flight of an equal credential.
func (x *exchange) await(ctx context.Context, rule *Rule, fault dedup.Fault, one *flight, raw []byte) (reply, bool) {
	defer x.server.leaveWait()
	if !x.server.enterWait(rule) {
		return x.busy(rule, fault, dedup.Verdict{RetryAfter: time.Second}), true
	}
	x.stay.prolong()
	timer := time.NewTimer(min(x.stay.left(), max(rule.Wait, time.Second)))
	defer timer.Stop()
	select {
	case <-one.done:
		if one.refusal != nil && one.caller == x.server.caller.of(&x.head, raw) {
			return x.busy(rule, fault, dedup.Verdict{Refusal: one.refusal}), true
		}
		return reply{}, false
	case <-ctx.Done():
		x.step = atEnd // the client has gone, and nobody reads this
		return reply{note: x.note}, true
	case <-timer.C:
		return x.busy(rule, fault, dedup.Verdict{RetryAfter: time.Second}), true
	}
}

// A showing is what came of reading the ticket for a sender.
type showing struct {
	says   showingSays
	denial *dedup.Response
}

type showingSays uint8

const (
	isUnread showingSays = iota // it cannot be read
	isShown
	isDenied
	isOver  // shown, and closed: the record did not know
	isLater // there was no turn to read it: that is no reason for a second ticket
)

// show reads the record's ticket with the sender's own credential.
func (x *exchange) show(ctx context.Context, fault dedup.Fault, v *dedup.Verdict) showing {
	d := x.desk
	if d == nil || !d.whole || d.rule.Asks.Read == nil || v.Record.Ticket.ID == "" {
		return showing{}
	}
	read, r := d.read(x.stay.in(ctx), v.Record.Ticket)
	switch status := r.Answer.Status; {
	case r.Later:
		return showing{says: isLater}
	case r.Sent != CallAnswered:
		return showing{}
	case read.Answered && !read.Gone:
		x.joins(ctx, fault.Ref, v.Record.Episode, d.who.shared, v.Record.Ticket)
		if !read.Open && v.Record.State == dedup.Open && x.server.closedAt(ctx, d.rule, fault.Ref, v.Record.Ticket.ID) {
			return showing{says: isOver}
		}
		return showing{says: isShown}
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound, status == http.StatusGone:
		return showing{says: isDenied, denial: d.shown(r)}
	default:
		return showing{}
	}
}

// join writes the success of a request that was sent on; the client waits for
// it, because its next request is likely to be for the same ticket.
func (x *exchange) join(ctx context.Context, raw []byte) {
	j := x.joining
	x.joining = nil
	o := x.lastOutcome(ctx, raw)
	if o.Kind == dedup.OutcomeCreated || o.Kind == dedup.OutcomeRemembered {
		x.joins(ctx, j.ref, j.episode, o.Bearer, o.Ticket)
	}
	x.land(o.Refusal)
}

func (x *exchange) joins(ctx context.Context, ref dedup.Ref, episode int64, b dedup.Bearer, shown dedup.Ticket) {
	to, can := x.server.o.Decider.(joiner)
	if !can || b == (dedup.Bearer{}) {
		return
	}
	ctx, cancel := x.server.settling(ctx)
	defer cancel()
	if err := to.Join(ctx, ref, episode, b, shown); err != nil {
		x.server.o.Log.Warn("who was shown a ticket could not be written", "rule", x.rule.Name, "key", ref.Key, "error", err)
	}
}

// copied is a response that give may add to.
func copied(r *dedup.Response) *dedup.Response {
	out := *r
	out.Header = append([]dedup.HeaderField(nil), r.Header...)
	return &out
}
