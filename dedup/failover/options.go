package failover

import (
	"context"
	"log/slog"
	"time"

	"oneticket/dedup"
)

// Options are what a Store is made of.
type Options struct {
	Shared dedup.Store // closed by Store.Close
	Local  dedup.Store // the embedded one; closed by Store.Close

	// Deadline bounds every call to the shared store, its repetition after a lost
	// reply included; default 250 ms. It is what a request loses to a store that
	// does not answer. What comes later counts as away, so it should be far more
	// than the store takes under load.
	Deadline time.Duration
	// Failures in a row after which the shared store is not asked any more;
	// default 3.
	Failures int
	// Probe is how often it is asked then, and after a call that has failed,
	// beside the requests; default 500 ms.
	Probe time.Duration
	// Writes reports whether the shared store takes writes, each part of it where
	// it has several. Nil: one close is kept, which is in one part.
	Writes func(context.Context) error

	// Pace is the pause between two keys that are reconciled; default 2 ms.
	Pace time.Duration
	// Again is the longest pause between two looks for what is left to be
	// reconciled while there is something; default 5 s.
	Again time.Duration

	// Rule is how the rule of a record treats its faults, and who is asked on
	// its behalf, with the configuration's credentials. Nil, or false: nobody is
	// asked, and times are those of a rule without settings.
	Rule func(dedup.Ref, dedup.Record) (Rule, bool)

	// Ready is closed when Rule can be asked; nothing is reconciled before. Nil: at
	// once.
	Ready <-chan struct{}

	// Reconciled is told, once each, what came of what was opened while the
	// shared store was away.
	Reconciled func(Entry)

	// Switched is told when the shared store goes away and when it is back.
	Switched func(away bool)

	Log *slog.Logger // nil: none
}

// A Rule is what reconciling needs of one.
type Rule struct {
	Policy *dedup.Policy
	Scope  dedup.TicketScope
	Ask    Asker // nil: there is nobody to ask
}

// An Asker is the part of a dedup.Backend that reconciling uses.
type Asker interface {
	LookUp(ctx context.Context, token string) dedup.LookUpResult
	Read(ctx context.Context, ticket dedup.Ticket) dedup.ReadResult
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, to time.Duration) {
		if *d <= 0 {
			*d = to
		}
	}
	set(&o.Deadline, 250*time.Millisecond)
	set(&o.Probe, 500*time.Millisecond)
	set(&o.Pace, 2*time.Millisecond)
	set(&o.Again, 5*time.Second)
	if o.Failures <= 0 {
		o.Failures = 3
	}
	if o.Writes == nil {
		o.Writes = func(ctx context.Context) error {
			_, _, err := o.Shared.KeepClose(ctx, "oneticket", "probe", time.Minute)
			return err
		}
	}
	if o.Rule == nil {
		o.Rule = func(dedup.Ref, dedup.Record) (Rule, bool) { return Rule{}, false }
	}
	if o.Reconciled == nil {
		o.Reconciled = func(Entry) {}
	}
	if o.Switched == nil {
		o.Switched = func(bool) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// unknownRule is for records whose rule is no longer in the configuration.
var unknownRule = dedup.Policy{
	TTL: time.Hour, MaxAge: 24 * time.Hour, Remember: 24 * time.Hour, Settle: time.Minute, Lease: time.Minute,
}

// rule is what is known of the rule of a record.
func (s *Store) rule(ref dedup.Ref, rec dedup.Record) Rule {
	r, ok := s.o.Rule(ref, rec)
	if !ok || r.Policy == nil {
		return Rule{Policy: &unknownRule, Scope: r.Scope}
	}
	return r
}
