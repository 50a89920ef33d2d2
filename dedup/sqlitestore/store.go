package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"oneticket/dedup"
)

// Options are what a Store is made of.
type Options struct {
	// Path of the file. It is made, with mode 0600, where there is none; its
	// folder must be there.
	Path string

	// Timeout is how long a call waits for other processes that write; a
	// context that ends sooner ends the wait. Default 250 ms.
	Timeout time.Duration

	// Offset is added to the store's clock in every statement; nil is 0. It
	// must not go back. For tests that move time.
	Offset func() time.Duration

	// MaxPages bounds the file's size in pages of 4 KiB, as a full disk would;
	// 0 is without limit.
	MaxPages int
}

// Store is a dedup.Store in a SQLite file. It is safe for concurrent use.
type Store struct {
	path    string
	offset  func() time.Duration
	writer  *sql.DB // one connection: writers of one process queue here instead of polling for the file's lock
	readers *sql.DB
	sql     statements
	keeper  *keeper
}

var _ dedup.Store = (*Store)(nil)

// readerCount is small because a read takes microseconds of processor time
// and waits for nobody.
const readerCount = 4

// Open opens the store's file, makes it where there is none, and brings its
// tables up to date. Several processes may do so at once.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Timeout <= 0 {
		o.Timeout = 250 * time.Millisecond
	}
	if o.Offset == nil {
		o.Offset = func() time.Duration { return 0 }
	}
	path, err := prepareFile(o.Path)
	if err != nil {
		return nil, fmt.Errorf("sqlite %s: %w", o.Path, err)
	}
	s := &Store{path: path, offset: o.Offset}
	if err := s.open(ctx, o); err != nil {
		return nil, errors.Join(s.wrap("open", hinted(err)), s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, o Options) (err error) {
	if s.writer, err = connect(s.path, o, 1, false); err != nil {
		return err
	}
	if err := migrate(ctx, s.writer); err != nil {
		return err
	}
	if s.readers, err = connect(s.path, o, readerCount, true); err != nil {
		return err
	}
	checkpoints, err := connect(s.path, o, 1, false)
	if err != nil {
		return err
	}
	s.keeper = newKeeper(s.sweep, checkpoints)
	return s.sql.prepare(ctx, s.writer, s.readers)
}

// Close waits for a sweep that is under way and closes the file.
func (s *Store) Close() error {
	var errs []error
	if s.keeper != nil {
		errs = append(errs, s.keeper.close())
	}
	errs = append(errs, s.sql.close())
	for _, db := range []*sql.DB{s.readers, s.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return s.wrap("close", errors.Join(errs...))
}

// wrap says where an error comes from.
func (s *Store) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sqlite %s: %s: %w", s.path, op, err)
}

func (s *Store) micros() int64 { return s.offset().Microseconds() }
