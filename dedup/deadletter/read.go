package deadletter

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"oneticket/dedup"
)

// ErrNotFound: there is no letter with this id. It may have become a ticket.
var ErrNotFound = errors.New("no such dead letter")

// listBatch is how many letters are read in one go, so that a slow reader
// keeps nobody waiting.
const listBatch = 256

// List calls yield for each letter without its body, in the order of their
// ids, until yield returns false. It may miss what is put meanwhile.
func (b *Box) List(ctx context.Context, yield func(Letter) bool) error {
	return b.listAfter(ctx, 0, yield)
}

// listAfter is List from the letter behind the one with the number.
func (b *Box) listAfter(ctx context.Context, last int64, yield func(Letter) bool) error {
	for {
		rows, err := rowsOf(ctx, b.sql.list, last, listBatch)
		if err != nil {
			return wrap("list", err)
		}
		for _, r := range rows {
			last = r.n
			if !yield(r.letter) {
				return nil
			}
		}
		if len(rows) < listBatch {
			return nil
		}
	}
}

// Get returns one letter with its body, or ErrNotFound. The id may be given
// without its leading zeros.
func (b *Box) Get(ctx context.Context, id string) (Letter, error) {
	n, ok := numberOf(id)
	if !ok {
		return Letter{}, notFound(id)
	}
	var body []byte
	r, err := readRow(b.sql.get.QueryRowContext(ctx, n).Scan, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return Letter{}, notFound(id)
	}
	if err != nil {
		return Letter{}, wrap("get", err)
	}
	r.letter.Body = body
	return r.letter, nil
}

// Last returns the newest letter of the key, of whatever episode, with its body;
// false where there is none.
func (b *Box) Last(ctx context.Context, ref dedup.Ref) (Letter, bool, error) {
	if b.Count() == 0 {
		return Letter{}, false, nil
	}
	var body []byte
	r, err := readRow(b.sql.last.QueryRowContext(ctx, ref.Rule, ref.Scope, string(ref.Key)).Scan, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return Letter{}, false, nil
	}
	if err != nil {
		return Letter{}, false, wrap("last", err)
	}
	r.letter.Body = body
	return r.letter, true, nil
}

func notFound(id string) error { return fmt.Errorf("%w: %s", ErrNotFound, id) }

// Doubtful reports whether some letter of the key and episode may have become
// a ticket.
func (b *Box) Doubtful(ctx context.Context, ref dedup.Ref, episode int64) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	rows, err := rowsOf(ctx, b.sql.ofEpisode, ref.Rule, ref.Scope, string(ref.Key), episode)
	if err != nil {
		return false, wrap("get", err)
	}
	for _, r := range rows {
		if r.letter.Doubt {
			return true, nil
		}
	}
	return false, nil
}
