package deadletter

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// FileName is what the file of a Box is called in state_dir.
const FileName = "deadletters.db"

// Options are what a Box is made of.
type Options struct {
	Path string // of the file; made, with mode 0600, where there is none
	Bounds

	// Patience is how long Open waits for another process to let the file go.
	Patience time.Duration

	// SyncEvery is how long a letter may be in the hands of the operating
	// system alone; 0 = 100 ms. See the package comment.
	SyncEvery time.Duration

	Now func() time.Time

	// OnDrop is told of every letter that is given up unasked, without its
	// body, after it is gone. It is called from Put and from the background,
	// one call at a time, and must not call the Box.
	OnDrop func(Drop)

	// OnError is told of what fails in the background.
	OnError func(error)
}

// Bounds are what a Box keeps at most.
type Bounds struct {
	MaxCount int64         // letters; 0 = 100000
	MaxBytes int64         // of letters and bodies; 0 = 1 GiB
	MaxAge   time.Duration // 0 = 30 days
}

func (b Bounds) filled() *Bounds {
	if b.MaxCount <= 0 {
		b.MaxCount = 100_000
	}
	if b.MaxBytes <= 0 {
		b.MaxBytes = 1 << 30
	}
	if b.MaxAge <= 0 {
		b.MaxAge = 30 * 24 * time.Hour
	}
	return &b
}

// A Drop is a letter that is given up, and the bound that it was over.
type Drop struct {
	Letter Letter
	Bound  Bound
}

// Bound says which one.
type Bound string

const (
	OverCount   Bound = "max_count"
	OverBytes   Bound = "max_bytes"
	OverAge     Bound = "max_age"
	OverRepeats Bound = "repeats" // newer letters of the same key and episode are kept: no fault is lost
)

func (o Options) filled() Options {
	if o.SyncEvery <= 0 {
		o.SyncEvery = 100 * time.Millisecond
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.OnDrop == nil {
		o.OnDrop = func(Drop) {}
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	return o
}

// A Box keeps dead letters in one file. It is safe for concurrent use.
type Box struct {
	o       Options
	lock    *os.File
	writer  *sql.DB // one connection
	readers *sql.DB
	sql     statements
	keeper  *keeper
	bounds  atomic.Pointer[Bounds]

	mu    sync.Mutex // one write at a time: the counts and OnDrop follow it
	count atomic.Int64
	bytes atomic.Int64

	closing sync.Once
	closed  error
}

// readerCount is for lists, single letters and the keeper's checkpoint.
const readerCount = 3

// Open opens the file, or makes it; its folder must be there. What is over a
// bound is dropped. The error is ErrInUse while another process has it.
func Open(ctx context.Context, o Options) (*Box, error) {
	o = o.filled()
	b, err := open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("dead letters %s: %w", o.Path, hinted(err))
	}
	return b, nil
}

func open(ctx context.Context, o Options) (*Box, error) {
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, err
	}
	o.Path = path
	b := &Box{o: o}
	b.bounds.Store(o.Bounds.filled())
	if b.lock, err = lock(ctx, path, o.Patience); err != nil {
		return nil, err
	}
	if err := b.connect(ctx); err != nil {
		return nil, errors.Join(err, b.disconnect())
	}
	b.keeper = newKeeper(b)
	if err := b.Sweep(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Box) connect(ctx context.Context) (err error) {
	// Nobody else may read it; SQLite gives its log the same mode.
	f, err := os.OpenFile(b.o.Path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if b.writer, err = connect(b.o.Path, 1); err != nil {
		return err
	}
	if err = prepare(ctx, b.writer); err != nil {
		return err
	}
	if b.readers, err = connect(b.o.Path, readerCount); err != nil {
		return err
	}
	if err = b.sql.prepare(ctx, b.writer, b.readers); err != nil {
		return err
	}
	return b.measure(ctx)
}

// measure reads what the file holds; from there on it is counted along.
func (b *Box) measure(ctx context.Context) error {
	var count, bytes int64
	row := b.writer.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(size), 0) FROM letters")
	if err := row.Scan(&count, &bytes); err != nil {
		return err
	}
	b.count.Store(count)
	b.bytes.Store(bytes)
	return nil
}

// Count returns how many letters there are; it costs nothing.
func (b *Box) Count() int64 { return b.count.Load() }

// Bytes returns the size of letters and bodies; it costs nothing. The file is
// a little larger.
func (b *Box) Bytes() int64 { return b.bytes.Load() }

// Close makes all letters safe and lets the file go; once more it does
// nothing.
func (b *Box) Close() error {
	b.closing.Do(func() { b.closed = errors.Join(b.keeper.close(), b.disconnect()) })
	return b.closed
}

func (b *Box) disconnect() error {
	var errs []error
	for _, db := range []*sql.DB{b.readers, b.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(append(errs, b.lock.Close())...)
}

// wrap says where an error comes from.
func wrap(op string, err error) error {
	if err == nil || errors.Is(err, ErrNotFound) {
		return err
	}
	return fmt.Errorf("dead letters: %s: %w", op, hinted(err))
}
