package redisstore

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"

	"oneticket/dedup"
)

// Store is a dedup.Store in Redis. It is safe for concurrent use.
type Store struct {
	o      Options
	shown  string
	client redis.UniversalClient
	names  names
	epoch  epoch
	probes []string

	servers []string // the runs of those that have answered; of the watch alone

	cancel   context.CancelFunc // ends the watch
	watching sync.WaitGroup
	starting sync.Once
}

var _ dedup.Store = (*Store)(nil)

// New returns a store that has asked nothing of Redis yet. Its errors are
// mistakes in the options.
func New(o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	u, err := o.universal()
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	logTo(o.Log)
	s := &Store{o: o, shown: o.shown(u), names: namesOf(o.Prefix), client: o.client(u)}
	s.epoch.names = s.names.epochNames(len(o.Cluster) > 0)
	s.probes = s.names.probeNames(len(o.Cluster) > 0)
	return s, nil
}

// Start loads the scripts, reads the epoch, and begins to watch it. Where that
// fails, Redis is out of reach or refuses us; the store goes on trying to read
// the epoch, and every call works as soon as Redis does.
func (s *Store) Start(ctx context.Context) error {
	err := s.loadScripts(ctx)
	if err == nil {
		_, _, err = s.look(ctx)
	}
	s.starting.Do(func() {
		watch, cancel := context.WithCancel(context.Background())
		s.cancel = cancel
		s.watching.Go(func() { s.watch(watch) })
	})
	return s.wrap("start", err)
}

// Open is New and Start, for those who cannot do without the store.
func Open(ctx context.Context, o Options) (*Store, error) {
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	if err := s.Start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Ping reports whether Redis answers.
func (s *Store) Ping(ctx context.Context) error {
	return s.wrap("ping", s.bounded(ctx, func(ctx context.Context) error { return s.client.Ping(ctx).Err() }))
}

// Close ends the watch and all connections.
func (s *Store) Close() error {
	s.starting.Do(func() {}) // none after this
	if s.cancel != nil {
		s.cancel()
	}
	s.watching.Wait()
	return s.wrap("close", s.client.Close())
}
