package pgstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"oneticket/dedup"
)

// Store is a dedup.Store in PostgreSQL. It is safe for concurrent use.
type Store struct {
	o     Options
	shown string
	conns *conns
	sql   statements

	making sync.Mutex // of the schema
	made   atomic.Bool

	epochs      sync.Mutex
	began, last string // epochs: the first that was read, and the latest

	cancel   context.CancelFunc // ends the keeper
	keeping  sync.WaitGroup
	starting sync.Once
}

var _ dedup.Store = (*Store)(nil)

// New returns a store that has asked nothing of PostgreSQL yet. Its errors are
// mistakes in the options.
func New(o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	config, err := o.configure()
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	s := &Store{o: o, shown: placeOf(&config.ConnConfig.Config), sql: statementsOf(o.Schema)}
	s.conns, err = newConns(config)
	return s, s.wrap("new", err)
}

// Start makes the schema or brings it up to date, and begins to keep it. Where
// that fails with anything but ErrNewer, PostgreSQL is out of reach or refuses
// us; the store goes on trying, and every call works as soon as PostgreSQL
// does.
func (s *Store) Start(ctx context.Context) error {
	_, err := s.look(ctx)
	s.starting.Do(func() {
		keep, cancel := context.WithCancel(context.Background())
		s.cancel = cancel
		s.keeping.Go(func() { s.keep(keep) })
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

// Ping reports whether PostgreSQL answers.
func (s *Store) Ping(ctx context.Context) error {
	return s.wrap("ping", s.call(ctx, func(ctx context.Context, conn *pgx.Conn) error { return conn.Ping(ctx) }))
}

// Close ends what the store does by itself, and all connections.
func (s *Store) Close() error {
	s.starting.Do(func() {}) // none after this
	if s.cancel != nil {
		s.cancel()
	}
	s.keeping.Wait()
	s.conns.close()
	return nil
}
