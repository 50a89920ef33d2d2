package failover

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sony/gobreaker/v2"

	"oneticket/dedup"
)

// errAway: the shared store is not asked at present.
var errAway = errors.New("the shared store is out of reach")

// errRead: a read was answered, which says nothing of a store that may take no
// writes: it does not end a row of failures.
var errRead = errors.New("read")

// errGone: the caller has ended the call, which says nothing of the store.
var errGone = errors.New("the caller has gone")

func (s *Store) newBreaker() *gobreaker.CircuitBreaker[struct{}] {
	return gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Name:        "shared store",
		MaxRequests: 1,
		Timeout:     s.o.Probe,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= uint32(s.o.Failures) },
		IsSuccessful: func(err error) bool {
			return err == nil || errors.Is(err, dedup.ErrConflict)
		},
		IsExcluded:    func(err error) bool { return errors.Is(err, errGone) || errors.Is(err, errRead) },
		OnStateChange: func(_ string, _, _ gobreaker.State) { s.wake() },
	})
}

// Away reports whether the shared store is not asked at present.
func (s *Store) Away() bool { return s.breaker.State() != gobreaker.StateClosed }

// call makes one call to the shared store: not at all while the breaker is
// open, and for no longer than the deadline.
func (s *Store) call(ctx context.Context, f func(context.Context) error) error {
	if s.Away() {
		return errAway
	}
	return s.through(ctx, f)
}

// read is call for what writes nothing.
func (s *Store) read(ctx context.Context, f func(context.Context) error) error {
	err := s.call(ctx, func(ctx context.Context) error {
		if err := f(ctx); err != nil {
			return err
		}
		return errRead
	})
	if errors.Is(err, errRead) {
		return nil
	}
	return err
}

func (s *Store) through(ctx context.Context, f func(context.Context) error) error {
	_, err := s.breaker.Execute(func() (struct{}, error) {
		bounded, cancel := context.WithTimeout(ctx, s.o.Deadline)
		defer cancel()
		err := f(bounded)
		if err != nil && ctx.Err() != nil && !errors.Is(err, dedup.ErrConflict) && !errors.Is(err, errRead) {
			err = fmt.Errorf("%w: %w", errGone, err)
		}
		return struct{}{}, err
	})
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return errAway
	}
	return err
}

// refused reports whether the call surely did not reach the shared store.
func refused(err error) bool { return errors.Is(err, errAway) }

// probing asks the shared store, beside the requests, while the breaker is open.
// It must take a write: a store that is full, or a replica of one, still reads.
func (s *Store) probing(ctx context.Context) {
	tick := time.NewTicker(s.o.Probe)
	defer tick.Stop()
	was := false
	for {
		away := s.Away()
		if away != was {
			was = away
			s.tellSwitched(away)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.woken:
			continue
		case <-tick.C:
		}
		if s.breaker.State() == gobreaker.StateHalfOpen {
			_ = s.through(ctx, func(ctx context.Context) error {
				_, _, err := s.shared.KeepClose(ctx, "oneticket", "probe", time.Minute)
				return err
			})
		}
	}
}

func (s *Store) tellSwitched(away bool) {
	if away {
		s.o.Log.Warn("the shared store is out of reach: the embedded store decides")
	} else {
		s.o.Log.Info("the shared store is back")
		s.kick()
	}
	s.o.Switched(away)
}

// wake has the prober look at once.
func (s *Store) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}
