package deadletter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// sweepEvery is how often letters are looked at for their age.
const sweepEvery = time.Minute

// A keeper does what no Put waits for: it brings the log to the disk, moves
// it into the file, and drops what is too old.
type keeper struct {
	box   *Box
	dirty chan struct{}
	end   chan struct{}
	ended chan struct{}
	log   *os.File // SQLite's, opened once more for its fsync alone
}

func newKeeper(b *Box) *keeper {
	k := &keeper{box: b, dirty: make(chan struct{}, 1), end: make(chan struct{}), ended: make(chan struct{})}
	go k.run()
	return k
}

// wake says that there is something to bring to the disk.
func (k *keeper) wake() {
	select {
	case k.dirty <- struct{}{}:
	default: // it is awake
	}
}

func (k *keeper) run() {
	defer close(k.ended)
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for {
		select {
		case <-k.end:
			return
		case <-sweep.C:
			k.report(k.box.Sweep(context.Background()))
		case <-k.dirty:
			if !k.pause() {
				return
			}
			k.report(k.sync())
			k.report(k.fold())
		}
	}
}

// pause lets letters gather, so that one fsync serves them all.
func (k *keeper) pause() bool {
	gather := time.NewTimer(k.box.o.SyncEvery)
	defer gather.Stop()
	select {
	case <-gather.C:
		return true
	case <-k.end:
		return false
	}
}

// sync is an fsync of the log through a descriptor of its own, so that no
// write waits for it. SQLite holds no locks on the log that closing this
// descriptor could drop, and keeps the file while it is open.
func (k *keeper) sync() error {
	if k.log == nil {
		log, err := os.OpenFile(k.box.o.Path+"-wal", os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // nothing is written yet
		}
		if err != nil {
			return err
		}
		k.log = log
		if err := syncFolder(filepath.Dir(k.box.o.Path)); err != nil {
			return err
		}
	}
	return k.log.Sync()
}

// syncFolder makes the names of new files safe.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// fold moves the log into the file and gives free room back, as far as no
// reader is in the way.
func (k *keeper) fold() error {
	ctx, cancel := context.WithTimeout(context.Background(), putPatience)
	defer cancel()
	if _, err := k.box.readers.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		return err
	}
	var free int
	if err := k.box.readers.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&free); err != nil || free < freePages {
		return err
	}
	k.box.mu.Lock()
	defer k.box.mu.Unlock()
	_, err := k.box.writer.ExecContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", freePages))
	return err
}

// freePages is how many pages of 4 KiB the file may have to spare.
const freePages = 256

func (k *keeper) report(err error) {
	if err != nil {
		k.box.o.OnError(fmt.Errorf("dead letters %s: %w", k.box.o.Path, hinted(err)))
	}
}

// close ends the keeper and brings the rest to the disk.
func (k *keeper) close() error {
	close(k.end)
	<-k.ended
	err := k.sync()
	if k.log != nil {
		err = errors.Join(err, k.log.Close())
	}
	return err
}
