package sqlitestore

import (
	"context"
	"database/sql"

	"oneticket/dedup"
	"oneticket/dedup/recordjson"
)

// Swap is dedup.Store's: one statement. Only where that wrote nothing is it
// asked whether the row is what an earlier try of the same call wrote; a row
// that was written over in between is not.
func (s *Store) Swap(ctx context.Context, ref dedup.Ref, seen int64, next dedup.Record, nonce string) (dedup.Record, error) {
	next.Version = seen + 1
	p, err := recordjson.Pack(next)
	if err != nil {
		return dedup.Record{}, s.wrap("swap", err)
	}
	wrote, err := s.swap(ctx, ref, seen, &p, nonce)
	if err != nil {
		return dedup.Record{}, s.wrap("swap", err)
	}
	if !wrote {
		return dedup.Record{}, dedup.ErrConflict
	}
	s.keeper.wake()
	written, err := p.Unpack()
	return written, s.wrap("swap", err)
}

func (s *Store) swap(ctx context.Context, ref dedup.Ref, seen int64, p *recordjson.Packed, nonce string) (bool, error) {
	stmt := s.sql.update
	if seen == 0 {
		stmt = s.sql.insert
	}
	at := s.at(ref, seen, nonce)
	wrote, err := changed(stmt.ExecContext(ctx, append(at, values(p)...)...))
	if wrote || err != nil {
		return wrote, err
	}
	return one(ctx, s.sql.wrote, at, new(int))
}

func changed(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
