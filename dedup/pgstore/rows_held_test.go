package pgstore_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"oneticket/dedup"
	"oneticket/dedup/pgstore/pgtest"
)

// inTransaction is another program in the middle of a transaction; the connection's
// end is the transaction's.
func inTransaction(t *testing.T, s *pgtest.Server, statement string) (end func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.SocketURL())
	if err != nil {
		t.Fatal(err)
	}
	end = func() { _ = conn.Close(context.Background()) } // it may have ended with its server
	t.Cleanup(end)
	if _, err := conn.PgConn().Exec(t.Context(), "BEGIN; "+statement).ReadAll(); err != nil {
		t.Fatal(err)
	}
	return end
}

// holdRow keeps the row of a record from being written.
func holdRow(t *testing.T, s *pgtest.Server, schema string, ref dedup.Ref) (release func()) {
	t.Helper()
	return inTransaction(t, s, fmt.Sprintf("SELECT FROM %q.record WHERE key = '%s' FOR UPDATE", schema, ref.Key))
}

// waiting waits until somebody waits for a lock.
func waiting(t *testing.T, s *pgtest.Server) {
	t.Helper()
	eventually(t, "somebody waits", func() bool {
		return pgtest.Ask[int](t, s, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") > 0
	})
}
