package sqlitestore

import (
	"context"
	"errors"

	"oneticket/dedup"
)

// listBatch is how many records List holds in memory at a time; nothing is
// locked while yield runs.
const listBatch = 128

// List is dedup.Store's.
func (s *Store) List(ctx context.Context, rule string, yield func(dedup.Ref, dedup.Record) bool) error {
	last := dedup.Ref{Rule: rule}
	for {
		batch, err := s.batch(ctx, rule, last)
		if err != nil {
			return s.wrap("list", err)
		}
		for _, l := range batch {
			rec, err := l.Unpack()
			if err != nil {
				return s.wrap("list "+string(l.ref.Key), err)
			}
			if !yield(l.ref, rec) {
				return nil
			}
			last = l.ref
		}
		if len(batch) < listBatch {
			return nil
		}
	}
}

type listed struct {
	ref dedup.Ref
	row
}

func (s *Store) batch(ctx context.Context, rule string, last dedup.Ref) (batch []*listed, err error) {
	stmt := s.sql.list
	if rule != "" {
		stmt = s.sql.listRule
	}
	rows, err := stmt.QueryContext(ctx, last.Rule, last.Scope, string(last.Key), listBatch)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		l := &listed{}
		dest := append([]any{&l.ref.Rule, &l.ref.Scope, (*string)(&l.ref.Key)}, l.dest()...)
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		batch = append(batch, l)
	}
	return batch, rows.Err()
}
