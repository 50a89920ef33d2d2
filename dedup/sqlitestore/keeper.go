package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

const (
	keeperPause  = time.Second
	sweepBatch   = 64 // rows in one statement, so that no claim waits long behind it
	sweepBatches = 16 // statements in one go: what is swept in a second must exceed what can be made in one
)

// A keeper does the housekeeping that claims set off but do not wait for:
// dropping what is over, and moving the log into the file.
type keeper struct {
	sweep       func(context.Context) error
	checkpoints *sql.DB // its own connection, so that no write waits for the fsync
	start       time.Time
	next        atomic.Int64 // nanoseconds after start; not before then
	ctx         context.Context
	cancel      context.CancelFunc
	mu          sync.Mutex // between a late wake and close
	running     sync.WaitGroup
}

func newKeeper(sweep func(context.Context) error, checkpoints *sql.DB) *keeper {
	k := &keeper{sweep: sweep, checkpoints: checkpoints, start: time.Now()}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	return k
}

// wake starts a round unless there was one a short while ago.
func (k *keeper) wake() {
	now, next := int64(time.Since(k.start)), k.next.Load()
	if now < next || !k.next.CompareAndSwap(next, now+int64(keeperPause)) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ctx.Err() == nil {
		k.running.Go(k.round)
	}
}

// round: its errors are those of every other call and are seen there; the
// next round tries again.
func (k *keeper) round() {
	_ = k.sweep(k.ctx)
	_, _ = k.checkpoints.ExecContext(k.ctx, "PRAGMA wal_checkpoint(PASSIVE)")
}

func (k *keeper) close() error {
	k.mu.Lock()
	k.cancel()
	k.mu.Unlock()
	k.running.Wait()
	return k.checkpoints.Close()
}

// sweep drops records and tickets whose time is over, in small batches.
func (s *Store) sweep(ctx context.Context) error {
	return errors.Join(s.sweepWith(ctx, s.sql.sweepRecords), s.sweepWith(ctx, s.sql.sweepTickets))
}

func (s *Store) sweepWith(ctx context.Context, stmt *sql.Stmt) error {
	for range sweepBatches {
		result, err := stmt.ExecContext(ctx, s.micros(), sweepBatch)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n < sweepBatch {
			return err
		}
	}
	return nil
}

// Sweep drops what is over now instead of when the next claim wakes the
// keeper, a bounded number of rows.
func (s *Store) Sweep(ctx context.Context) error { return s.wrap("sweep", s.sweep(ctx)) }
