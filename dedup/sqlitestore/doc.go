// Package sqlitestore keeps records in one SQLite file: the store that needs
// no server. Several processes of one machine may share the file.
//
// Every method is one SQL statement, or one after a read that only spares it;
// no decision is made in Go that the statement does not make again under
// SQLite's write lock. The store's clock is SQLite's own, in milliseconds, read
// once in each statement.
//
// # What survives
//
// The file is in WAL mode with synchronous = NORMAL. What a call has written
// is in the operating system's hands when the call returns: the death of the
// process, kill -9 included, loses nothing. The death of the machine may lose
// the last moments (the file stays sound): a claim lost that way may double a
// ticket. FULL would close that gap for an fsync in every write, milliseconds
// where a claim costs microseconds, on the path of every create; a machine
// that dies takes its creates under way with it in any case, and those that
// must survive it belong in a shared store.
//
// # What it refuses
//
// WAL needs memory that all processes share, and locks that work: a file on a
// network file system has neither, and SQLite would damage it in silence. Open
// refuses it, see OnNetwork.
package sqlitestore
