package extproc

import (
	"context"
	"errors"
	"net/http"
	"time"

	"oneticket/dedup"
)

// maxRounds bounds how often a request is decided again: because the lease of
// its claim no longer covers the exchange, or because others were found to have
// done what it would do.
const maxRounds = 8

var (
	errPatience = errors.New("the proxy does not wait any longer")
	errCrowded  = errors.New("too many requests wait")
)

// decide claims the fault's key and does what the engine says.
func (x *exchange) decide(ctx context.Context, rule *Rule, fault dedup.Fault, raw []byte) reply {
	x.rule = rule
	if x.replaying != nil && !x.replayable(ctx, fault) {
		return x.refuseReplay(rule, fault.Ref.Key)
	}
	x.desk = x.newDesk(ctx, rule, fault, raw)
	want := rule.Wait
	if x.desk != nil {
		x.counter = &counter{}
		x.counter.desk.Store(x.desk)
		want += callsWithin
	}
	x.stay = x.stays(want)
	for range maxRounds {
		v, err := x.claim(ctx, rule, fault, raw)
		switch {
		case ctx.Err() != nil && v.Hold == nil:
			// The client has gone, nothing is claimed, and nobody reads this.
			x.step = atEnd
			return reply{note: x.note}
		case errors.Is(err, errCrowded), errors.Is(err, errPatience) && v.Waited:
			v = dedup.Verdict{Kind: dedup.Busy, Reason: dedup.IsBusy, RetryAfter: time.Second}
		case err != nil:
			x.server.o.Log.Warn("no store could decide; the request is sent on untouched", "rule", rule.Name, "key", fault.Ref.Key, "error", err)
			return x.passKeyed(rule, fault, dedup.WhyStoreDown)
		}
		if r, done := x.act(ctx, rule, fault, v, raw); done {
			x.lived(rule, fault, v)
			return r
		}
	}
	return x.busy(rule, fault, dedup.Verdict{RetryAfter: time.Second})
}

// claim asks the engine, and for the proxy's patience where it has to wait.
// An error of ours is errCrowded or errPatience, the latter with
// Verdict.Waited.
func (x *exchange) claim(ctx context.Context, rule *Rule, fault dedup.Fault, raw []byte) (dedup.Verdict, error) {
	c := x.claimOf(ctx, rule, fault, raw)
	ctx, cancel := context.WithCancelCause(x.stay.in(ctx))
	defer cancel(nil)
	timer := time.AfterFunc(time.Until(x.stay.until), func() { cancel(errPatience) })
	defer timer.Stop()
	x.stay.longer = func(until time.Time) { timer.Reset(time.Until(until)) }

	waited := false
	wait, _ := x.server.o.Patience.plan(rule.Wait)
	if x.hasty {
		wait = 0
	}
	c.Wait = wait
	c.OnWait = func(time.Duration) {
		if wait == 0 || waited {
			return
		}
		waited = true
		if !x.server.enterWait(rule) {
			cancel(errCrowded)
			return
		}
		x.stay.prolong()
	}
	if rule.Action == Observe {
		c.Wait, c.OnWait = 0, nil
	}
	x.landed = x.server.flights.landed.Load()
	v, err := x.server.o.Decider.Decide(ctx, c)
	if waited {
		x.server.leaveWait()
	}
	if err != nil {
		v = dedup.Verdict{Waited: waited}
		if cause := context.Cause(ctx); errors.Is(cause, errCrowded) || errors.Is(cause, errPatience) {
			err = cause
		}
	}
	return v, err
}

// claimOf is the claim of the request, without how long it waits.
func (x *exchange) claimOf(ctx context.Context, rule *Rule, fault dedup.Fault, raw []byte) dedup.Claim {
	c := dedup.Claim{
		Fault: fault, Policy: x.policy(rule, fault.Class),
		Exchange: rule.Timeout, Config: x.rules.Config, By: x.server.o.By,
	}
	if rule.Action == Enforce {
		if x.request.Each == nil { // a refusal of several is not one's own
			c.Caller = func() string { return x.server.caller.of(&x.head, raw) }
		}
		c.Bearer = x.whoOf(ctx, rule).shared
	}
	if x.desk != nil {
		c.Backend = x.counter
		if !x.desk.whole { // what is shown to a part of the credential is not shown to all of it
			c.Bearer = dedup.Bearer{}
		}
	}
	return c
}

// policy is the rule's for the class. A dead letter changes no ticket: it is
// for one that there is not.
func (x *exchange) policy(rule *Rule, class string) *dedup.Policy {
	p := rule.policy(class)
	if x.replaying == nil {
		return p
	}
	only := *p
	only.CanUpdate, only.CanReopen, only.VerifyEvery = false, false, 0
	return &only
}

// policy is the rule's for the class; a rule that only observes says so.
func (r *Rule) policy(class string) *dedup.Policy {
	p := r.Policy(class)
	if r.Action != Observe || p.Observe {
		return p
	}
	observing := *p
	observing.Observe = true
	return &observing
}

// act turns a verdict into a reply; false means that it has to be decided
// again.
func (x *exchange) act(ctx context.Context, rule *Rule, fault dedup.Fault, v dedup.Verdict, raw []byte) (reply, bool) {
	x.conflict(rule, v)
	if rule.Action == Observe {
		return x.observed(rule, fault, v), true
	}
	if v.UpdateFailed {
		x.server.count.UpdateFailed(rule.Name)
	}
	if x.replaying != nil && v.Kind != dedup.Busy && (v.Kind != dedup.Create || v.Record.Episode != x.replaying.episode) {
		return x.outdated(ctx, rule, fault, v), true
	}
	n := note{kind: v.Kind, reason: string(v.Reason), key: fault.Ref.Key}
	switch v.Kind {
	case dedup.Create:
		return x.create(ctx, rule, fault, v, n, raw)
	case dedup.Suppress:
		if v.Reason == dedup.Recovered {
			x.server.unletter(fault.Ref, v.Record.Episode)
		}
		if v.Forward {
			return x.forward(ctx, rule, fault, v, n, raw), true
		}
		return x.giveStored(ctx, rule, fault, v, n, raw)
	case dedup.Update:
		return x.updated(ctx, rule, fault, v, n, raw)
	case dedup.Pass:
		return x.undecided(rule, fault, v, n), true
	default:
		return x.busy(rule, fault, v), true
	}
}

// updated answers a change. The backend took the update from this very sender,
// or its refusal is for this very sender.
func (x *exchange) updated(ctx context.Context, rule *Rule, fault dedup.Fault, v dedup.Verdict, n note, raw []byte) (reply, bool) {
	switch {
	case v.Refusal != nil:
		x.decided(rule, n)
		return x.give(copied(v.Refusal)), true
	case v.UpdateFailed && rule.policy(fault.Class).OnUpdateFailed == "error":
		x.decided(rule, n)
		return x.give(notUpdated(fault.Ref.Key)), true
	case v.UpdateFailed:
		return x.giveStored(ctx, rule, fault, v, n, raw)
	}
	x.decided(rule, n)
	if x.desk != nil {
		if own := x.desk.updated.Load(); own != nil { // it was the client's own request
			return x.give(copied(own)), true
		}
	}
	return x.give(rule.created(&v.Record)), true
}

// undecided is a request that no record takes.
func (x *exchange) undecided(rule *Rule, fault dedup.Fault, v dedup.Verdict, n note) reply {
	switch {
	case v.WhyPass != "":
		return x.passKeyed(rule, fault, v.WhyPass)
	case v.Reason == dedup.UnmatchedClear && rule.OnClearedAnswer:
		x.decided(rule, n)
		return x.give(nothingOpen(fault.Ref.Key))
	default:
		return x.sendOn(rule, n)
	}
}

// conflict counts a request that met another one's claim or ticket.
func (x *exchange) conflict(rule *Rule, v dedup.Verdict) {
	switch {
	case v.Kind == dedup.Busy:
		x.server.o.Metrics.Conflict(rule.Name, string(dedup.IsBusy))
	case v.Kind == dedup.Suppress && (v.Reason == dedup.Race || v.Reason == dedup.Refire):
		x.server.o.Metrics.Conflict(rule.Name, string(v.Reason))
	}
}

// observed lets every request go as it came.
func (x *exchange) observed(rule *Rule, fault dedup.Fault, v dedup.Verdict) reply {
	if v.WhyPass != "" {
		return x.passKeyed(rule, fault, v.WhyPass)
	}
	if x.hold = v.Hold; x.hold != nil {
		x.following = &followUp{}
		x.follow()
	}
	return x.sendOn(rule, note{kind: v.Kind, reason: string(v.Reason), key: fault.Ref.Key})
}

func (x *exchange) passKeyed(rule *Rule, fault dedup.Fault, why string) reply {
	x.server.o.Metrics.Unkeyed(rule.Name, why)
	return x.sendOn(rule, note{kind: dedup.Pass, reason: why, key: fault.Ref.Key})
}

// create lets the request go with the token, if the lease still covers it.
func (x *exchange) create(ctx context.Context, rule *Rule, fault dedup.Fault, v dedup.Verdict, n note, raw []byte) (reply, bool) {
	x.hold = v.Hold
	x.sending = sending{ref: fault.Ref, episode: v.Record.Episode, token: v.Hold.Token()}
	x.canLookUp = rule.policy(fault.Class).CanLookUp
	x.remembers = rule.policy(fault.Class).Memory == dedup.Remembers && rule.policy(fault.Class).CanRead
	r := x.withToken(rule, v.Hold.Token(), raw)
	x.wrote = r.replace
	x.noteBare(v.Hold)
	if !v.Hold.Ready() {
		x.release(ctx)
		return reply{}, false
	}
	x.following = &followUp{}
	x.follow()
	sent := x.sendOn(rule, n)
	r.note = sent.note
	return r, true
}

// forward sends a re-fire on, with the record's token: to a backend that folds
// it into its ticket, or because only the backend can say whether its sender
// may see the ticket.
func (x *exchange) forward(ctx context.Context, rule *Rule, fault dedup.Fault, v dedup.Verdict, n note, raw []byte) reply {
	if !x.server.principals.known(x.whoOf(ctx, rule), &v.Record) {
		x.joining = &joining{ref: fault.Ref, episode: v.Record.Episode}
	}
	r := x.withToken(rule, v.Record.Token, raw)
	x.wrote, x.sending.token = r.replace, v.Record.Token
	r.note = x.sendOn(rule, n).note
	return r
}

// busy gives a waiter the refusal of the request that it waited for, or asks
// it to come again.
func (x *exchange) busy(rule *Rule, fault dedup.Fault, v dedup.Verdict) reply {
	x.decided(rule, note{kind: dedup.Busy, reason: string(dedup.IsBusy), key: fault.Ref.Key})
	if v.Refusal != nil {
		return x.give(copied(v.Refusal))
	}
	return x.give(busy(rule.busyStatus(), v.RetryAfter, fault.Ref.Key))
}

func (r *Rule) busyStatus() int {
	if r.BusyStatus == 0 {
		return http.StatusServiceUnavailable
	}
	return r.BusyStatus
}
