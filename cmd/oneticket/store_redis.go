package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"oneticket/cmd/oneticket/admin"
	"oneticket/config"
	"oneticket/dedup/redisstore"
)

// openRedis opens a store in Redis. A Redis that is out of reach is said and
// counted but ends nothing: the embedded store decides until it is back. other
// is told when another server answers than before.
func openRedis(ctx context.Context, s config.Store, other func(), m *admin.Metrics, log *slog.Logger) (*redisstore.Store, error) {
	store, err := redisstore.New(redisstore.Options{
		URL:      s.URL,
		Sentinel: sentinelOf(s.Sentinel),
		Cluster:  s.Cluster,
		TLS:      redisstore.TLS{CA: s.TLS["ca"], Cert: s.TLS["cert"], Key: s.TLS["key"], ServerName: s.TLS["server_name"]},
		Timeout:  s.Timeout,
		Log:      log,
		Offset:   storeOffset,
		OnOther:  other,
		OnFlush:  func(f redisstore.Flush) { flushed("redis", f.Was, f.Now, m, log) },
	})
	if err != nil {
		return nil, err
	}
	if err := store.Start(ctx); err != nil {
		log.Error("the store is out of reach", "store", "redis", "error", err)
		return store, nil
	}
	return store, nil
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
