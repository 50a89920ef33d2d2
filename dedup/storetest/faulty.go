package storetest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"oneticket/dedup"
)

// The calls of a store, as Faulty names them.
const (
	Claim     = "claim"
	Swap      = "swap"
	Renew     = "renew"
	MarkSent  = "mark sent"
	Ticket    = "ticket"
	KeepClose = "keep close"
	Get       = "get"
	List      = "list"
	Delete    = "delete"
)

// ErrLost is an error for Faulty: the store is out of reach.
var ErrLost = errors.New("the connection to the store was lost")

// Faulty is a store that fails when it is told to: before a call is applied,
// or after, so that its reply is lost. Its functions may also do what happens
// at that moment in another process. Nil functions do nothing.
type Faulty struct {
	Store  dedup.Store
	Before func(op string) error
	After  func(op string) error
}

var _ dedup.Store = (*Faulty)(nil)

// Once fails the first call of op, and no other.
func Once(op string) func(string) error {
	var done atomic.Bool
	return func(called string) error {
		if called == op && done.CompareAndSwap(false, true) {
			return ErrLost
		}
		return nil
	}
}

func (f *Faulty) call(op string, apply func() error) error {
	if f.Before != nil {
		if err := f.Before(op); err != nil {
			return err
		}
	}
	err := apply()
	if f.After != nil {
		if lost := f.After(op); lost != nil {
			return lost
		}
	}
	return err
}

// reply is a call with one result, which a lost reply does not have.
func reply[T any](f *Faulty, op string, apply func() (T, error)) (result T, err error) {
	var got T
	if err := f.call(op, func() (err error) { got, err = apply(); return err }); err != nil {
		return result, err
	}
	return got, nil
}

// Claim is dedup.Store's.
func (f *Faulty) Claim(ctx context.Context, ref dedup.Ref, o *dedup.Offer) (dedup.Found, error) {
	return reply(f, Claim, func() (dedup.Found, error) { return f.Store.Claim(ctx, ref, o) })
}

// Swap is dedup.Store's.
func (f *Faulty) Swap(ctx context.Context, ref dedup.Ref, seen int64, next dedup.Record, nonce string) (dedup.Record, error) {
	return reply(f, Swap, func() (dedup.Record, error) { return f.Store.Swap(ctx, ref, seen, next, nonce) })
}

// Renew is dedup.Store's.
func (f *Faulty) Renew(ctx context.Context, ref dedup.Ref, holder string, lease time.Duration) (bool, error) {
	return reply(f, Renew, func() (bool, error) { return f.Store.Renew(ctx, ref, holder, lease) })
}

// MarkSent is dedup.Store's.
func (f *Faulty) MarkSent(ctx context.Context, ref dedup.Ref, holder string) error {
	return f.call(MarkSent, func() error { return f.Store.MarkSent(ctx, ref, holder) })
}

// Ticket is dedup.Store's.
func (f *Faulty) Ticket(ctx context.Context, scope dedup.TicketScope, id string, ref dedup.Ref, keep time.Duration) (bool, error) {
	return reply(f, Ticket, func() (bool, error) { return f.Store.Ticket(ctx, scope, id, ref, keep) })
}

// KeepClose is dedup.Store's.
func (f *Faulty) KeepClose(ctx context.Context, scope dedup.TicketScope, id string, keep time.Duration) (dedup.Ref, bool, error) {
	type answer struct {
		ref  dedup.Ref
		held bool
	}
	a, err := reply(f, KeepClose, func() (a answer, err error) {
		a.ref, a.held, err = f.Store.KeepClose(ctx, scope, id, keep)
		return a, err
	})
	return a.ref, a.held, err
}

// Get is dedup.Store's.
func (f *Faulty) Get(ctx context.Context, ref dedup.Ref) (dedup.Found, error) {
	return reply(f, Get, func() (dedup.Found, error) { return f.Store.Get(ctx, ref) })
}

// List is dedup.Store's.
func (f *Faulty) List(ctx context.Context, rule string, yield func(dedup.Ref, dedup.Record) bool) error {
	return f.call(List, func() error { return f.Store.List(ctx, rule, yield) })
}

// Delete is dedup.Store's.
func (f *Faulty) Delete(ctx context.Context, ref dedup.Ref) error {
	return f.call(Delete, func() error { return f.Store.Delete(ctx, ref) })
}

// Close is dedup.Store's.
func (f *Faulty) Close() error { return f.Store.Close() }
