package sqlitestore

import (
	"context"

	"oneticket/dedup"
	"oneticket/dedup/recordjson"
)

// Delete is dedup.Store's. A stub that is free at once is left as it is, so
// that the call can be repeated. A record of a newer format is left as it is, and
// that is told as a conflict.
func (s *Store) Delete(ctx context.Context, ref dedup.Ref) error {
	stub, err := recordjson.Pack(dedup.Record{State: dedup.None})
	if err != nil {
		return s.wrap("delete", err)
	}
	removed, err := changed(s.sql.remove.ExecContext(ctx, s.at(ref, stub.Rest)...))
	if removed || err != nil {
		return s.wrap("delete", err)
	}
	left, err := s.Get(ctx, ref)
	if err == nil && left.Record.V > dedup.Format {
		return dedup.ErrConflict
	}
	return err
}
