package pgstore

import (
	"context"

	"oneticket/dedup"
)

// Swap is dedup.Store's.
func (s *Store) Swap(ctx context.Context, ref dedup.Ref, seen int64, next dedup.Record, nonce string) (dedup.Record, error) {
	next.Version = seen + 1
	r, err := pack(next)
	if err != nil {
		return dedup.Record{}, s.wrap("swap", err)
	}
	var wrote bool
	err = s.one(ctx, s.sql.swap, named(ref, append([]any{dedup.Format, seen}, r.values(nonce)...)...), &wrote)
	if err != nil {
		return dedup.Record{}, s.wrap("swap", err)
	}
	if !wrote {
		return dedup.Record{}, dedup.ErrConflict
	}
	written, err := r.record()
	return written, s.wrap("swap", err)
}

// Delete is dedup.Store's. A record of a newer format is left as it is, and
// that is told as a conflict.
func (s *Store) Delete(ctx context.Context, ref dedup.Ref) error {
	stub, err := pack(dedup.Record{State: dedup.None})
	if err != nil {
		return s.wrap("delete", err)
	}
	var removed bool
	err = s.one(ctx, s.sql.remove, at(ref, dedup.Format, stub.Rest), &removed)
	if err == nil && !removed {
		return dedup.ErrConflict
	}
	return s.wrap("delete", err)
}
