package deadletter

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// putPatience bounds a write when the disk does not answer.
const putPatience = 5 * time.Second

// maxRepeats is how many letters with different bodies one key and episode may
// have: they are one fault and become one ticket, and a sender whose bodies
// all differ must not push other faults out.
const maxRepeats = 4

// ErrTooLarge: the letter alone is over max_bytes.
var ErrTooLarge = errors.New("the letter is larger than max_bytes")

// Put keeps a letter. When it returns without an error the letter survives the
// death of this process; see the package comment for that of the machine. It
// does not obey the end of ctx: a client that goes away is a reason to keep
// its create, not to forget it.
//
// A letter of the same key and episode with the same body is there once: the
// newest is kept, under the id of the first, and Tries counts. What is over a
// bound afterwards is dropped, oldest first, never the letter itself; a letter
// that alone is over max_bytes is ErrTooLarge, and reported as dropped.
//
// At is now where it is not set. Put returns the id.
func (b *Box) Put(ctx context.Context, l Letter) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), putPatience)
	defer cancel()
	l = guarded(l)
	if l.At.IsZero() {
		l.At = b.o.Now()
	}
	if l.Doubts == 0 && (l.Doubt || l.Why == Unknown) {
		l.Doubts = 1
	}
	l.Doubt = l.Doubts > 0
	b.mu.Lock()
	defer b.mu.Unlock()
	id := ""
	err := b.write(ctx, func(w *write) (err error) {
		id, err = w.put(l)
		return err
	})
	if errors.Is(err, ErrTooLarge) {
		l.Body = nil
		b.o.OnDrop(Drop{l, OverBytes})
	}
	return id, wrap("put", err)
}

// A write is one transaction, and what it will have changed.
type write struct {
	box          *Box
	ctx          context.Context
	tx           *sql.Tx
	count, bytes int64
	drops        []Drop
}

// write runs one transaction; what it has changed is counted, and what it has
// dropped is told, only once it is written. The caller holds mu.
func (b *Box) write(ctx context.Context, change func(*write) error) error {
	tx, err := b.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	w := &write{box: b, ctx: ctx, tx: tx}
	if err := change(w); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	b.count.Add(w.count)
	b.bytes.Add(w.bytes)
	b.keeper.wake()
	for _, d := range w.drops {
		b.o.OnDrop(d)
	}
	return nil
}

func (w *write) stmt(s *sql.Stmt) *sql.Stmt { return w.tx.StmtContext(w.ctx, s) }

func (w *write) put(l Letter) (string, error) {
	digest := sha256.Sum256(l.Body)
	ref := []any{l.Ref.Rule, l.Ref.Scope, string(l.Ref.Key), l.Episode}
	old, err := readRow(w.stmt(w.box.sql.same).QueryRowContext(w.ctx, append(ref, digest[:])...).Scan)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", err
	}
	n := old.n
	if n != 0 {
		err = w.repeat(l, old)
	} else {
		n, err = w.add(l, digest[:], ref)
	}
	if err != nil {
		return "", err
	}
	if err := w.dropRepeats(ref); err != nil {
		return "", err
	}
	return idOf(n), w.dropOver(n)
}

func (w *write) add(l Letter, digest []byte, ref []any) (int64, error) {
	l.First, l.LastTry, l.Tries, l.Length = l.At, l.At, max(1, l.Tries), len(l.Body)
	text, err := textOf(l)
	if err != nil {
		return 0, err
	}
	size := sizeOf(text, &l)
	if size > w.box.bounds.Load().MaxBytes {
		return 0, fmt.Errorf("%w: %d bytes", ErrTooLarge, size)
	}
	result, err := w.stmt(w.box.sql.add).ExecContext(w.ctx, append(ref, digest, l.At.UnixMilli(), size, text)...)
	if err != nil {
		return 0, err
	}
	n, err := result.LastInsertId()
	if err != nil {
		return 0, err
	}
	body := l.Body
	if body == nil {
		body = []byte{} // nil would be NULL
	}
	if _, err := w.stmt(w.box.sql.addBody).ExecContext(w.ctx, n, body); err != nil {
		return 0, err
	}
	w.count++
	w.bytes += size
	return n, nil
}

// repeat writes the newer letter over the older one.
func (w *write) repeat(l Letter, old row) error {
	l.First, l.LastTry, l.Length = old.letter.First, l.At, len(l.Body)
	l.Tries = old.letter.Tries + max(1, l.Tries)
	l.Replays = old.letter.Replays
	l.Doubts += old.letter.Doubts
	l.Doubt = l.Doubts > 0
	return w.rewrite(l, old)
}

func (w *write) rewrite(l Letter, old row) error {
	text, err := textOf(l)
	if err != nil {
		return err
	}
	size := old.size + int64(len(text)) - int64(old.letterLength)
	if _, err := w.stmt(w.box.sql.repeat).ExecContext(w.ctx, l.At.UnixMilli(), size, text, old.n); err != nil {
		return err
	}
	w.bytes += size - old.size
	return nil
}
