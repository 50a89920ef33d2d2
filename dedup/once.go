package dedup

import (
	"context"
	"errors"
	"time"
)

// Once runs functions once per key over a store that any number of processes
// share: the guarantee of the filter, in a Go program. It is safe for
// concurrent use.
type Once struct {
	engine *Engine
	o      OnceOptions
	policy Policy
}

// OnceOptions say how long what holds.
type OnceOptions struct {
	Store Store
	Name  string // keeps the keys of different jobs apart; required

	// Keep is how long a result is given again; default 24 h. After it, and
	// after the store has removed the key, the function runs anew.
	Keep time.Duration

	// Lease is how soon another process notices that this one has died in the
	// function; it is renewed while the function runs. Default 30 s.
	Lease time.Duration

	// Wait is how long a call waits for one that is running; default Lease.
	Wait time.Duration

	// RunAgainAfter is how long after a death in the function, or after an
	// error marked with Unsure, it is run again. Zero is never: the key stays
	// in doubt, and callers get ErrInDoubt, until somebody has looked and
	// deletes it from the store.
	RunAgainAfter time.Duration
}

// ErrRunning: another call of the same key is still running after Wait.
var ErrRunning = errors.New("the same key is still running")

// ErrInDoubt: an earlier run ended without anybody knowing how.
var ErrInDoubt = errors.New("an earlier run of the same key ended without a known outcome")

// Unsure marks an error of the function after which nobody knows whether its
// work was done: the key is kept as doubtful instead of released.
func Unsure(err error) error { return unsure{err} }

type unsure struct{ error }

func (u unsure) Unwrap() error { return u.error }

// never is a settle time that no doubt outlives.
const never = 100 * 365 * 24 * time.Hour

// longestRun is how long a run that has not ended is remembered. A result may
// be kept for less than the run takes that makes it.
const longestRun = 30 * 24 * time.Hour

// NewOnce returns a Once. Close it after the last Do.
func NewOnce(o OnceOptions) *Once {
	if o.Keep <= 0 {
		o.Keep = 24 * time.Hour
	}
	if o.Lease <= 0 {
		o.Lease = 30 * time.Second
	}
	if o.Wait <= 0 {
		o.Wait = o.Lease
	}
	settle := o.RunAgainAfter
	if settle <= 0 {
		settle = never
	}
	return &Once{
		engine: NewEngine(EngineOptions{Store: o.Store}),
		o:      o,
		policy: Policy{TTL: o.Keep, MaxAge: o.Keep, Settle: settle, Lease: o.Lease, NoTicket: true, unended: longestRun},
	}
}

// Close waits for what Do has left to be written.
func (o *Once) Close() { o.engine.Close() }

// Do runs the function once per key and returns its result. A later call gets
// the stored result and replayed = true; a concurrent one waits for the first.
// An error of the function is returned as it is and releases the key, so that
// the next call runs it again; an error marked by Unsure, a panic, or the
// death of the process keeps the key as doubtful. Errors of the store are
// returned before the function runs, or, when the result could not be written,
// together with the result.
func (o *Once) Do(ctx context.Context, key Key, run func(context.Context) ([]byte, error)) (result []byte, replayed bool, err error) {
	v, err := o.decide(ctx, key)
	switch {
	case err != nil:
		return nil, false, err
	case v.Kind == Create:
		return o.first(ctx, v.Hold, run)
	case v.Kind == Suppress && v.Record.Response != nil:
		return v.Record.Response.Body, true, nil
	case v.Record.State == Claimed:
		return nil, false, ErrRunning
	default:
		return nil, false, ErrInDoubt
	}
}

// decide decides again where a claim was won so late that its lease is over: by
// now another may run the function.
func (o *Once) decide(ctx context.Context, key Key) (v Verdict, err error) {
	for range maxRounds {
		v, err = o.engine.Decide(ctx, Claim{
			Fault:  Fault{Ref: Ref{Rule: o.o.Name, Key: key}, Fingerprint: Fingerprint{Severity: NoSeverity}},
			Policy: &o.policy,
			Wait:   o.o.Wait,
		})
		if err != nil || v.Kind != Create || v.Hold.Ready() {
			return v, err
		}
		if err := v.Hold.Release(ctx); err != nil {
			return Verdict{}, err
		}
	}
	return Verdict{Kind: Busy, Reason: IsBusy, Record: v.Record}, nil
}

// first runs the function under the hold.
func (o *Once) first(ctx context.Context, h *Hold, run func(context.Context) ([]byte, error)) ([]byte, bool, error) {
	outcome := Outcome{Kind: OutcomeUnknown}
	settle := func() error {
		// The outcome is written also when the caller has gone.
		ctx, cancel := settling(ctx)
		defer cancel()
		_, err := h.Settle(ctx, outcome)
		return err
	}
	ended := false
	stop := h.keepAlive()
	defer func() {
		stop()
		if !ended {
			_ = settle() // the panic goes on, and tells more than this error could
		}
	}()
	result, err := run(ctx)
	stop()
	ended = true
	switch {
	case err == nil:
		outcome = Outcome{Kind: OutcomeCreated, Response: &Response{Status: 200, Body: result}}
	case !errors.As(err, new(unsure)):
		outcome = Outcome{Kind: OutcomeRefused}
	}
	if unwritten := settle(); unwritten != nil {
		err = errors.Join(err, unwritten)
	}
	return result, false, err
}
