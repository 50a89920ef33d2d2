package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"oneticket/config"
	"oneticket/dedup"
	"oneticket/dedup/deadletter"
)

// A lostFile is a file that is open in this process and no longer what stands
// at its path: it was removed, or another was put there. What the process keeps
// in it goes on to hold for the process, and for nobody else: opening what is
// at the path now would forget every open fault at once.
type lostFile struct {
	path  string
	means string // what will be lost with it
	first os.FileInfo
}

// lostFiles are those of one process.
type lostFiles struct{ all []*lostFile }

// newLostFiles takes the files as they are when everything is open.
func newLostFiles(cfg *config.Config, dir *stateDir, store dedup.Store, _ *letterBox) *lostFiles {
	files := []*lostFile{{
		path:  filepath.Join(dir.path, deadletter.FileName),
		means: "a restart forgets the dead letters: replay them before",
	}}
	if cfg.Store.Kind == "sqlite" && !isLater(store) { // one that is not open may be moved away
		files = append(files, &lostFile{
			path:  sqlitePath(cfg.Store, dir),
			means: "this process goes on with what it knows, others do not see it, and a restart forgets it: each open fault may then get a second ticket",
		})
	}
	found := &lostFiles{}
	for _, f := range files {
		if info, err := os.Stat(f.path); err == nil {
			f.first = info
			found.all = append(found.all, f)
		}
	}
	return found
}

// is looks now. A file that cannot be looked at is not known to be lost.
func (f *lostFile) is() bool {
	info, err := os.Stat(f.path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !os.SameFile(f.first, info)
}

func (f *lostFile) String() string {
	return fmt.Sprintf("%s was removed or replaced while it is in use: %s", f.path, f.means)
}

// degraded says which are lost.
func (l *lostFiles) degraded() []string {
	var sentences []string
	for _, f := range l.all {
		if f.is() {
			sentences = append(sentences, f.String())
		}
	}
	return sentences
}

// lookForFiles is how often somebody looks who was not asked.
const lookForFiles = 2 * time.Second

// run says in the log what is lost, once each time.
func (l *lostFiles) run(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(lookForFiles)
	defer tick.Stop()
	said := map[*lostFile]bool{}
	for {
		for _, f := range l.all {
			lost := f.is()
			if lost && !said[f] {
				log.Error("a file is gone", "path", f.path, "means", f.means)
			}
			said[f] = lost
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
