package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/failover"
)

// A reconcileDesk merges, for an operator, the doubles that an outage has left.
// It runs in the process: the way to the ticket systems is that one's.
type reconcileDesk struct {
	store  *failover.Store // nil: there is no other store that could be away
	engine *dedup.Engine
	merger *merger
	now    *inForce
}

func newReconcileDesk(store dedup.Store, engine *dedup.Engine, merger *merger, now *inForce) *reconcileDesk {
	d := &reconcileDesk{engine: engine, merger: merger, now: now}
	d.store, _ = store.(*failover.Store)
	return d
}

// A mergedDouble is what became of one double, as the command prints it.
type mergedDouble struct {
	Rule   string            `json:"rule,omitzero"`
	Scope  string            `json:"scope,omitzero"`
	Key    dedup.Key         `json:"key"`
	Ticket string            `json:"ticket,omitzero"` // the double
	Into   string            `json:"into,omitzero"`   // the ticket that stays
	Result dedup.MergeResult `json:"result,omitzero"`
	Error  string            `json:"error,omitzero"` // why nothing was tried
}

// done reports whether nothing is left to be merged.
func (m mergedDouble) done() bool {
	return m.Result == dedup.Merged || m.Result == dedup.MergeNeedless
}

// mergePath is where the desk is at the admin address; the query says how, and
// of which keys.
const mergePath = "/v1/reconciled/merge"

// handler answers with one mergedDouble a line, as each is known. A page of
// another origin in somebody's browser can merge nothing.
func (d *reconcileDesk) handler() http.Handler {
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := r.URL.Query()
		doubles, err := d.doubles(r.Context(), asked.Get("how"), asked["key"])
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		out := json.NewEncoder(w)
		for _, e := range doubles {
			if out.Encode(d.merge(r.Context(), asked.Get("how"), e)) != nil {
				return // nobody listens any more
			}
			_ = http.NewResponseController(w).Flush() // who has gone is noticed by the next line
		}
		for _, key := range asked["key"] {
			if !slices.ContainsFunc(doubles, func(e failover.Entry) bool { return string(e.Key) == key }) {
				_ = out.Encode(mergedDouble{Key: dedup.Key(key), Error: "no double of this key is known that is not merged"})
			}
		}
	}))
}

// doubles are those of the keys, or all without any, that are not merged yet.
func (d *reconcileDesk) doubles(ctx context.Context, how string, keys []string) ([]failover.Entry, error) {
	switch {
	case how != "close" && how != "link":
		return nil, fmt.Errorf("merge %q: want close or link", how)
	case d.store == nil:
		return nil, errors.New(`the store is "sqlite": there is no other that could be away`)
	case d.store.Away():
		return nil, errors.New("the shared store is out of reach: what is a double is known when it is back")
	}
	entries, err := d.store.Entries(ctx)
	return slices.DeleteFunc(entries, func(e failover.Entry) bool {
		return e.Result != dedup.Double || e.Merge != "" || len(keys) > 0 && !slices.Contains(keys, string(e.Key))
	}), err
}

// How often a merge is tried that cannot be told yet, and how far apart.
const (
	operatorTries = 5
	operatorPause = time.Second
)

func (d *reconcileDesk) merge(ctx context.Context, how string, e failover.Entry) mergedDouble {
	one := dedup.Merge{Ref: dedup.Ref{Rule: e.Rule, Scope: e.Scope, Key: e.Key}, Duplicate: dedup.Ticket{ID: e.Ticket, Location: e.Location}}
	said := mergedDouble{Rule: e.Rule, Scope: e.Scope, Key: e.Key, Ticket: e.Ticket}
	rule, err := d.ruleFor(how, e.Rule)
	if err != nil {
		said.Error = err.Error()
		return said
	}
	merger := dedup.NewMerger(dedup.MergerOptions{Engine: d.engine, Rule: func(string) (dedup.MergeRule, bool) { return rule, true }})
	for range operatorTries {
		one.Survivor = dedup.Ticket{}
		one.Survivor, said.Result = merger.Merge(ctx, one)
		if said.Result != dedup.MergeAgain || ctx.Err() != nil {
			break
		}
		time.Sleep(operatorPause)
	}
	if said.Result == dedup.MergeAgain {
		said.Result = dedup.MergeGivenUp
	}
	said.Into = one.Survivor.ID
	d.merger.done(one, said.Result)
	return said
}

// ruleFor is how the rule merges, whatever its own merge says; an error says what
// it lacks.
func (d *reconcileDesk) ruleFor(how, name string) (dedup.MergeRule, error) {
	rule := d.now.config().Rule(name)
	if rule == nil {
		return dedup.MergeRule{}, fmt.Errorf("the configuration has no rule %q any more", name)
	}
	asked := *rule
	asked.Merge = how
	switch {
	case len(rule.Backend.Credentials) == 0:
		return dedup.MergeRule{}, fmt.Errorf("backend %q has no credentials: set credentials in its block, and reload", rule.Backend.Name)
	case !asked.Merges():
		return dedup.MergeRule{}, fmt.Errorf("rule %q cannot %s a double: it has no merge_%s, or no read", name, how, how)
	}
	return d.merger.ruleOf(&asked), nil
}
