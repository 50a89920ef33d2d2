package deadletter_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oneticket/dedup/deadletter"
)

// copied is the file and its log as they are on the disk at this moment, as
// after the death of the machine.
func copied(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), deadletter.FileName)
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + end)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+end, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestATailThatACrashHasSpoiltCostsTheLastLettersOnly: the log ends in the
// middle of a frame, or in what was never written.
func TestATailThatACrashHasSpoiltCostsTheLastLettersOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), deadletter.FileName)
	box := open(t, deadletter.Options{Path: path, SyncEvery: time.Hour}) // the log is not folded
	for i := range 20 {
		put(t, box, letter(i))
	}
	whole, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	for i := 20; i < 40; i++ {
		put(t, box, letter(i))
	}
	for _, c := range []struct {
		name  string
		spoil func(log []byte) []byte
	}{
		{"cut off", func(log []byte) []byte { return log[:len(log)-100] }},
		{"zeros", func(log []byte) []byte {
			return append(log[:len(log)-5000], bytes.Repeat([]byte{0}, 5000)...)
		}},
		{"noise", func(log []byte) []byte {
			for i := len(log) - 5000; i < len(log); i++ {
				log[i] ^= 0x5a
			}
			return log
		}},
		{"half of it", func(log []byte) []byte { return log[:whole.Size()] }},
		{"something behind it", func(log []byte) []byte { return append(log, "half a frame"...) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := copied(t, path)
			log, err := os.ReadFile(path + "-wal")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path+"-wal", c.spoil(log), 0o600); err != nil {
				t.Fatal(err)
			}
			after := open(t, deadletter.Options{Path: path})
			there := keys(t, after)
			if len(there) < 20 {
				t.Fatalf("%d letters are left", len(there))
			}
			for i, key := range there { // no gap: what is lost is the end
				if l := get(t, after, idOf(i+1)); key != keyOf(i) || !bytes.Equal(l.Body, letter(i).Body) {
					t.Errorf("letter %d is %s, %q", i, key, l.Body)
				}
			}
			put(t, after, letter(99))
		})
	}
}

// TestTheLogIsFoldedIntoTheFile: the keeper has folded the log into
// the file a short while after the last Put.
func TestTheLogIsFoldedIntoTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), deadletter.FileName)
	box := open(t, deadletter.Options{Path: path, SyncEvery: time.Millisecond})
	put(t, box, letter(1))
	deadline := time.Now().Add(time.Minute)
	for {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, letter(1).Body) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the letter is in the log alone")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestTheFileGivesRoomBackAndForgetsWhatWasRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), deadletter.FileName)
	box := open(t, deadletter.Options{Path: path, SyncEvery: time.Millisecond})
	for i := range 8 {
		l := letter(i)
		l.Body = bytes.Repeat([]byte("a body of note "), 1<<16)
		put(t, box, l)
	}
	if n, err := box.DeleteAll(t.Context()); n != 8 || err != nil {
		t.Fatalf("removed %d: %v", n, err)
	}
	deadline := time.Now().Add(time.Minute)
	for i := 100; ; i++ {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) < 4<<20 && !bytes.Contains(text, []byte("a body of note")) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the file still has %d bytes", len(text))
		}
		put(t, box, letter(100)) // the keeper works after a Put
		time.Sleep(5 * time.Millisecond)
	}
}

func TestAFileThatIsNoneOfOursIsRefusedAndLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), deadletter.FileName)
	text := []byte(strings.Repeat("these are not letters\n", 400))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := deadletter.Open(t.Context(), deadletter.Options{Path: path})
	if err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("saw %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, text) {
		t.Errorf("the file was changed: %v", err)
	}
}
