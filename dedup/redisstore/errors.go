package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

var errTimeout = errors.New("the store's timeout")

// timedOut is a call that the store itself has ended; the last error says at
// what it was then.
type timedOut struct {
	after time.Duration
	last  error
}

func (t timedOut) Error() string {
	if errors.Is(t.last, context.DeadlineExceeded) {
		return fmt.Sprintf("no answer within %v", t.after)
	}
	return fmt.Sprintf("no answer within %v: %v", t.after, t.last)
}

func (t timedOut) Unwrap() error { return t.last }

// hints tell the operator what to do about an answer of Redis.
var hints = []struct{ code, hint string }{
	{"MOVED ", "this server is part of a Cluster: name its nodes in cluster"},
	{"READONLY ", "this server is a replica: name the master, or its Sentinels"},
	{"OOM ", "raise maxmemory"},
	{"MISCONF ", "Redis cannot write to its disk: see its log"},
	{"NOAUTH ", "put user and password in the url"},
	{"WRONGPASS ", "see user and password in the url"},
	{"NOPERM ", "give the ACL user the rights that the documentation lists"},
	{"WRONGTYPE ", "another program uses this name: set another prefix"},
	{"NOREPLICAS ", "fewer replicas follow than min-replicas-to-write asks for"},
}

// wrap says where an error comes from, and what to do about it.
func (s *Store) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	for _, h := range hints {
		if strings.HasPrefix(err.Error(), h.code) {
			return fmt.Errorf("redis %s: %s: %w (%s)", s.shown, op, err, h.hint)
		}
	}
	return fmt.Errorf("redis %s: %s: %w", s.shown, op, err)
}
