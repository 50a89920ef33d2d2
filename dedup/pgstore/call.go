package pgstore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	mostTries  = 4
	firstPause = 4 * time.Millisecond
)

// call gives f a connection, within the time that a call has, and repeats it
// where that may help.
func (s *Store) call(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	return s.bounded(ctx, s.o.Timeout, func(ctx context.Context) error {
		pause := firstPause
		for try := 1; ; try++ {
			again, err := s.try(ctx, f)
			if !again || s.o.once || try == mostTries || ctx.Err() != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return err
			case <-time.After(pause):
				pause *= 4
			}
		}
	})
}

// aside is call for what is not on the path of a request.
func (s *Store) aside(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	return s.bounded(ctx, s.o.slow(), func(ctx context.Context) error {
		_, err := s.try(ctx, f)
		return err
	})
}

func (s *Store) bounded(ctx context.Context, most time.Duration, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, most, errTimeout)
	defer cancel()
	err := call(ctx)
	if err != nil && context.Cause(ctx) == errTimeout {
		return timedOut{most, inOneLine(err)}
	}
	return err
}

// try makes the call once, and says whether it may be made again.
func (s *Store) try(ctx context.Context, f func(context.Context, *pgx.Conn) error) (again bool, err error) {
	conn, err := s.conns.take(ctx)
	if err != nil {
		return mayPass(err), err
	}
	err = f(ctx, conn.Conn())
	again = mayPass(err) && (conn.Conn().IsClosed() || code(err) != "")
	switch {
	case err == nil:
	case code(err) == readOnly:
		// The primary may be another server by now.
		again = s.conns.retireOld(conn.Conn())
	case again && conn.Conn().IsClosed():
		s.conns.retire(conn.Conn())
	case context.Cause(ctx) == errTimeout:
		s.conns.retireOld(conn.Conn())
	}
	s.conns.give(conn)
	return again, err
}

// mayPass reports whether the same call, made again, may go well.
func mayPass(err error) bool {
	var pg *pgconn.PgError
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	case errors.As(err, &pg):
		return strings.HasPrefix(pg.Code, connectionClass) ||
			slices.Contains([]string{serialization, deadlock, tooManyClients, adminShutdown, crashShutdown, cannotConnectNow}, pg.Code)
	default:
		return true // the connection broke, or there was none
	}
}
