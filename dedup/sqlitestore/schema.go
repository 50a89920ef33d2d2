package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	lib "modernc.org/sqlite/lib"
)

// migrations are the steps from an empty file to the present tables; the
// file's user_version says how many of them it has seen. A step that was ever
// released is never changed.
var migrations = []string{`
CREATE TABLE record (
	rule          TEXT NOT NULL,
	scope         TEXT NOT NULL,
	key           TEXT NOT NULL,
	v             INTEGER NOT NULL,
	version       INTEGER NOT NULL,
	episode       INTEGER NOT NULL,
	sends         INTEGER NOT NULL,
	sent          INTEGER NOT NULL,
	lease_until   INTEGER NOT NULL, -- this and all other times: microseconds since 1970, 0 is none
	update_until  INTEGER NOT NULL,
	claimed_at    INTEGER NOT NULL,
	sent_at       INTEGER NOT NULL,
	seen_at       INTEGER NOT NULL,
	opened_at     INTEGER NOT NULL,
	expires_at    INTEGER NOT NULL,
	keep_until    INTEGER NOT NULL,
	free_at       INTEGER NOT NULL,
	state         TEXT NOT NULL,
	holder        TEXT NOT NULL,
	update_holder TEXT NOT NULL,
	fingerprint   TEXT NOT NULL,
	suffix        TEXT NOT NULL,
	nonce         TEXT NOT NULL,    -- of the Swap that wrote this version; empty when another call did
	rest          TEXT NOT NULL,
	trail         TEXT NOT NULL,
	body          BLOB,
	prior         TEXT NOT NULL,
	prior_body    BLOB,
	PRIMARY KEY (rule, scope, key)
) STRICT;
CREATE INDEX record_end ON record (keep_until) WHERE keep_until > 0;

CREATE TABLE ticket (
	scope        TEXT NOT NULL,
	id           TEXT NOT NULL,
	rule         TEXT NOT NULL,     -- this and the next two: the record that holds the ticket,
	ref_scope    TEXT NOT NULL,
	key          TEXT NOT NULL,
	held_until   INTEGER NOT NULL,  -- until then
	closed_until INTEGER NOT NULL,  -- until then a close is kept
	PRIMARY KEY (scope, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ticket_end ON ticket (max(held_until, closed_until));
`}

// openPatience bounds how long opening waits for others that open at the same
// time: a file enters WAL mode under a lock that SQLite does not wait for.
const openPatience = 10 * time.Second

// migrate puts the file in WAL mode and brings the tables up to date.
func migrate(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	if err := patiently(ctx, func() error { return enterWAL(ctx, db) }); err != nil {
		return err
	}
	return patiently(ctx, func() error { return advance(ctx, db) })
}

func patiently(ctx context.Context, try func() error) error {
	for {
		err := try()
		if c := code(err); c != lib.SQLITE_BUSY && c != lib.SQLITE_LOCKED {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func enterWAL(ctx context.Context, db *sql.DB) error {
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("journal mode is %q where it must be wal: this file system shares no memory between processes", mode)
	}
	return nil
}

func advance(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := steps(ctx, conn); err != nil {
		// The caller's context may be over, and the lock must go in any case.
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return err
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}

func steps(ctx context.Context, conn *sql.Conn) error {
	var version int
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > len(migrations) {
		return fmt.Errorf("the file has tables of version %d, this program knows %d: a newer program has written it", version, len(migrations))
	}
	for ; version < len(migrations); version++ {
		if _, err := conn.ExecContext(ctx, migrations[version]); err != nil {
			return fmt.Errorf("tables of version %d: %w", version+1, err)
		}
		if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version+1)); err != nil {
			return err
		}
	}
	return nil
}
