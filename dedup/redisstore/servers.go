package redisstore

import (
	"context"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// lookAtServers tells when another server answers than before, or the same one
// after a restart. One that may not be asked, or does not answer, is no other.
func (s *Store) lookAtServers(ctx context.Context) {
	masters, err := s.masters(ctx)
	if err != nil {
		return
	}
	var now []string
	for _, master := range masters {
		run, err := s.runID(ctx, master)
		if err != nil || run == "" {
			return
		}
		now = append(now, run)
	}
	other := slices.ContainsFunc(now, func(run string) bool { return !slices.Contains(s.servers, run) })
	if other && s.servers != nil {
		s.o.OnOther()
	}
	s.servers = now
}

// runID is the name of one run of a server.
func (s *Store) runID(ctx context.Context, server *redis.Client) (run string, err error) {
	err = s.bounded(ctx, func(ctx context.Context) error {
		text, err := server.Info(ctx, "server").Result()
		for line := range strings.Lines(text) {
			if id, ok := strings.CutPrefix(line, "run_id:"); ok {
				run = strings.TrimSpace(id)
			}
		}
		return err
	})
	return run, err
}
