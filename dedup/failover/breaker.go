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
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return c.ConsecutiveFailures >= uint32(s.o.Failures) || s.probesFailed.Load() >= int64(s.o.Failures)
		},
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
		if err != nil && !errors.Is(err, dedup.ErrConflict) && !errors.Is(err, errRead) && !errors.Is(err, errGone) {
			s.doubt()
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

// probing asks the shared store, beside the requests, while the breaker is open,
// and after a call that has failed: where one of several masters is dead, the
// calls to the others succeed, and no row of failures ever opens the breaker.
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
		if state := s.breaker.State(); state == gobreaker.StateHalfOpen || state == gobreaker.StateClosed && s.failing.Load() {
			s.probe(ctx)
		}
	}
}

// probe must take a write: a store that is full, or a replica of one, still reads.
func (s *Store) probe(ctx context.Context) {
	s.failing.Store(false)
	_ = s.through(ctx, func(ctx context.Context) error {
		err := s.o.Writes(ctx)
		if err == nil {
			s.probesFailed.Store(0)
		} else {
			s.probesFailed.Add(1)
		}
		return err
	})
}

// Doubt says that the shared store may have lost the last that it has
// acknowledged: that is compared with what is known here.
func (s *Store) Doubt() {
	s.doubted.Store(true)
	s.kick()
}

// doubt is told of a call that has failed: the shared store is probed, and what
// it has acknowledged of late is compared when it is well.
func (s *Store) doubt() {
	s.failing.Store(true)
	s.doubted.Store(true)
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
