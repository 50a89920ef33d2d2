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
	"oneticket/dedup"
	"oneticket/dedup/pgstore"
	"oneticket/dedup/redisstore"
)

// A server is a store that several machines share.
type server interface {
	Epoch(ctx context.Context) (epoch string, changed bool, err error)
}

// A warning is what a setting of a server may lose.
type warning struct {
	fmt.Stringer
	note bool // usual, and little is at stake
}

// survey says at the start of a replica what its store may lose, or has lost.
func survey(ctx context.Context, store dedup.Store, dir *stateDir, m *admin.Metrics, log *slog.Logger) {
	switch s := store.(type) {
	case *redisstore.Store:
		warnings, err := s.Check(ctx)
		warn(ctx, "redis", eachWarning(warnings, func(w redisstore.Warning) bool { return w.Note }), err, log)
		compareEpoch(ctx, "redis", s, filepath.Join(dir.path, "epoch"), m, log)
	case *pgstore.Store:
		warnings, err := s.Check(ctx)
		warn(ctx, "postgres", eachWarning(warnings, func(w pgstore.Warning) bool { return w.Note }), err, log)
		compareEpoch(ctx, "postgres", s, filepath.Join(dir.path, "epoch-postgres"), m, log)
	}
}

func eachWarning[W fmt.Stringer](from []W, note func(W) bool) (all []warning) {
	for _, w := range from {
		all = append(all, warning{w, note(w)})
	}
	return all
}

func warn(ctx context.Context, name string, warnings []warning, err error, log *slog.Logger) {
	if err != nil {
		log.Warn("the store's settings could not be read", "store", name, "error", err)
	}
	for _, w := range warnings {
		level := slog.LevelWarn
		if w.note {
			level = slog.LevelInfo
		}
		log.Log(ctx, level, "store "+name+": "+w.String())
	}
}

// flushed tells of a store that was emptied while this replica ran.
func flushed(name, was, now string, m *admin.Metrics, log *slog.Logger) {
	m.StoreFlushed(name)
	log.Error("the store has been emptied: what it knew of open tickets is lost, and each open fault may get a second ticket",
		"store", name, "was", was, "now", now)
}

// compareEpoch notices a store that was emptied while this replica was down:
// the name of its life is kept in the file.
func compareEpoch(ctx context.Context, name string, store server, file string, m *admin.Metrics, log *slog.Logger) {
	if err := sameEpoch(ctx, name, store, file, m, log); err != nil {
		log.Warn("whether the store was emptied while this replica was down cannot be told", "store", name, "error", err)
	}
}

func sameEpoch(ctx context.Context, name string, store server, file string, m *admin.Metrics, log *slog.Logger) error {
	now, _, err := store.Epoch(ctx)
	if err != nil {
		return err
	}
	was, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case string(was) != now:
		m.StoreFlushed(name)
		log.Error("the store was emptied since this replica last ran: what it knew of open tickets is lost, and each open fault may get a second ticket",
			"store", name)
	}
	return os.WriteFile(file, []byte(now), 0o600)
}
