package pgstore

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"oneticket/dedup"
)

const (
	sweepBatch   = 256 // rows of each table in one statement
	sweepBatches = 64  // statements in one go: what is swept must exceed what can be made meanwhile
)

// keep does, until the store is closed, what calls do not wait for: it makes
// the schema where it is missing, looks at the epoch, and drops what is over.
// Its errors are those of every other call and are seen there.
func (s *Store) keep(ctx context.Context) {
	for {
		// Replicas that started together do not go on together.
		pause := s.o.Watch/2 + rand.N(s.o.Watch)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if _, err := s.look(ctx); err == nil {
			_ = s.sweep(ctx)
		}
	}
}

// Sweep drops what is over now instead of at its time, a bounded number of rows.
func (s *Store) Sweep(ctx context.Context) error { return s.wrap("sweep", s.sweep(ctx)) }

func (s *Store) sweep(ctx context.Context) error {
	for range sweepBatches {
		var records, tickets int64
		err := s.aside(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			return conn.QueryRow(ctx, s.sql.sweep, s.moved(), dedup.Format, sweepBatch).Scan(&records, &tickets)
		})
		if err != nil || max(records, tickets) < sweepBatch {
			return err
		}
	}
	return nil
}
