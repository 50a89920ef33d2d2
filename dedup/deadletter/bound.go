package deadletter

import (
	"context"
	"math"
)

// dropBatch is how many letters one step looks at, at most: a Put that is over
// a bound mostly has one letter to drop.
const dropBatch = 64

// drop gives one letter up, and remembers to tell of it.
func (w *write) drop(r row, bound Bound) error {
	if err := w.remove(r); err != nil {
		return err
	}
	w.drops = append(w.drops, Drop{r.letter, bound})
	return nil
}

func (w *write) remove(r row) error {
	if _, err := w.stmt(w.box.sql.drop).ExecContext(w.ctx, r.n); err != nil {
		return err
	}
	if _, err := w.stmt(w.box.sql.dropBody).ExecContext(w.ctx, r.n); err != nil {
		return err
	}
	w.count--
	w.bytes -= r.size
	return nil
}

func (w *write) dropRepeats(ref []any) error {
	rows, err := rowsOf(w.ctx, w.stmt(w.box.sql.repeats), append(ref, maxRepeats)...)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := w.drop(r, OverRepeats); err != nil {
			return err
		}
	}
	return nil
}

// dropOver drops what is over a bound, oldest first, but the letter with the
// number spared: first what is too old, so that nothing else goes in its place.
func (w *write) dropOver(spared int64) error {
	most := w.box.bounds.Load()
	tooOld := w.box.o.Now().Add(-most.MaxAge).UnixMilli()
	if err := w.dropOldest(tooOld, spared, OverAge, func() bool { return true }); err != nil {
		return err
	}
	if err := w.dropOldest(math.MaxInt64, spared, OverCount, func() bool { return w.box.count.Load()+w.count > most.MaxCount }); err != nil {
		return err
	}
	return w.dropOldest(math.MaxInt64, spared, OverBytes, func() bool { return w.box.bytes.Load()+w.bytes > most.MaxBytes })
}

// dropOldest drops letters from before the instant while over says so.
func (w *write) dropOldest(before, spared int64, bound Bound, over func() bool) error {
	for batch := 1; over(); batch = min(2*batch, dropBatch) {
		rows, err := rowsOf(w.ctx, w.stmt(w.box.sql.oldest), before, spared, batch)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if !over() {
				return nil
			}
			if err := w.drop(r, bound); err != nil {
				return err
			}
		}
		if len(rows) < batch {
			return nil
		}
	}
	return nil
}

// Bound changes the bounds. What is over the new ones is dropped by the next
// Put or Sweep.
func (b *Box) Bound(most Bounds) { b.bounds.Store(most.filled()) }

// Sweep drops now what is over a bound. The Box does so itself at every Put
// and once a minute.
func (b *Box) Sweep(ctx context.Context) error {
	if over, err := b.over(ctx); err != nil || !over {
		return wrap("sweep", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return wrap("sweep", b.write(ctx, func(w *write) error { return w.dropOver(0) }))
}

// over reports whether a letter is over a bound, without a write.
func (b *Box) over(ctx context.Context) (over bool, err error) {
	most := b.bounds.Load()
	if b.Count() > most.MaxCount || b.Bytes() > most.MaxBytes {
		return true, nil
	}
	err = b.sql.older.QueryRowContext(ctx, b.o.Now().Add(-most.MaxAge).UnixMilli()).Scan(&over)
	return over, err
}
