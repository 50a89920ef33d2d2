package main_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// fill makes the disk full for the files of oneticket, and not for those of its
// Envoy: no file grows. empty makes room again.
func (s *sidecar) fill()  { s.roomFor("1") }
func (s *sidecar) empty() { s.roomFor("unlimited") }

func (s *sidecar) roomFor(bytes string) {
	s.t.Helper()
	out, err := exec.Command("prlimit", "--pid", strconv.Itoa(s.cmd.Process.Pid), "--fsize="+bytes+":unlimited").CombinedOutput()
	if err != nil {
		s.t.Fatalf("prlimit: %v: %s", err, out)
	}
}

// says waits until /ready has the words.
func (s *sidecar) says(t *testing.T, words string) {
	t.Helper()
	waitFor(t, "/ready to say "+words, func() bool { return strings.Contains(strings.Join(s.degraded(t), "\n"), words) })
}

// passes sends creates of new faults and expects each to reach the desk, and to
// be counted.
func (s *sidecar) passes(t *testing.T, d *desk, element string) {
	t.Helper()
	client, before, counted := newClient(t), d.creates.Load(), s.metric("oneticket_unkeyed_total", `why="store_down"`)
	const creates = 5
	for i := range creates {
		a := s.post(client, fault(element, i))
		if a.status != 201 || a.replayed || !strings.HasPrefix(a.decision(), "pass") {
			t.Errorf("saw %d %q (%s)", a.status, a.body, a.decision())
		}
	}
	if got := d.creates.Load() - before; got != creates {
		t.Errorf("%d creates reached the ticket system, want %d", got, creates)
	}
	if got := s.metric("oneticket_unkeyed_total", `why="store_down"`) - counted; got != creates {
		t.Errorf("%v were counted, want %d", got, creates)
	}
}

// guards sends one fault twice and expects one ticket.
func (s *sidecar) guards(t *testing.T, element string) {
	t.Helper()
	client := newClient(t)
	first, again := s.post(client, fault(element, 0)), s.post(client, fault(element, 1))
	if first.status != 201 || !again.replayed || again.body != first.body {
		t.Errorf("saw %d %q (%s) and %d %q (%s)", first.status, first.body, first.decision(), again.status, again.body, again.decision())
	}
}

// TestTheDiskOfTheOnlyStoreIsFull for a while, under way.
func TestTheDiskOfTheOnlyStoreIsFull(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", "")
	s.start()
	client := newClient(t)
	known := s.post(client, fault("known", 0))
	s.guards(t, "known-too")
	s.fill()
	s.passes(t, d, "core-1")
	s.says(t, "is out of reach since")
	if a := s.post(client, fault("known", 1)); a.body != known.body || !a.replayed {
		t.Errorf("a re-fire of an open fault saw %d %q (%s)", a.status, a.body, a.decision())
	}
	s.empty()
	s.guards(t, "core-1")
	if said := s.degraded(t); len(said) > 0 {
		t.Errorf("with room again /ready says %q", said)
	}
	s.end(syscall.SIGTERM)
}

// damages are what can happen to a file of SQLite that is closed.
var damages = map[string]func(t *testing.T, f *os.File, size int64){
	"garbage in the header": func(t *testing.T, f *os.File, _ int64) { scribble(t, f, 0, 100) },
	"truncated": func(t *testing.T, f *os.File, size int64) {
		if err := f.Truncate(size/2 + 100); err != nil {
			t.Fatal(err)
		}
	},
	"a flipped page": func(t *testing.T, f *os.File, _ int64) { scribble(t, f, 4096, 4096) }, // the root of the records
}

func scribble(t *testing.T, f *os.File, at, size int64) {
	t.Helper()
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, int(size)), at); err != nil {
		t.Fatal(err)
	}
}

func damage(t *testing.T, path string, how func(*testing.T, *os.File, int64)) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	how(t, f, info.Size())
}

// moveAway does what the operator is told to do.
func moveAway(t *testing.T, path string) {
	t.Helper()
	for _, tail := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(path+tail, path+".damaged"+tail); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
}

// TestTheFileOfTheOnlyStoreIsDamaged while oneticket is down: it starts, creates
// pass, and it says so. What can be opened no more is opened anew as soon as the
// file was moved away.
func TestTheFileOfTheOnlyStoreIsDamaged(t *testing.T) {
	for name, how := range damages {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			s := newSidecar(t, d, "", "")
			s.start()
			for i := range 3 {
				s.guards(t, fmt.Sprint("known-", i))
			}
			s.end(syscall.SIGTERM)
			path := filepath.Join(s.dir, "state", "oneticket.db")
			damage(t, path, how)
			s.start()
			s.passes(t, d, "core-1")
			s.says(t, "move")
			if s.metric("oneticket_store_up", `store="sqlite"`) != 0 {
				t.Error("the store is up")
			}
			if strings.Contains(strings.Join(s.degraded(t), "\n"), "end oneticket") {
				s.end(syscall.SIGTERM)
				moveAway(t, path)
				s.start()
			} else {
				moveAway(t, path)
			}
			waitFor(t, "the new file", func() bool { return len(s.degraded(t)) == 0 })
			s.guards(t, "core-1")
			s.end(syscall.SIGTERM)
		})
	}
}

// TestTheFileOfTheOnlyStoreIsDamagedUnderWay: whatever of it is in use still,
// no create waits or fails for it.
func TestTheFileOfTheOnlyStoreIsDamagedUnderWay(t *testing.T) {
	for name, how := range damages {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			s := newSidecar(t, d, "", "")
			s.start()
			s.guards(t, "known")
			damage(t, filepath.Join(s.dir, "state", "oneticket.db"), how)
			client := newClient(t)
			for i := range 200 {
				element := fmt.Sprint("core-", i)
				if a := s.post(client, fault(element, i)); a.status != 201 || len(d.of(element)) == 0 {
					t.Fatalf("saw %d %q (%s)", a.status, a.body, a.decision())
				}
			}
			s.end(syscall.SIGTERM)
		})
	}
}

// TestAWrongPlaceOfTheStoreEndsTheStart: that is a mistake, and said at once.
func TestAWrongPlaceOfTheStoreEndsTheStart(t *testing.T) {
	for name, c := range map[string]struct{ path, says string }{
		"no folder":           {"missing/x.db", "make it first"},
		"a folder for a file": {".", "must be writable"},
		"not a folder":        {"oneticket.hcl/x.db", "not a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSidecar(t, newDesk(t), "", fmt.Sprintf("store \"sqlite\" {\n path = %q\n}\n", c.path))
			binary, err := built()
			if err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(binary, "serve", "-c", s.config).CombinedOutput()
			if err == nil || !strings.Contains(string(out), c.says) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// TestTheEmbeddedStoreIsDamaged beside a shared one: the start goes on, faults
// are guarded, and while the shared store is away creates pass.
func TestTheEmbeddedStoreIsDamaged(t *testing.T) {
	for name, how := range damages {
		t.Run(name, func(t *testing.T) {
			r, d := newTroubledRedis(t), newDesk(t)
			s := newSidecar(t, d, "", r.block())
			s.start()
			s.guards(t, "known")
			path := filepath.Join(s.dir, "state", "local.db")
			s.end(syscall.SIGTERM)
			damage(t, path, how)
			s.start()
			s.guards(t, "core-1")
			s.says(t, "move")
			r.kill()
			s.passes(t, d, "core-2")
			r.start()
			waitFor(t, "the store to be back", func() bool { return !strings.Contains(strings.Join(s.degraded(t), "\n"), "redis") })
			client, n := newClient(t), 0
			waitFor(t, "faults to be guarded again", func() bool { // it is believed in a moment later
				n++
				element := fmt.Sprint("core-3-", n)
				return s.post(client, fault(element, 0)).status == 201 && s.post(client, fault(element, 1)).replayed
			})
			s.end(syscall.SIGTERM)
		})
	}
}

// TestTheDiskOfTheEmbeddedStoreIsFull while the shared store is away.
func TestTheDiskOfTheEmbeddedStoreIsFull(t *testing.T) {
	r, d := newTroubledRedis(t), newDesk(t)
	s := newSidecar(t, d, "", r.block())
	s.start()
	s.guards(t, "known")
	r.kill()
	s.guards(t, "core-1")
	s.fill()
	s.passes(t, d, "core-2")
	s.says(t, "the embedded store local.db fails since")
	s.empty()
	s.guards(t, "core-2")
	r.start()
	waitFor(t, "what was opened to be reconciled", func() bool {
		return s.metric("oneticket_reconciled_total", `result="taken_over"`) == 2 && s.metric("oneticket_provisional_creates") == 0
	})
	s.guards(t, "core-3")
	s.end(syscall.SIGTERM)
}

// TestTheFileOfTheDeadLettersIsDamaged: it is kept for a person, and a new one
// is begun.
func TestTheFileOfTheDeadLettersIsDamaged(t *testing.T) {
	s := newSidecar(t, newDesk(t), "", "")
	s.start()
	s.end(syscall.SIGTERM)
	path := filepath.Join(s.dir, "state", "deadletters.db")
	damage(t, path, damages["garbage in the header"])
	s.start()
	s.guards(t, "core-1")
	if kept, _ := filepath.Glob(path + ".damaged-*"); len(kept) != 1 || !strings.Contains(s.log.String(), kept[0]) {
		t.Errorf("kept %q, and said: %s", kept, s.log)
	}
	s.end(syscall.SIGTERM)
}
