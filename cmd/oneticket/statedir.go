package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"oneticket/config"
	"oneticket/extproc/envoy"
)

// A stateDir is the folder of one running process: two would take each
// other's socket.
type stateDir struct {
	path string // absolute
	lock *os.File
}

func newStateDir(cfg *config.Config) (*stateDir, error) {
	path, err := filepath.Abs(cfg.StateDir)
	if err != nil {
		return nil, fmt.Errorf("state_dir %q: %w", cfg.StateDir, err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, unwritable(err)
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, unwritable(err)
	}
	// The kernel lets the lock go when the process dies, however it dies.
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("state_dir %s is in use by another oneticket: give each its own state_dir (several may share one store)", path)
		}
		return nil, fmt.Errorf("state_dir: lock %s: %w", lock.Name(), err)
	}
	return &stateDir{path: path, lock: lock}, nil
}

func unwritable(err error) error {
	return fmt.Errorf("state_dir: %w (set state_dir to a folder that this user may write)", err)
}

func (s *stateDir) release() error { return s.lock.Close() }

// socket is where the filter listens when nothing else is said.
func (s *stateDir) socket(log *slog.Logger) (string, error) {
	path, note, err := envoy.SocketPath(s.path, "oneticket.sock")
	if note != "" {
		log.Warn(note)
	}
	return path, err
}
