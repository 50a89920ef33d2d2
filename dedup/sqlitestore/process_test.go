package sqlitestore_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"oneticket/dedup"
	"oneticket/dedup/sqlitestore"
)

func TestOfSeveralProcessesOneWinsEachKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oneticket.db")
	var processes []*child
	for i := range 4 {
		processes = append(processes, startChild(t, "claim", path, fmt.Sprintf("process-%d", i))) // all make the file at once
	}
	for _, c := range processes {
		c.ready()
	}
	for _, c := range processes {
		if _, err := c.stdin.Write([]byte("go\n")); err != nil {
			t.Fatal(err)
		}
	}
	winners := map[string]int{}
	for _, c := range processes {
		for key, ok := c.says(); ok; key, ok = c.says() {
			winners[key]++
		}
		if err := c.cmd.Wait(); err != nil {
			t.Fatalf("%v: %s", err, c.stderr.String())
		}
	}
	for i := range childKeys {
		if n := winners[strconv.Itoa(i)]; n != 1 {
			t.Errorf("key %d has %d winners", i, n)
		}
	}
}

func TestKilledInTheMiddleOfWritingTheStoreKeepsWhatWasSettled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oneticket.db")
	store := open(t, sqlitestore.Options{Path: path})
	for round := range 8 {
		name := fmt.Sprintf("round-%d", round)
		c := startChild(t, "write", path, name)
		c.ready()
		settled := 0
		for range 20 + 37*round {
			if _, ok := c.says(); !ok {
				t.Fatalf("the child ended: %s", c.stderr.String())
			}
			settled++
		}
		if err := c.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for _, ok := c.says(); ok; _, ok = c.says() {
			settled++ // it was told before the kill
		}
		_ = c.cmd.Wait() // killed

		keepsWhatWasSettled(t, store, name, settled)
		another := open(t, sqlitestore.Options{Path: path})
		keepsWhatWasSettled(t, another, name, settled)
	}
	sound(t, path)
}

func keepsWhatWasSettled(t *testing.T, store *sqlitestore.Store, rule string, settled int) {
	t.Helper()
	open := 0
	err := store.List(t.Context(), rule, func(_ dedup.Ref, rec dedup.Record) bool {
		if rec.State == dedup.Open {
			open++
		}
		return true
	})
	// One more may be settled of which the child could not tell.
	if err != nil || open < settled || open > settled+1 {
		t.Fatalf("%s: %d are open, %d were settled; %v", rule, open, settled, err)
	}
}

// sound lets SQLite itself check the file.
func sound(t *testing.T, path string) {
	t.Helper()
	db := raw(t, path)
	var verdict string
	if err := db.QueryRowContext(context.Background(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Fatalf("integrity: %q, %v", verdict, err)
	}
}
