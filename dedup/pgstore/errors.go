package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrNewer: a newer program has brought the schema up to date. This one must
// not write to it.
var ErrNewer = errors.New("the schema is of a newer program")

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

// The codes of PostgreSQL that mean something here.
const (
	readOnly          = "25006"
	serialization     = "40001"
	deadlock          = "40P01"
	tooManyClients    = "53300"
	adminShutdown     = "57P01"
	crashShutdown     = "57P02"
	cannotConnectNow  = "57P03"
	connectionClass   = "08"
	undefinedSchema   = "3F000"
	undefinedTable    = "42P01"
	undefinedFunction = "42883"
)

// hints tell the operator what to do about an answer of PostgreSQL.
var hints = map[string]string{
	readOnly:          "this server is a standby or takes no writes: name the primary, or all of them in the url",
	tooManyClients:    "raise max_connections, or set pool_max_conns in the url",
	cannotConnectNow:  "it is starting, or stopping",
	undefinedSchema:   "the schema is made when a replica starts, and again within seconds",
	undefinedTable:    "the tables are made when a replica starts, and again within seconds",
	undefinedFunction: "the functions are made when a replica starts; if the schema is another program's, name another database",
	"28P01":           "see user and password in the url",
	"28000":           "see the user in the url, and pg_hba.conf",
	"3D000":           "make it: CREATE DATABASE ... ENCODING 'UTF8'",
	"42501":           "give the role the rights that the documentation lists",
	"53100":           "make room on the disk of PostgreSQL",
	"57014":           "a statement_timeout of the role or the database is shorter than the store's timeout",
	"26000":           "a pooler in transaction mode: leave default_query_exec_mode out of the url",
	"42P05":           "a pooler in transaction mode: leave default_query_exec_mode out of the url",
}

// code is PostgreSQL's code of the error, or empty.
func code(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// wrap says where an error comes from, and what to do about it.
func (s *Store) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	err = inOneLine(err)
	if hint := hints[code(err)]; hint != "" && !errors.Is(err, ErrNewer) {
		return fmt.Errorf("postgres %s: %s: %w (%s)", s.shown, op, err, hint)
	}
	return fmt.Errorf("postgres %s: %s: %w", s.shown, op, err)
}

// inOneLine is the error without what the client library puts before it, user
// and database, and without line breaks.
func inOneLine(err error) error {
	var connect *pgconn.ConnectError
	if !errors.As(err, &connect) {
		return err
	}
	inner := connect.Unwrap()
	if text := inner.Error(); strings.Contains(text, "\n") {
		return flat{strings.ReplaceAll(text, "\n", "; "), inner}
	}
	return inner
}

type flat struct {
	text  string
	inner error
}

func (f flat) Error() string { return f.text }
func (f flat) Unwrap() error { return f.inner }
