package sqlitestore

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// checkpointPages is when a write itself moves the log into the file, with an
// fsync in it. It is far beyond what the keeper leaves behind, so that this
// happens only where the keeper cannot follow.
const checkpointPages = 8000

func connect(path string, o Options, connections int, readOnly bool) (*sql.DB, error) {
	pragmas := []string{
		"busy_timeout(" + strconv.FormatInt(o.Timeout.Milliseconds(), 10) + ")", // the driver ends it with the context
		"synchronous(NORMAL)",
		"wal_autocheckpoint(" + strconv.Itoa(checkpointPages) + ")",
		"trusted_schema(0)",
	}
	if o.MaxPages > 0 {
		pragmas = append(pragmas, "max_page_count("+strconv.Itoa(o.MaxPages)+")")
	}
	query := url.Values{"_pragma": pragmas, "_dqs": {"0"}, "mode": {"rw"}}
	if readOnly {
		query.Set("_query_only", "1")
	}
	name := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// code is the primary result code of an error of SQLite, or 0.
func code(err error) int {
	var failure *sqlite.Error
	if errors.As(err, &failure) {
		return failure.Code() & 0xff
	}
	return 0
}

// hinted tells the operator what to do about a file that cannot be opened.
func hinted(err error) error {
	switch code(err) {
	case lib.SQLITE_NOTADB, lib.SQLITE_CORRUPT:
		return fmt.Errorf("%w: the file is damaged or belongs to another program; move it away to begin with an empty store", err)
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		return fmt.Errorf("%w: the file and its folder must be writable for this process", err)
	case lib.SQLITE_FULL, lib.SQLITE_IOERR:
		return fmt.Errorf("%w: is the disk full, or does it fail? make room on it", err)
	default:
		return err
	}
}
