package sqlitestore_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/sqlitestore"
)

func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestNobodyElseMayReadTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one ticket?#%41.db") // and its name is taken as it is
	store := open(t, sqlitestore.Options{Path: path})
	claim(t, store, 1)
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has mode %o, want 600", name, mode)
		}
	}
}

func TestAFileThatCannotBeAStoreIsRefusedWithAHint(t *testing.T) {
	for _, c := range []struct {
		name string
		path func(dir string) string
		says []string
	}{
		{"no path", func(string) string { return "" }, []string{"no path"}},
		{"no folder", func(dir string) string { return filepath.Join(dir, "missing", "x.db") }, []string{"is not there", "mkdir"}},
		{"a file for a folder", func(dir string) string { return filepath.Join(write(t, dir, "f", "x"), "x.db") }, []string{"is not a folder"}},
		{"a folder for a file", func(dir string) string { return dir }, []string{"writable"}},
		{"another program's file", func(dir string) string {
			return write(t, dir, "x.db", strings.Repeat("not a database, but long enough for one ", 50))
		}, []string{"damaged or belongs to another program", "move it away"}},
		{"a newer program's file", func(dir string) string {
			path := filepath.Join(dir, "x.db")
			execute(t, raw(t, path), "PRAGMA user_version = 1000")
			return path
		}, []string{"version 1000", "newer program"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := c.path(t.TempDir())
			_, err := sqlitestore.Open(t.Context(), sqlitestore.Options{Path: path})
			if err == nil {
				t.Fatal("it was opened")
			}
			if broken := sqlitestore.Broken(path, err); broken != (c.name == "another program's file") {
				t.Errorf("broken: %v: %v", broken, err) // only what may have been a store is
			}
			for _, want := range append(c.says, "sqlite "+path) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func execute(t *testing.T, db *sql.DB, text string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

func TestADamagedFileIsAnErrorOfEveryCallAndNothingHangs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oneticket.db")
	store := open(t, sqlitestore.Options{Path: path})
	for i := range 50 {
		claim(t, store, i)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xff}, int(info.Size())-4096), 4096); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	damaged, err := sqlitestore.Open(t.Context(), sqlitestore.Options{Path: path})
	if err != nil {
		return // refused at once is as good
	}
	defer damaged.Close()
	if _, err := damaged.Claim(t.Context(), childRef(1), offerOf("h", childRef(1))); err == nil || errors.Is(err, dedup.ErrConflict) {
		t.Fatalf("a claim on a damaged file: %v", err)
	}
}

func TestOnAFullDiskCallsFailAndReadsGoOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oneticket.db")
	store := open(t, sqlitestore.Options{Path: path, MaxPages: 40})
	var failed error
	made := 0
	for ; failed == nil && made < 10_000; made++ {
		_, failed = store.Claim(t.Context(), childRef(made), offerOf("h", childRef(made)))
	}
	if failed == nil || errors.Is(failed, dedup.ErrConflict) || !strings.Contains(failed.Error(), "full") {
		t.Fatalf("after %d claims on a full disk: %v", made, failed)
	}
	if !sqlitestore.Broken(path, failed) || sqlitestore.Damaged(failed) {
		t.Errorf("a full disk is taken for a mistake, or for damage: %v", failed)
	}
	if found, err := store.Get(t.Context(), childRef(0)); err != nil || found.Record.Holder != "h" {
		t.Fatalf("reading from a full disk: %+v, %v", found.Record, err)
	}
	if found, err := store.Claim(t.Context(), childRef(0), offerOf("other", childRef(0))); err != nil || found.Won {
		t.Fatalf("a duplicate on a full disk: %+v, %v", found, err)
	}
	sound(t, path)
}

func TestAnotherWriterIsWaitedForAsLongAsTheContextLasts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oneticket.db")
	store := open(t, sqlitestore.Options{Path: path, Timeout: time.Hour})
	claim(t, store, 1)
	release := holdWriteLock(t, path)
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := store.Claim(ctx, childRef(2), offerOf("h", childRef(2))); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a claim beside a writer that does not end: %v", err)
	}
	if found, err := store.Get(t.Context(), childRef(1)); err != nil || found.Record.Version != 1 {
		t.Fatalf("a read beside it: %+v, %v", found, err)
	}
}

func TestAnotherWriterIsWaitedForUntilTheTimeout(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oneticket.db")
	store := open(t, sqlitestore.Options{Path: path, Timeout: 20 * time.Millisecond})
	release := holdWriteLock(t, path)
	_, err := store.Claim(t.Context(), childRef(2), offerOf("h", childRef(2)))
	release()
	if err == nil || !strings.Contains(err.Error(), "locked") {
		t.Fatalf("a claim beside a writer that does not end: %v", err)
	}
	claim(t, store, 2)
}

func TestManyOpenOneNewFileAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oneticket.db")
	errs := make(chan error)
	for range 8 {
		go func() {
			store, err := sqlitestore.Open(t.Context(), sqlitestore.Options{Path: path, Timeout: 20 * time.Second})
			if err == nil {
				err = store.Close()
			}
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	sound(t, path)
}

func TestARefireDoesNotWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oneticket.db")
	store := open(t, sqlitestore.Options{Path: path})
	found := claim(t, store, 1)
	if _, err := store.Swap(t.Context(), childRef(1), 1, openOf(found), "n"); err != nil {
		t.Fatal(err)
	}
	release := holdWriteLock(t, path) // a write would fail
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for i := range 100 {
		again, err := store.Claim(ctx, childRef(1), offerOf(fmt.Sprint("refire-", i), childRef(1)))
		if err != nil || again.Won || again.Record.Version != 2 {
			t.Fatalf("%+v, %v", again, err)
		}
	}
}

func claim(t *testing.T, store *sqlitestore.Store, i int) dedup.Found {
	t.Helper()
	found, err := store.Claim(t.Context(), childRef(i), offerOf("h", childRef(i)))
	if err != nil || !found.Won {
		t.Fatalf("claim %d: won %v, %v", i, found.Won, err)
	}
	return found
}
