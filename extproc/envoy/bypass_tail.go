package envoy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"time"
)

// A BypassTail reads the bypass log from where the last one ended, and goes on
// while Envoy writes.
type BypassTail struct {
	StateDir string
	Log      *slog.Logger // nil discards
	// Each gets every Bypass, in order. What it got is noted after it returned:
	// a program that is killed in between reports the last few again when it
	// starts, and loses none.
	Each func(Bypass)
	// Reopen makes Envoy open the log anew, see Child.ReopenLogs. With it the
	// log is set aside as bypass.ndjson.1 when it is larger than Most (default
	// 64 MiB); without it the log grows, or somebody else rotates it so.
	Reopen func(context.Context) error
	Most   int64
	Every  time.Duration // between two looks; default 250 ms

	read     positions
	reopens  bool     // Envoy was not told yet of the last rotation
	complain []string // what was said already of files that cannot be read
}

const (
	rotatedSuffix  = ".1"
	positionSuffix = ".read"
	bypassChunk    = 256 << 10 // is read at once
	bypassLine     = 64 << 10  // longer ones are no entries of Envoy's
)

func (b *BypassTail) path() string { return filepath.Join(b.StateDir, BypassLog) }

// Run reads until ctx is over, and then once more. The error is that the
// position cannot be kept; a log that is not there, or cannot be read for now,
// is none.
func (b *BypassTail) Run(ctx context.Context) error {
	if b.Log == nil {
		b.Log = slog.New(slog.DiscardHandler)
	}
	b.Most = cmp.Or(b.Most, 64<<20)
	read, err := loadPositions(b.path() + positionSuffix)
	if err != nil {
		b.Log.Warn("the place in the bypass log is lost, all of it is reported again", "error", err)
	}
	b.read = read
	if _, err := os.Stat(b.path() + rotatedSuffix); err == nil {
		b.reopens = b.Reopen != nil // the last tail may have ended before it told Envoy
	}
	tick := time.NewTicker(cmp.Or(b.Every, 250*time.Millisecond))
	defer tick.Stop()
	for {
		if err := b.look(ctx); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return b.look(context.WithoutCancel(ctx))
		}
	}
}

// look reads what is new. The older file comes first, since Envoy writes to it
// until it has opened the new one.
func (b *BypassTail) look(ctx context.Context) error {
	seen := positions{}
	for _, path := range []string{b.path() + rotatedSuffix, b.path()} {
		id, err := b.readFile(path)
		switch {
		case err == nil && id != "":
			seen[id] = b.read[id]
		case errors.As(err, new(*positionError)):
			return err
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			b.once("the bypass log cannot be read", err)
			maps.Copy(seen, b.read) // perhaps it can be later
		}
	}
	if !maps.Equal(seen, b.read) {
		b.read = seen
		if err := b.keep(); err != nil {
			return err
		}
	}
	return b.rotate(ctx)
}

// once keeps what fails on every look from filling the log.
func (b *BypassTail) once(what string, err error) {
	for _, said := range b.complain {
		if said == err.Error() {
			return
		}
	}
	b.complain = append(b.complain[max(0, len(b.complain)-9):], err.Error())
	b.Log.Warn(what, "error", err)
}

// A positionError ends the tail: going on would report everything again after
// every start.
type positionError struct{ error }

func (e *positionError) Unwrap() error { return e.error }

func (b *BypassTail) keep() error {
	if err := b.read.save(b.path() + positionSuffix); err != nil {
		return &positionError{err}
	}
	return nil
}

// readFile reports the new entries of one file, and notes how far it came.
func (b *BypassTail) readFile(path string) (id string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if id, err = identity(f); err != nil || id == "" {
		return "", err
	}
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	at := min(b.read[id], info.Size())
	for chunk := make([]byte, bypassChunk); ; {
		n, err := f.ReadAt(chunk, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("bypass log: %w", err)
		}
		used := b.report(chunk[:n])
		if used == 0 {
			return id, nil
		}
		at += int64(used)
		b.read[id] = at
		if err := b.keep(); err != nil {
			return "", err
		}
	}
}

// report hands on the entries of whole lines, and returns how many bytes those
// have.
func (b *BypassTail) report(chunk []byte) (used int) {
	for {
		end := bytes.IndexByte(chunk[used:], '\n')
		if end < 0 {
			break
		}
		b.reportLine(chunk[used : used+end])
		used += end + 1
	}
	if used == 0 && len(chunk) > bypassLine {
		return len(chunk) // the rest of it will be no entry either
	}
	return used
}

func (b *BypassTail) reportLine(line []byte) {
	entry, err := parseBypass(line)
	if err != nil {
		b.Log.Warn("a line of the bypass log is no entry", "error", err)
		return
	}
	if entry.Sent > 0 {
		b.Each(entry)
	}
}

// rotate sets a large log aside.
func (b *BypassTail) rotate(ctx context.Context) error {
	if b.Reopen == nil {
		return nil
	}
	info, err := os.Stat(b.path())
	if err == nil && info.Size() > b.Most && !b.reopens {
		if err = b.setAside(); err != nil {
			b.once("the bypass log cannot be rotated", err)
			return nil
		}
		b.reopens = true
	}
	if b.reopens {
		if err := b.Reopen(ctx); err != nil {
			b.once("envoy does not open the bypass log anew, and goes on in the old one", err)
			return nil
		}
		b.reopens = false
	}
	return nil
}

// setAside replaces the file before, which is read to its end: Envoy writes to
// the new one already.
func (b *BypassTail) setAside() error {
	if _, err := b.readFile(b.path() + rotatedSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(b.path(), b.path()+rotatedSuffix); err != nil {
		return err
	}
	// Envoy would make it readable to all.
	f, err := os.OpenFile(b.path(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
