package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// A Flush tells that the schema has been dropped and made anew, or another
// database is there.
type Flush struct {
	Was, Now string // epochs
}

// Epoch returns the random name of this life of the store, and whether it is
// another one than when this Store began. A caller that keeps it learns, at
// its next start, of a store that was emptied meanwhile.
func (s *Store) Epoch(ctx context.Context) (epoch string, changed bool, err error) {
	epoch, err = s.look(ctx)
	if err != nil {
		return "", false, s.wrap("epoch", err)
	}
	s.epochs.Lock()
	defer s.epochs.Unlock()
	return epoch, epoch != s.began, nil
}

// look reads the epoch and tells of a change.
func (s *Store) look(ctx context.Context) (epoch string, err error) {
	epoch, err = s.readEpoch(ctx)
	if s.missing(err) {
		epoch, err = s.readEpoch(ctx)
	}
	if err != nil {
		return "", err
	}
	if was := s.seen(epoch); was != "" && was != epoch {
		s.o.OnFlush(Flush{Was: was, Now: epoch})
	}
	return epoch, nil
}

func (s *Store) readEpoch(ctx context.Context) (epoch string, err error) {
	if err := s.migrating(ctx); err != nil {
		return "", err
	}
	err = s.aside(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, s.sql.meta).Scan(new(int), &epoch)
	})
	return epoch, err
}

// seen notes the epoch and returns the one before, empty at first.
func (s *Store) seen(epoch string) (was string) {
	s.epochs.Lock()
	defer s.epochs.Unlock()
	was, s.last = s.last, epoch
	if s.began == "" {
		s.began = epoch
	}
	return was
}
