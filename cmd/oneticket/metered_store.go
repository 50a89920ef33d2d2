package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"oneticket/cmd/oneticket/admin"
	"oneticket/dedup"
	"oneticket/dedup/sqlitestore"
)

// meteredStore observes every call of a store, from the outside.
type meteredStore struct {
	dedup.Store
	name    string
	metrics *admin.Metrics
}

// observe is deferred with the start of the call.
func (s meteredStore) observe(op string, start time.Time, err *error) {
	canceled := errors.Is(*err, context.Canceled) // the client went; the store may be well
	up := *err == nil || errors.Is(*err, dedup.ErrConflict) || canceled
	s.metrics.StoreCall(s.name, op, time.Since(start), up)
	if !up && sqlitestore.Damaged(*err) {
		s.metrics.StoreTrouble(s.name, damagedSentence(*err))
	}
}

// damagedSentence: what stands in the sound parts goes on to be used, so this is
// said until oneticket is started again.
func damagedSentence(err error) string {
	return fmt.Sprintf("the file of the store is damaged (%v): end oneticket, move the file away, and start it again with an empty one", err)
}

func (s meteredStore) Claim(ctx context.Context, ref dedup.Ref, offer *dedup.Offer) (found dedup.Found, err error) {
	defer s.observe("claim", time.Now(), &err)
	return s.Store.Claim(ctx, ref, offer)
}

func (s meteredStore) Swap(ctx context.Context, ref dedup.Ref, seen int64, next dedup.Record, nonce string) (rec dedup.Record, err error) {
	defer s.observe("swap", time.Now(), &err)
	return s.Store.Swap(ctx, ref, seen, next, nonce)
}

func (s meteredStore) Get(ctx context.Context, ref dedup.Ref) (found dedup.Found, err error) {
	defer s.observe("get", time.Now(), &err)
	return s.Store.Get(ctx, ref)
}

func (s meteredStore) MarkSent(ctx context.Context, ref dedup.Ref, holder string) (err error) {
	defer s.observe("mark_sent", time.Now(), &err)
	return s.Store.MarkSent(ctx, ref, holder)
}

func (s meteredStore) KeepClose(ctx context.Context, scope dedup.TicketScope, id string, keep time.Duration) (ref dedup.Ref, held bool, err error) {
	defer s.observe("keep_close", time.Now(), &err)
	return s.Store.KeepClose(ctx, scope, id, keep)
}

// A prober is a store of several parts, that asks each for a write.
type prober interface {
	Probe(ctx context.Context) error
}

// probe asks the store for a write; nil: it has no word of its own for that.
func (s meteredStore) probe() func(context.Context) error {
	of, ok := s.Store.(prober)
	if !ok {
		return nil
	}
	return func(ctx context.Context) (err error) {
		defer s.observe("probe", time.Now(), &err)
		return of.Probe(ctx)
	}
}

func (s meteredStore) Ticket(ctx context.Context, scope dedup.TicketScope, id string, ref dedup.Ref, keep time.Duration) (closed bool, err error) {
	defer s.observe("ticket", time.Now(), &err)
	return s.Store.Ticket(ctx, scope, id, ref, keep)
}
