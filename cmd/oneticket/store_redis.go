package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"oneticket/cmd/oneticket/admin"
	"oneticket/config"
	"oneticket/dedup/redisstore"
)

// openRedis opens a store in Redis. A Redis that is out of reach is said and
// counted but ends nothing: requests pass untouched until it is back.
func openRedis(ctx context.Context, s config.Store, m *admin.Metrics, log *slog.Logger) (*redisstore.Store, error) {
	store, err := redisstore.New(redisstore.Options{
		URL:      s.URL,
		Sentinel: sentinelOf(s.Sentinel),
		Cluster:  s.Cluster,
		TLS:      redisstore.TLS{CA: s.TLS["ca"], Cert: s.TLS["cert"], Key: s.TLS["key"], ServerName: s.TLS["server_name"]},
		Timeout:  s.Timeout,
		Log:      log,
		Offset:   storeOffset,
		OnFlush: func(f redisstore.Flush) {
			m.StoreFlushed("redis")
			log.Error("the store has been emptied: what it knew of open tickets is lost, and each open fault may get a second ticket",
				"store", "redis", "was", f.Was, "now", f.Now)
		},
	})
	if err != nil {
		return nil, err
	}
	if err := store.Start(ctx); err != nil {
		log.Error("the store is out of reach: creates pass untouched until it is back", "store", "redis", "error", err)
		return store, nil
	}
	return store, nil
}

// surveyRedis says at the start of a replica what its store may lose, or has lost.
func surveyRedis(ctx context.Context, store *redisstore.Store, dir *stateDir, m *admin.Metrics, log *slog.Logger) {
	warnings, err := store.Check(ctx)
	if err != nil {
		log.Warn("the store's settings could not be read", "store", "redis", "error", err)
	}
	for _, w := range warnings {
		level := slog.LevelWarn
		if w.Note {
			level = slog.LevelInfo
		}
		log.Log(ctx, level, "store redis: "+w.String())
	}
	if err := compareEpoch(ctx, store, dir, m, log); err != nil {
		log.Warn("whether the store was emptied while this replica was down cannot be told", "store", "redis", "error", err)
	}
}

func sentinelOf(s map[string]string) redisstore.Sentinel {
	out := redisstore.Sentinel{Master: s["master"], Username: s["username"], Password: s["password"]}
	for addr := range strings.SplitSeq(s["addresses"], ",") {
		if addr = strings.TrimSpace(addr); addr != "" {
			out.Addrs = append(out.Addrs, addr)
		}
	}
	return out
}

// compareEpoch notices a store that was emptied while this replica was down:
// the name of its life is kept in the state directory.
func compareEpoch(ctx context.Context, store *redisstore.Store, dir *stateDir, m *admin.Metrics, log *slog.Logger) error {
	now, _, err := store.Epoch(ctx)
	if err != nil {
		return err
	}
	path := filepath.Join(dir.path, "epoch")
	was, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case string(was) != now:
		m.StoreFlushed("redis")
		log.Error("the store was emptied since this replica last ran: what it knew of open tickets is lost, and each open fault may get a second ticket",
			"store", "redis")
	}
	return os.WriteFile(path, []byte(now), 0o600)
}

// redisPlace is where the store is, for a person: without user and password.
func redisPlace(s config.Store) string {
	switch {
	case len(s.Cluster) > 0:
		return "redis cluster " + strings.Join(s.Cluster, ", ")
	case s.Sentinel["master"] != "":
		return fmt.Sprintf("redis %s by sentinel", s.Sentinel["master"])
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return "redis"
	}
	u.User, u.RawQuery = nil, ""
	return "redis " + u.String()
}
