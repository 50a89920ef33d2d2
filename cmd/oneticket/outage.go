package main

import (
	"context"
	"errors"
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
// there are rules; until then nothing is reconciled.
type outage struct {
	with  atomic.Pointer[outageWith]
	met   chan struct{} // closed when there are rules
	store atomic.Pointer[failover.Store]
}

type outageWith struct {
	book    *ruleBook
	calls   *extproc.Caller
	letters *letterBox // knows the credentials of the configuration in force
	merger  *merger
	metrics *admin.Metrics
}

func newOutage() *outage { return &outage{met: make(chan struct{})} }

// doubt is told that another server of the shared store answers.
func (o *outage) doubt() {
	if store := o.store.Load(); store != nil {
		store.Doubt()
	}
}

// meet tells of the rules, once.
func (o *outage) meet(book *ruleBook, calls *extproc.Caller, letters *letterBox, merger *merger, m *admin.Metrics) {
	o.with.Store(&outageWith{book, calls, letters, merger, m})
	close(o.met)
}

// rule is the rule of a record.
func (o *outage) rule(ref dedup.Ref, rec dedup.Record) (failover.Rule, bool) {
	with := o.with.Load()
	if with == nil {
		return failover.Rule{}, false
	}
	rules := with.book.inForce()
	i := slices.IndexFunc(rules.Rules, func(r *extproc.Rule) bool { return r.Name == ref.Rule })
	if i < 0 {
		return failover.Rule{}, false
	}
	rule := rules.Rules[i]
	found := failover.Rule{Policy: rule.Policy(rec.Class), Scope: dedup.TicketScope(rule.Backend)}
	if as := with.letters.credentials(rule.Backend); len(as) > 0 {
		found.Ask = with.inquiry(rule, rules.Hosts[rule.Backend], ref, as)
	}
	return found, true
}

// inquiryWithin bounds each call to a backend.
const inquiryWithin = 5 * time.Second

// inquiry asks the backend of the rule about a create of the key: the dead letter
// of it tells where, and whether it carried its token.
func (w *outageWith) inquiry(rule *extproc.Rule, host string, ref dedup.Ref, as map[string]string) *extproc.Inquiry {
	return &extproc.Inquiry{
		Rule: rule, Calls: w.calls, As: credentialsOf(as), Host: host,
		Create: w.letters.create(ref), Within: inquiryWithin, Asked: w.metrics.LookedUp,
	}
}

// unletter drops the letters of a create that became a ticket after all. One that
// this misses is dropped when the letters are tidied.
func (w *outageWith) unletter(ref dedup.Ref, episode int64, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), inquiryWithin)
	defer cancel()
	if err := w.letters.Remove(ctx, ref, episode); err != nil {
		log.Warn("the dead letters of a create that has its ticket could not be removed", "rule", ref.Rule, "key", ref.Key, "error", err)
	}
}

// localName is the file in the state directory that decides while the shared
// store is out of reach.
const localName = "local.db"

// withLocal puts an embedded store beside a shared one. One that cannot be
// opened ends nothing: the shared store is there.
func (o *outage) withLocal(ctx context.Context, shared meteredStore, cfg *config.Config, dir *stateDir, m *admin.Metrics, log *slog.Logger) dedup.Store {
	options := sqlitestore.Options{Path: filepath.Join(dir.path, localName), Timeout: cfg.Store.Timeout, Offset: storeOffset}
	open := func(ctx context.Context) (dedup.Store, error) { return sqlitestore.Open(ctx, options) }
	local, err := open(ctx)
	if err != nil {
		local = openLater(localStore, open, err, m, log)
	}
	// For a first start while the shared store is away; as soon as that has one of
	// its own, whoever was known by this one is asked for at the ticket system.
	if _, err := dedup.Secret(ctx, local); err != nil && !errors.Is(err, errNotOpen) {
		log.Warn("the embedded store keeps no secret", "error", err)
	}
	store := failover.New(failover.Options{
		Shared: shared, Local: meteredStore{Store: local, name: localStore, metrics: m},
		Rule: o.rule, Ready: o.met, Log: log, Deadline: cfg.Store.Timeout, Writes: shared.probe(),
		Reconciled: func(e failover.Entry) { o.tell(e, m, log) },
	})
	o.store.Store(store)
	m.Provisional(func() float64 { return float64(store.Provisional()) })
	return store
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
	ref := dedup.Ref{Rule: e.Rule, Scope: e.Scope, Key: e.Key}
	if with := o.with.Load(); with != nil {
		if e.Result == dedup.Double {
			with.merger.Offer(dedup.Merge{Ref: ref, Duplicate: dedup.Ticket{ID: e.Ticket, Location: e.Location}})
		}
		if e.Made() {
			with.unletter(ref, e.Episode, log)
		}
	}
	log.Log(context.Background(), level, "opened while the store was away: "+string(e.Result),
		"rule", e.Rule, "key", e.Key, "ticket", e.Ticket, "token", e.Token, "beside", e.Beside)
}
