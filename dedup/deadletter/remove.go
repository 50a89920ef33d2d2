package deadletter

import (
	"context"
	"errors"
	"slices"

	"oneticket/dedup"
)

// Remove takes out all letters of the key and episode: its ticket came. It may
// be called for every ticket: while there is no letter at all it costs nothing,
// else one read where the key has none. It returns how many there were.
func (b *Box) Remove(ctx context.Context, ref dedup.Ref, episode int64) (int, error) {
	if b.Count() == 0 {
		return 0, nil
	}
	of := []any{ref.Rule, ref.Scope, string(ref.Key), episode}
	var some bool
	if err := b.sql.exists.QueryRowContext(ctx, of...).Scan(&some); err != nil {
		return 0, wrap("remove", err)
	}
	if !some {
		return 0, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	removed := 0
	err := b.write(ctx, func(w *write) error {
		rows, err := rowsOf(ctx, w.stmt(b.sql.ofEpisode), of...)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := w.remove(r); err != nil {
				return err
			}
		}
		removed = len(rows)
		return nil
	})
	if err != nil {
		return 0, wrap("remove", err)
	}
	return removed, nil
}

// NeverSent takes back the doubt of one try of the key and episode: it ended as
// Unknown, and it was learned that nothing of it had been sent.
func (b *Box) NeverSent(ctx context.Context, ref dedup.Ref, episode int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return wrap("never sent", b.write(ctx, func(w *write) error {
		rows, err := rowsOf(ctx, w.stmt(b.sql.ofEpisode), ref.Rule, ref.Scope, string(ref.Key), episode)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(rows, func(r row) bool { return r.letter.Doubts > 0 })
		if i < 0 {
			return nil
		}
		l := rows[i].letter
		if l.Doubts--; l.Doubts == 0 {
			l.Doubt = false
			if l.Why == Unknown {
				l.Why = NeverSent
			}
		}
		return w.rewrite(l, rows[i])
	}))
}

// Delete takes out one letter because somebody asked for it, or reports
// ErrNotFound.
func (b *Box) Delete(ctx context.Context, id string) error {
	return b.change(ctx, "delete", id, func(w *write, r row) error { return w.remove(r) })
}

// Replayed notes that a Replayer has sent the letter once more, and how that
// ended; empty when it became a ticket.
func (b *Box) Replayed(ctx context.Context, id, failure string) error {
	return b.change(ctx, "replayed", id, func(w *write, r row) error {
		l := r.letter
		l.Replays++
		l.LastTry, l.LastError = b.o.Now(), failure
		return w.rewrite(l, r)
	})
}

// Noted writes why the letter was not sent.
func (b *Box) Noted(ctx context.Context, id, failure string) error {
	return b.change(ctx, "noted", id, func(w *write, r row) error {
		l := r.letter
		l.LastError = failure
		return w.rewrite(l, r)
	})
}

// change runs one transaction on one letter.
func (b *Box) change(ctx context.Context, op, id string, with func(*write, row) error) error {
	n, ok := numberOf(id)
	if !ok {
		return notFound(id)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return wrap(op, b.write(ctx, func(w *write) error {
		rows, err := rowsOf(ctx, w.stmt(b.sql.row), n)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return notFound(id)
		}
		return with(w, rows[0])
	}))
}

// ids are those of all letters that are there now.
func (b *Box) ids(ctx context.Context) ([]string, error) {
	var ids []string
	err := b.List(ctx, func(l Letter) bool { ids = append(ids, l.ID); return true })
	return ids, err
}

// DeleteAll takes out all letters that are there now, and returns how many.
func (b *Box) DeleteAll(ctx context.Context) (int, error) {
	ids, err := b.ids(ctx)
	removed := 0
	for _, id := range ids {
		if err := b.Delete(ctx, id); err == nil {
			removed++
		} else if !errors.Is(err, ErrNotFound) {
			return removed, err
		}
	}
	return removed, err
}
