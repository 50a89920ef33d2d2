package main

import (
	"context"
	"log/slog"
	"sync/atomic"

	"oneticket/cmd/oneticket/admin"
	"oneticket/config"
	"oneticket/dedup"
	"oneticket/dedup/failover"
	"oneticket/extproc"
)

// A merger merges the doubles of the rules in force. newEngine makes its Merger.
type merger struct {
	*dedup.Merger
	store   *failover.Store // knows the doubles of outages; nil: there are none
	calls   *extproc.Caller
	metrics *admin.Metrics
	log     *slog.Logger
	rules   atomic.Pointer[map[string]dedup.MergeRule]
}

func newMerger(cfg *config.Config, calls *extproc.Caller, m *admin.Metrics, log *slog.Logger) *merger {
	g := &merger{calls: calls, metrics: m, log: log}
	g.use(cfg)
	return g
}

// use says which configuration is in force.
func (g *merger) use(cfg *config.Config) {
	rules := map[string]dedup.MergeRule{}
	for _, r := range cfg.Connected(connected).Rules {
		if r.Action == "enforce" && r.Merges() {
			rules[r.Name] = g.ruleOf(r)
		}
	}
	g.rules.Store(&rules)
}

func (g *merger) ruleOf(r *config.Rule) dedup.MergeRule {
	return dedup.MergeRule{
		Backend: r.Backend.Name, Policy: r.Policy(""), Closes: r.Merge == "close",
		Desk: g.calls.MergeDesk(extproc.Merging{
			Backend: r.Backend.Name, Credentials: credentialsOf(r.Backend.Credentials),
			Read: r.ReadCall, ReadAnswer: r.ReadAnswer, Call: r.MergeCall, Answer: r.MergeAnswer,
		}),
	}
}

func (g *merger) rule(name string) (dedup.MergeRule, bool) {
	rule, merges := (*g.rules.Load())[name]
	return rule, merges
}

// done says what became of a double.
func (g *merger) done(m dedup.Merge, result dedup.MergeResult) {
	g.metrics.Merged(m.Ref.Rule, result)
	if g.store != nil {
		g.note(m, result)
	}
	level, what := slog.LevelWarn, "a double was not merged: it may be open beside the ticket of its key"
	switch result {
	case dedup.Merged:
		level, what = slog.LevelInfo, "merged: this ticket was open beside the one of its key"
	case dedup.MergeNeedless:
		level, what = slog.LevelInfo, "a double needs no merging: it is not open, or is the ticket of its key by now"
	}
	g.log.Log(context.Background(), level, what, "rule", m.Ref.Rule, "key", m.Ref.Key, "ticket", m.Duplicate.ID, "into", m.Survivor.ID, "result", result)
}

// note: a double that is not known to be merged is merged once more, which finds
// that there is nothing to do.
func (g *merger) note(m dedup.Merge, result dedup.MergeResult) {
	ctx, cancel := context.WithTimeout(context.Background(), inquiryWithin)
	defer cancel()
	if err := g.store.NoteMerge(ctx, m.Ref, m.Duplicate.ID, result); err != nil {
		g.log.Warn("that a double was merged could not be kept", "rule", m.Ref.Rule, "key", m.Ref.Key, "ticket", m.Duplicate.ID, "error", err)
	}
}
