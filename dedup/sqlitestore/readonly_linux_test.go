package sqlitestore_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"oneticket/dedup/sqlitestore"
)

func TestAFileThatMayNotBeWrittenIsRefusedWithAHint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oneticket.db")
	store := open(t, sqlitestore.Options{Path: path})
	claim(t, store, 1)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	for name, mode := range map[string]os.FileMode{path: 0o444, dir: 0o555, filepath.Dir(dir): 0o755} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	err := unprivileged(func() error {
		store, err := sqlitestore.Open(context.Background(), sqlitestore.Options{Path: path})
		if err == nil {
			_ = store.Close() // the test fails already
		}
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "must be writable") {
		t.Fatalf("%v", err)
	}
}

// unprivileged runs f on a thread to which the modes of files apply, also
// where the tests run as root. The thread ends with it.
func unprivileged(f func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		if os.Geteuid() == 0 {
			if err := syscall.Setfsuid(65534); err != nil {
				result <- err
				return
			}
		}
		result <- f()
	}()
	return <-result
}
