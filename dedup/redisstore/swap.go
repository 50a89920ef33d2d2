package redisstore

import (
	"context"

	"oneticket/dedup"
	"oneticket/dedup/recordjson"
)

// Swap is dedup.Store's.
func (s *Store) Swap(ctx context.Context, ref dedup.Ref, seen int64, next dedup.Record, nonce string) (dedup.Record, error) {
	next.Version = seen + 1
	p, err := recordjson.Pack(next)
	if err != nil {
		return dedup.Record{}, s.wrap("swap", err)
	}
	answer, err := s.run(ctx, swapScript, s.names.recordName(ref), s.here(append([]any{seen}, values(&p, nonce)...)...)...)
	if err != nil {
		return dedup.Record{}, s.wrap("swap", err)
	}
	if answer != int64(1) {
		return dedup.Record{}, dedup.ErrConflict
	}
	written, err := p.Unpack()
	return written, s.wrap("swap", err)
}

// Delete is dedup.Store's. A record of a newer format is left as it is, and
// that is told as a conflict.
func (s *Store) Delete(ctx context.Context, ref dedup.Ref) error {
	stub, err := recordjson.Pack(dedup.Record{State: dedup.None})
	if err != nil {
		return s.wrap("delete", err)
	}
	answer, err := s.run(ctx, removeScript, s.names.recordName(ref), s.here(stub.Rest)...)
	if err == nil && answer != int64(1) {
		return dedup.ErrConflict
	}
	return s.wrap("delete", err)
}
