package sqlitestore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	lib "modernc.org/sqlite/lib"
)

// Damaged reports whether the error says that the file is not what was written
// to it. What stands in its sound parts may still be read.
func Damaged(err error) bool {
	c := code(err)
	return c == lib.SQLITE_CORRUPT || c == lib.SQLITE_NOTADB
}

// passing are codes of a file that was usable and may be so again.
var passing = []int{
	lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB, lib.SQLITE_FULL, lib.SQLITE_IOERR, lib.SQLITE_NOMEM,
	lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL,
}

// spent are errors of a disk that is full or broken.
var spent = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EIO, syscall.EMFILE, syscall.ENFILE, context.DeadlineExceeded}

// Broken reports whether Open failed over the state of a file that is in its
// right place: damaged, locked for too long, on a disk that is full or fails.
// It may be opened later. Any other error is a mistake of whoever named the
// file: no such folder, no right to write, a network file system, a newer
// program's tables.
func Broken(path string, err error) bool {
	if slices.ContainsFunc(spent, func(one error) bool { return errors.Is(err, one) }) {
		return true
	}
	c := code(err)
	return slices.Contains(passing, c) || c == lib.SQLITE_CANTOPEN && noRoom(filepath.Dir(path))
}

// noRoom reports whether the folder takes no file because the disk is full:
// SQLite does not say why it could not make one.
func noRoom(folder string) bool {
	f, err := os.CreateTemp(folder, ".oneticket-*")
	if err != nil {
		return slices.ContainsFunc(spent, func(one error) bool { return errors.Is(err, one) })
	}
	_ = f.Close() // nothing was written to it
	return os.Remove(f.Name()) != nil
}
