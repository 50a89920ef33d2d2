package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"oneticket/cmd/oneticket/admin"
	"oneticket/config"
	"oneticket/dedup"
	"oneticket/dedup/failover"
	"oneticket/dedup/pgstore"
	"oneticket/dedup/sqlitestore"
)

// newStore opens the store that the configuration names.
func newStore(cfg *config.Config, dir *stateDir, o *outage, m *admin.Metrics, log *slog.Logger) (dedup.Store, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	store, err := openStore(ctx, cfg.Store, dir, o.doubt, m, log)
	switch {
	case err != nil && cfg.Store.Kind == "sqlite" && sqlitestore.Broken(sqlitePath(cfg.Store, dir), err):
		// A ticket system without us is better than none.
		open := func(ctx context.Context) (dedup.Store, error) { return openFile(ctx, cfg.Store, dir) }
		store = openLater(cfg.Store.Kind, open, err, m, log)
	case err != nil:
		return nil, fmt.Errorf("store %q: %w", cfg.Store.Kind, err)
	}
	survey(ctx, store, dir, m, log)
	metered := meteredStore{Store: store, name: cfg.Store.Kind, metrics: m}
	store = metered
	if cfg.Store.Kind != "sqlite" { // which has no other place to go to
		store = o.withLocal(ctx, metered, cfg, dir, m, log)
	}
	// Made now: a store that takes no write at the first answer would leave its
	// record without a principal, and the next re-fire would be a second create.
	if _, err := dedup.Secret(ctx, store); err != nil {
		log.Warn("the store keeps no secret yet: until it does, nobody's credentials are known again", "error", err)
	}
	return store, nil
}

// openStore opens it; other is told when another server of it answers than before.
func openStore(ctx context.Context, s config.Store, dir *stateDir, other func(), m *admin.Metrics, log *slog.Logger) (dedup.Store, error) {
	switch s.Kind {
	case "sqlite":
		path := sqlitePath(s, dir)
		if sqlitestore.OnTmpfs(path) {
			log.Warn("the store is in memory: a restart of the machine forgets every key, and each open fault may then get a second ticket",
				"path", path, "do", `set path in the store block to a file on a disk`)
		}
		return openFile(ctx, s, dir)
	case "redis":
		return openRedis(ctx, s, other, m, log)
	case "postgres":
		return openPostgres(ctx, s, m, log)
	default:
		return nil, errors.New("this build has no such store")
	}
}

func openFile(ctx context.Context, s config.Store, dir *stateDir) (dedup.Store, error) {
	return sqlitestore.Open(ctx, sqlitestore.Options{Path: sqlitePath(s, dir), Timeout: s.Timeout, Offset: storeOffset})
}

// newEngine reports to metrics and log what nobody asked for, and merges what is
// to be merged of it.
func newEngine(store dedup.Store, merger *merger, m *admin.Metrics, log *slog.Logger) *dedup.Engine {
	engine := dedup.NewEngine(dedup.EngineOptions{Store: store, Forgotten: m.Flushed, Report: func(r dedup.Report) {
		for _, t := range r.Duplicates {
			m.Duplicate(r.Ref.Rule, false)
			log.Warn("duplicate: this ticket is open beside the one of its key", "rule", r.Ref.Rule, "key", r.Ref.Key, "ticket", t.ID)
			merger.Offer(dedup.Merge{Ref: r.Ref, Duplicate: t})
		}
		if r.Suspect {
			m.Suspect(r.Ref.Rule)
			log.Warn("the identity may be too broad: requests with five different titles have had this key, and were taken for one fault",
				"rule", r.Ref.Rule, "key", r.Ref.Key)
		}
		if r.Uncertain != "" {
			m.Duplicate(r.Ref.Rule, true)
			log.Warn("possible duplicate: a ticket with this token may be open beside the one of its key", "rule", r.Ref.Rule, "key", r.Ref.Key, "token", r.Uncertain)
		}
	}})
	merger.store, _ = store.(*failover.Store)
	merger.Merger = dedup.NewMerger(dedup.MergerOptions{Engine: engine, Rule: merger.rule, Done: merger.done})
	return engine
}

// openStore opens the store for a command that runs beside the process, and
// says which it is.
func (c *common) openStore(ctx context.Context, cfg *config.Config) (dedup.Store, error) {
	log, err := c.logger()
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(cfg.StateDir)
	if err != nil {
		return nil, fmt.Errorf("state_dir %q: %w", cfg.StateDir, err)
	}
	dir := &stateDir{path: path}
	place := storePlace(cfg.Store, dir)
	if cfg.Store.Kind == "sqlite" {
		// One that is made here would be no process's.
		if _, err := os.Stat(sqlitePath(cfg.Store, dir)); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("store %s is not there: it is made by the first \"oneticket run\"; does that use this configuration, with the same state_dir (a relative one is meant from the folder of the file)?", place)
		}
	}
	store, err := openStore(ctx, cfg.Store, dir, func() {}, admin.NewMetrics(), log)
	if err != nil {
		return nil, fmt.Errorf("store %q: %w", cfg.Store.Kind, err)
	}
	fmt.Fprintf(c.stderr, "store %s\n", place)
	return store, nil
}

// storePlace is where the store is, for a person.
func storePlace(s config.Store, dir *stateDir) string {
	switch s.Kind {
	case "redis":
		return redisPlace(s)
	case "postgres":
		return "postgres " + pgstore.Place(s.URL)
	default:
		return "sqlite " + sqlitePath(s, dir)
	}
}

func sqlitePath(s config.Store, dir *stateDir) string {
	if s.Path != "" {
		return s.Path
	}
	return filepath.Join(dir.path, "oneticket.db")
}
