package pgstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"oneticket/dedup"
)

// listBatch is how many records List holds in memory at a time; nothing is
// locked while yield runs.
const listBatch = 64

// List is dedup.Store's.
func (s *Store) List(ctx context.Context, rule string, yield func(dedup.Ref, dedup.Record) bool) error {
	last := place{rule: armour(rule)}
	for {
		batch, err := s.batch(ctx, rule != "", last)
		if err != nil {
			return s.wrap("list", err)
		}
		for _, l := range batch {
			rec, err := l.record()
			if err != nil {
				return s.wrap("list", fmt.Errorf("%s: %w", l.ref.Key, err))
			}
			if !yield(l.ref, rec) {
				return nil
			}
			last = l.place
		}
		if len(batch) < listBatch {
			return nil
		}
	}
}

// A place is where in the table's order a row stands.
type place struct {
	rule string
	id   []byte
}

type listed struct {
	place
	ref dedup.Ref
	row
}

func (s *Store) batch(ctx context.Context, oneRule bool, after place) (batch []*listed, err error) {
	sql := s.sql.list
	if oneRule {
		sql = s.sql.listRule
	}
	if after.id == nil {
		after.id = []byte{}
	}
	err = s.aside(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, sql, after.rule, after.id, listBatch)
		if err != nil {
			return err
		}
		batch, err = pgx.CollectRows(rows, scanListed)
		return err
	})
	return batch, err
}

func scanListed(from pgx.CollectableRow) (*listed, error) {
	l := &listed{}
	var scope, key string
	if err := from.Scan(append([]any{&l.rule, &l.id, &scope, &key}, l.dest()...)...); err != nil {
		return nil, err
	}
	l.ref = refOf(l.rule, scope, key)
	return l, nil
}

// Live counts the records that hold their key now, by rule, and looks at
// atMost of them. It reads what it counts: call it seldom, off the path.
func (s *Store) Live(ctx context.Context, atMost int) (counts map[string]int64, err error) {
	err = s.aside(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		counts = map[string]int64{}
		rows, err := conn.Query(ctx, s.sql.live, s.moved(), atMost)
		if err != nil {
			return err
		}
		var rule string
		var n int64
		_, err = pgx.ForEachRow(rows, []any{&rule, &n}, func() error {
			counts[bare(rule)] = n
			return nil
		})
		return err
	})
	return counts, s.wrap("live", err)
}
