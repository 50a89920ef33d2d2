package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"oneticket/cmd/oneticket/admin"
	"oneticket/config"
	"oneticket/dedup"
	"oneticket/dedup/failover"
	"oneticket/dedup/sqlitestore"
	"oneticket/extproc"
)

// An outage is what the return of a shared store needs of the rules: how each
// treats its faults, and who is asked on its behalf. The store is opened before
// there are rules; until then nobody is asked.
type outage struct {
	with  atomic.Pointer[outageWith]
	store atomic.Pointer[failover.Store]
}

type outageWith struct {
	book    *ruleBook
	calls   *extproc.Caller
	letters *letterBox // knows the credentials of the configuration in force
	merger  *merger
}

func newOutage() *outage { return &outage{} }

// doubt is told that another server of the shared store answers.
func (o *outage) doubt() {
	if store := o.store.Load(); store != nil {
		store.Doubt()
	}
}

// meet tells of the rules.
func (o *outage) meet(book *ruleBook, calls *extproc.Caller, letters *letterBox, merger *merger) {
	o.with.Store(&outageWith{book, calls, letters, merger})
}

// rule is the rule of a record.
func (o *outage) rule(ref dedup.Ref, rec dedup.Record) (failover.Rule, bool) {
	with := o.with.Load()
	if with == nil {
		return failover.Rule{}, false
	}
	rules := with.book.inForce().Rules
	i := slices.IndexFunc(rules, func(r *extproc.Rule) bool { return r.Name == ref.Rule })
	if i < 0 {
		return failover.Rule{}, false
	}
	rule := rules[i]
	found := failover.Rule{Policy: rule.Policy(rec.Class), Scope: dedup.TicketScope(rule.Backend)}
	if as := with.letters.credentials(rule.Backend); len(as) > 0 {
		found.Ask = &inquiry{rule: rule, calls: with.calls, as: credentialsOf(as)}
	}
	return found, true
}

// An inquiry asks a backend on behalf of no request, with the credentials of the
// configuration.
type inquiry struct {
	rule  *extproc.Rule
	calls *extproc.Caller
	as    extproc.Credentials
}

// inquiryWithin bounds each of its calls.
const inquiryWithin = 5 * time.Second

func (i *inquiry) LookUp(ctx context.Context, token string) dedup.LookUpResult {
	if i.rule.Asks.LookUp == nil {
		return dedup.LookUpResult{}
	}
	call, ok := i.rule.Asks.LookUp(nil, token)
	if !ok {
		return dedup.LookUpResult{}
	}
	answer, ok := i.call(ctx, call)
	if !ok {
		return dedup.LookUpResult{}
	}
	return i.rule.Asks.Found(answer, token)
}

func (i *inquiry) Read(ctx context.Context, ticket dedup.Ticket) dedup.ReadResult {
	if i.rule.Asks.Read == nil {
		return dedup.ReadResult{}
	}
	call, ok := i.rule.Asks.Read(nil, ticket)
	if !ok {
		return dedup.ReadResult{}
	}
	answer, ok := i.call(ctx, call)
	if !ok {
		return dedup.ReadResult{}
	}
	return i.rule.Asks.ReadAnswer(answer)
}

func (i *inquiry) call(ctx context.Context, call dedup.Call) (*dedup.Answer, bool) {
	ctx, cancel := context.WithTimeout(ctx, inquiryWithin)
	defer cancel()
	r := i.calls.Call(ctx, i.rule.Backend, call, i.as)
	return &r.Answer, r.Sent == extproc.CallAnswered
}

// localName is the file in the state directory that decides while the shared
// store is out of reach.
const localName = "local.db"

// withLocal puts an embedded store beside a shared one.
func (o *outage) withLocal(ctx context.Context, shared meteredStore, cfg *config.Config, dir *stateDir, m *admin.Metrics, log *slog.Logger) (dedup.Store, error) {
	path := filepath.Join(dir.path, localName)
	local, err := sqlitestore.Open(ctx, sqlitestore.Options{Path: path, Timeout: cfg.Store.Timeout, Offset: storeOffset})
	if err != nil {
		return nil, fmt.Errorf("the embedded store for outages: %w", err)
	}
	store := failover.New(failover.Options{
		Shared: shared, Local: meteredStore{Store: local, name: localStore, metrics: m},
		Rule: o.rule, Log: log, Deadline: cfg.Store.Timeout, Writes: shared.probe(),
		Reconciled: func(e failover.Entry) { o.tell(e, m, log) },
	})
	o.store.Store(store)
	m.Provisional(func() float64 { return float64(store.Provisional()) })
	return store, nil
}

// localStore is its name in the metrics.
const localStore = "local"

func (o *outage) tell(e failover.Entry, m *admin.Metrics, log *slog.Logger) {
	m.Reconciled(string(e.Result))
	level := slog.LevelInfo
	switch e.Result {
	case dedup.Double, dedup.MaybeDouble:
		level = slog.LevelWarn
		m.Duplicate(e.Rule, e.Result == dedup.MaybeDouble)
	}
	if with := o.with.Load(); with != nil && e.Result == dedup.Double {
		with.merger.Offer(dedup.Merge{Ref: dedup.Ref{Rule: e.Rule, Scope: e.Scope, Key: e.Key}, Duplicate: dedup.Ticket{ID: e.Ticket, Location: e.Location}})
	}
	log.Log(context.Background(), level, "opened while the store was away: "+string(e.Result),
		"rule", e.Rule, "key", e.Key, "ticket", e.Ticket, "token", e.Token, "beside", e.Beside)
}
