package deadletter

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// format is the version of the tables, kept in the file.
const format = 1

// The body has a table of its own, so that a list, and a repeated create,
// touch only the small one. An id is never given twice.
const schema = `
CREATE TABLE letters (
	n       INTEGER PRIMARY KEY AUTOINCREMENT,
	rule    TEXT NOT NULL,
	scope   TEXT NOT NULL,
	key     TEXT NOT NULL,
	episode INTEGER NOT NULL,
	digest  BLOB NOT NULL,
	at      INTEGER NOT NULL, -- milliseconds since 1970
	size    INTEGER NOT NULL, -- bytes of letter and body
	letter  BLOB NOT NULL,    -- JSON
	UNIQUE (rule, scope, key, episode, digest)
);
CREATE INDEX letters_by_age ON letters (at, n, size);
CREATE TABLE bodies (n INTEGER PRIMARY KEY, body BLOB NOT NULL);
PRAGMA user_version = 1;`

// checkpointPages is when a Put itself moves the log into the file, with an
// fsync in it; the keeper does so long before.
const checkpointPages = 16000

func connect(path string, connections int) (*sql.DB, error) {
	query := url.Values{"_txlock": {"immediate"}, "_dqs": {"0"}, "_pragma": {
		"busy_timeout(5000)", "synchronous(NORMAL)", "secure_delete(1)", "trusted_schema(0)",
		fmt.Sprintf("wal_autocheckpoint(%d)", checkpointPages),
	}}
	name := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// prepare puts the file in WAL mode and makes its tables.
func prepare(ctx context.Context, db *sql.DB) error {
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > format {
		return fmt.Errorf("the file has tables of version %d, this program knows %d: a newer program has written it", version, format)
	}
	if version == 0 { // only an empty file takes this one
		if _, err := db.ExecContext(ctx, "PRAGMA auto_vacuum = INCREMENTAL"); err != nil {
			return err
		}
	}
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("journal mode is %q where it must be wal: put the file on a local disk", mode)
	}
	if version == format {
		return nil
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	return tx.Commit()
}

// hinted tells the operator what to do about a file that cannot be used.
func hinted(err error) error {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return err
	}
	switch failure.Code() & 0xff {
	case lib.SQLITE_NOTADB, lib.SQLITE_CORRUPT:
		return fmt.Errorf("%w: the file is damaged or belongs to another program; move it away to begin with an empty one", err)
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		return fmt.Errorf("%w: the file and its folder must be writable for this process", err)
	case lib.SQLITE_FULL:
		return fmt.Errorf("%w: make room on the disk", err)
	default:
		return err
	}
}
