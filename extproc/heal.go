package extproc

import (
	"context"
	"time"

	"oneticket/dedup"
)

// existsWithin is how long the client waits for the look-up of what the backend
// says it has, where the rule does not heal.
const existsWithin = 2 * time.Second

// failed goes on with a create that the backend has not made, as far as is
// known, while its client still waits for the answer.
func (x *exchange) failed(ctx context.Context, hold *dedup.Hold, o dedup.Outcome) reply {
	if !unmade(o.Kind, x.answered.status) {
		x.dropped()
		return x.goesBack()
	}
	x.keepLetter(ctx, o.Kind)
	if rec, found := x.heal(ctx, hold, o.Kind); found {
		x.server.unletter(x.sending.ref, x.sending.episode)
		x.dropped()
		x.note.kind, x.note.reason = dedup.Suppress, string(dedup.Recovered)
		return x.give(x.rule.created(&rec))
	}
	x.followUp(hold, o.Kind, x.canLookUp)
	return x.goesBack()
}

// heal looks for the ticket of a create whose answer was lost, or that the
// backend says it has already.
func (x *exchange) heal(ctx context.Context, hold *dedup.Hold, kind dedup.OutcomeKind) (dedup.Record, bool) {
	if x.desk == nil {
		return dedup.Record{}, false
	}
	within := x.rule.HealWithin
	switch {
	case kind == dedup.OutcomeExists && x.canLookUp:
		within = max(within, existsWithin)
	case kind != dedup.OutcomeUnknown || within <= 0 || !x.canHeal():
		return dedup.Record{}, false
	}
	return x.healIn(ctx, x.staysFor(within), within, hold, kind)
}

// canHeal reports whether there is a way to find out about a lost answer at once.
func (x *exchange) canHeal() bool { return x.canLookUp || x.desk.folds && x.rule.Resend > 0 }

// staysFor is how long the client of a lost answer is to wait for look-ups: the
// proxy would wait for longer.
func (x *exchange) staysFor(within time.Duration) *stay {
	s := x.answerStay(within + time.Second)
	s.prolong()
	if end := time.Now().Add(within + time.Second); s.until.After(end) {
		s.until = end
	}
	return s
}

func (x *exchange) healIn(ctx context.Context, s *stay, within time.Duration, hold *dedup.Hold, kind dedup.OutcomeKind) (dedup.Record, bool) {
	again := x.rule.Resend > 0 && kind == dedup.OutcomeUnknown // else it would exist again
	rec, found := hold.Heal(s.in(ctx), min(within, s.left()), again)
	if found {
		x.server.count.Healed(x.rule.Name)
		x.server.o.Log.Info("healed", "rule", x.rule.Name, "key", x.note.key, "ticket", rec.Ticket.ID)
	}
	return rec, found
}

// settling is the time in which an outcome is written: more where the ticket is
// read for that first.
func (x *exchange) settling(ctx context.Context, o dedup.Outcome) (context.Context, context.CancelFunc) {
	created := o.Kind == dedup.OutcomeCreated || o.Kind == dedup.OutcomeRemembered
	if x.desk == nil || !created || !x.remembers {
		return x.server.settling(ctx)
	}
	s := x.answerStay(callWithin)
	return context.WithTimeout(s.in(context.WithoutCancel(ctx)), x.server.o.Settle+callWithin)
}

// dropped lets go of the request and its credentials.
func (x *exchange) dropped() {
	if x.counter != nil {
		x.counter.close()
	}
	x.desk = nil
}
