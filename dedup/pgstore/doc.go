// Package pgstore keeps records in PostgreSQL, 13 or newer. Several machines
// may share it.
//
// Every method but List is one call of one function in the database, outside
// any transaction: one statement, one round trip, one atomic step. A claim that
// finds nothing to write reads one row and waits for nobody; every other call
// takes the lock of its row, reads the clock (clock_timestamp(), microseconds)
// and decides then. No call ever holds the locks of two records that others
// wait for, so that none can deadlock.
//
// # What a call's end means
//
// A call that was told of an error by the server has written nothing: the
// statement was rolled back. A call whose reply was lost, or whose time was
// over, may have written. It is repeated in both cases, within its timeout and
// a few times at most: it recognises what it wrote itself (Claim by the holder,
// Swap by the nonce, the others by being the same twice).
//
// A call that ends without a reply closes its connection, and the server is
// asked to cancel the statement. No connection with half a reply is used again.
//
// # What survives
//
// PostgreSQL answers when the record is on its disk, unless synchronous_commit
// is off, and on its standbys, if synchronous_standby_names names some. A
// failover to a standby that was behind loses the records of the last moments;
// their tickets may get a second one. Check reads the settings and says. A
// standby's records are never believed: a claim or a read that reaches one is
// an error.
//
// # What is where
//
// All is in one schema, Options.Schema ("oneticket"). It is made and brought up
// to date by Start under an advisory lock. A step of it that was ever released
// is never changed, and no step breaks the functions that an older program
// calls, so that replicas can be replaced one after another; a program that is
// older than the schema is refused when it starts, see ErrNewer.
//
//	oneticket.record  a row for each record; its columns are those of recordjson
//	oneticket.ticket  the record that holds a ticket, or a kept close
//	oneticket.meta    the version of the schema, and the name of this life of it
//
// What is over is removed by every replica, a bounded number of rows at a time,
// off the path.
//
// # Rights
//
// The role that the url names needs CONNECT and CREATE on the database, or a
// schema that it owns. A role that only runs calls in a schema that another
// one has made and brings up to date needs:
//
//	GRANT USAGE ON SCHEMA oneticket TO role;
//	GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA oneticket TO role;
//	GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA oneticket TO role;
//
// # Behind a pooler
//
// Nothing of a connection is relied on: no named statement, no setting, no lock
// beyond a transaction. PgBouncer may be in transaction mode, whatever its
// version. With default_query_exec_mode=cache_statement in the url, statements
// are prepared by name, which spares the server some work for each call; a
// pooler must then keep them (PgBouncer 1.21 with max_prepared_statements), or
// there must be none.
package pgstore
