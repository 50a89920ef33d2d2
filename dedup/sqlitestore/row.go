package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"oneticket/dedup"
	"oneticket/dedup/recordjson"
)

// columns are all of a record's but its ref and its nonce; the first are the
// fields of recordjson.Head in their order.
const columns = `v, version, episode, sends, sent,
	lease_until, update_until, claimed_at, sent_at, seen_at, opened_at, expires_at, keep_until, free_at,
	state, holder, update_holder, fingerprint, suffix, rest, trail, body, prior, prior_body`

// noRow stands for these columns where there is no record.
const noRow = `0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', '', '', '', '', '', '', NULL, '', NULL`

// A row is one record as it lies in the file, and the clock of the statement
// that read it. Version 0 is no record.
type row struct {
	now int64
	recordjson.Packed
}

// dest lists where the columns go.
func (r *row) dest() []any {
	dest := make([]any, 0, recordjson.HeadLength+10)
	for _, field := range r.Head.Fields() {
		dest = append(dest, field)
	}
	return append(dest, (*string)(&r.State), &r.Holder, &r.UpdateHolder, &r.Fingerprint, &r.Suffix,
		&r.Rest, &r.Trail, &r.Body, &r.Prior, &r.PriorBody)
}

// values lists the same columns to be written.
func values(p *recordjson.Packed) []any {
	args := make([]any, 0, recordjson.HeadLength+10)
	for _, field := range p.Head.Fields() {
		args = append(args, *field)
	}
	return append(args, string(p.State), p.Holder, p.UpdateHolder, p.Fingerprint, p.Suffix,
		p.Rest, p.Trail, blob(p.Body), p.Prior, blob(p.PriorBody))
}

// blob binds no bytes as NULL.
func blob(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

// found is what the row tells a caller.
func (r *row) found(won bool) (dedup.Found, error) {
	f := dedup.Found{Now: recordjson.Time(r.now), Won: won}
	if r.Version == 0 {
		return f, nil
	}
	rec, err := r.Unpack()
	f.Record = rec
	return f, err
}

// one runs a statement that returns one row at most and steps it to its end:
// SQLite commits a write that returns rows only then.
func one(ctx context.Context, stmt *sql.Stmt, args []any, dest ...any) (found bool, err error) {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		found = true
		if err := rows.Scan(dest...); err != nil {
			return false, err
		}
	}
	return found, rows.Err()
}

// oneRow runs a statement that returns the clock and a record's columns.
func oneRow(ctx context.Context, stmt *sql.Stmt, args ...any) (r row, found bool, err error) {
	found, err = one(ctx, stmt, args, slices.Concat([]any{&r.now}, r.dest())...)
	return r, found, err
}
