package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"oneticket/dedup/deadletter"
	"oneticket/dedup/sqlitestore"
)

// openLetters opens the file of the dead letters. One that is damaged ends
// nothing: it is kept beside, for a person to look at, and a new one is begun.
func openLetters(ctx context.Context, o deadletter.Options, log *slog.Logger) (*deadletter.Box, error) {
	box, err := deadletter.Open(ctx, o)
	if err == nil || !sqlitestore.Damaged(err) {
		return box, err
	}
	aside := o.Path + ".damaged-" + time.Now().UTC().Format("20060102T150405Z")
	if unmoved := putAside(o.Path, aside); unmoved != nil {
		return nil, fmt.Errorf("%w; moving it away: %w", err, unmoved)
	}
	log.Error("the file of the dead letters is damaged: what it holds is not replayed, and a new one is begun",
		"error", err, "kept", aside, "do", fmt.Sprintf("sqlite3 %s .recover shows what can be read of it", aside))
	return deadletter.Open(ctx, o)
}

// putAside moves a file of SQLite, its log included.
func putAside(path, aside string) error {
	for _, tail := range []string{"-shm", "-wal", ""} {
		if err := os.Rename(path+tail, aside+tail); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}
