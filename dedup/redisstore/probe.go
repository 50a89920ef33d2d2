package redisstore

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// probeKeys in a Cluster are so many that each master, also one of a hundred,
// has some of them.
const probeKeys = 1024

// probeKept is how long Redis keeps what a probe has written.
const probeKept = time.Minute

func (n *names) probeNames(cluster bool) []string {
	if !cluster {
		return []string{n.probe}
	}
	all := make([]string, probeKeys)
	for i := range all {
		all[i] = n.probe + ":{" + strconv.Itoa(i) + "}"
	}
	return all
}

// Probe reports whether Redis takes writes; in a Cluster, each of its masters.
func (s *Store) Probe(ctx context.Context) error {
	return s.wrap("probe", s.bounded(ctx, func(ctx context.Context) error {
		names, err := s.oneForEachMaster(ctx)
		if err != nil {
			return err
		}
		_, err = s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, name := range names {
				p.Set(ctx, name, "", probeKept)
			}
			return nil
		})
		return err
	}))
}

// oneForEachMaster are names of which each master has one. Nobody is asked for it.
func (s *Store) oneForEachMaster(ctx context.Context) ([]string, error) {
	cluster, ok := s.client.(*redis.ClusterClient)
	if !ok {
		return s.probes, nil
	}
	var names []string
	seen := map[*redis.Client]bool{}
	for _, name := range s.probes {
		master, err := cluster.MasterForKey(ctx, name)
		if err != nil {
			return nil, err
		}
		if !seen[master] {
			seen[master] = true
			names = append(names, name)
		}
	}
	return names, nil
}

// reload has the client library ask anew which master has what, beside the
// calls. It does so by itself only when a server tells it that a key has moved,
// which a dead one does not.
func (s *Store) reload(ctx context.Context, err error) {
	cluster, ok := s.client.(*redis.ClusterClient)
	var said redis.Error
	if ok && (!errors.As(err, &said) || strings.HasPrefix(said.Error(), "CLUSTERDOWN")) {
		cluster.ReloadState(ctx)
	}
}
