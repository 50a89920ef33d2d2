package redisstore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// epochKeys in a Cluster are many, because each master can be emptied alone:
// with 32 names no master of a usual Cluster is without one.
const epochKeys = 32

// A Flush tells that the store has been emptied, in whole or, in a Cluster, on
// one of its masters.
type Flush struct {
	Was, Now string // epochs
}

// epoch is what the store's epoch keys were when they were last read.
type epoch struct {
	names []string

	mu    sync.Mutex
	last  string // empty before the first reading
	began string // the first that was read
	lost  int64
}

func (n *names) epochNames(cluster bool) []string {
	if !cluster {
		return []string{n.epoch}
	}
	all := make([]string, epochKeys)
	for i := range all {
		all[i] = n.epoch + ":{" + strconv.Itoa(i) + "}"
	}
	return all
}

// Epoch returns the random name of this life of the store, and whether it is
// another one than when this Store began. A caller that keeps it learns, at
// its next start, of a store that was emptied meanwhile.
func (s *Store) Epoch(ctx context.Context) (epoch string, changed bool, err error) {
	epoch, changed, err = s.look(ctx)
	return epoch, changed, s.wrap("epoch", err)
}

// Flushes counts how often the store was found emptied.
func (s *Store) Flushes() int64 {
	s.epoch.mu.Lock()
	defer s.epoch.mu.Unlock()
	return s.epoch.lost
}

func (s *Store) watch(ctx context.Context) {
	tick := time.NewTicker(s.o.Watch)
	defer tick.Stop()
	s.lookAtServers(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			// A store out of reach is seen by every other call.
			_, _, _ = s.look(ctx)
			s.lookAtServers(ctx)
		}
	}
}

// look reads the epoch, sets anew what is gone, and tells of a change.
func (s *Store) look(ctx context.Context) (now string, changed bool, err error) {
	now, was, began, err := s.compare(ctx)
	if err != nil {
		return "", false, err
	}
	if was != "" && was != now {
		s.o.OnFlush(Flush{Was: was, Now: now})
	}
	return now, now != began, nil
}

// compare reads the epoch and what it was before, which is empty at first.
func (s *Store) compare(ctx context.Context) (now, was, began string, err error) {
	e := &s.epoch
	e.mu.Lock()
	defer e.mu.Unlock()
	values, err := s.readEpoch(ctx)
	if err != nil {
		return "", "", "", err
	}
	now, was = epochOf(values), e.last
	e.last = now
	switch was {
	case "":
		e.began = now
	case now:
	default:
		e.lost++
	}
	return now, was, e.began, nil
}

// readEpoch reads first and sets only what is gone: a full server refuses the
// setting even of what is there.
func (s *Store) readEpoch(ctx context.Context) ([]string, error) {
	values, err := s.getAll(ctx)
	if err != nil || !slices.Contains(values, "") {
		return values, err
	}
	err = s.bounded(ctx, func(ctx context.Context) error {
		_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, name := range s.epoch.names {
				if values[i] == "" {
					p.SetNX(ctx, name, rand.Text(), 0)
				}
			}
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.getAll(ctx)
}

func (s *Store) getAll(ctx context.Context) ([]string, error) {
	read := make([]*redis.StringCmd, len(s.epoch.names))
	err := s.bounded(ctx, func(ctx context.Context) error {
		_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, name := range s.epoch.names {
				read[i] = p.Get(ctx, name)
			}
			return nil
		})
		return err
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	values := make([]string, len(read))
	for i, cmd := range read {
		if values[i], err = cmd.Result(); err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
	}
	return values, nil
}

// epochOf is one word for all keys.
func epochOf(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	sum := sha256.Sum256([]byte(strings.Join(values, " ")))
	return hex.EncodeToString(sum[:13])
}
