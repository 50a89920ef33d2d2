package envoy_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"oneticket/extproc/envoy"
	"oneticket/extproc/envoy/envoytest"
)

// A reader is a tail that runs, and what it reported.
type reader struct {
	tail *envoy.BypassTail
	stop func() error

	mu    sync.Mutex
	paths []string
}

// startReader reads the log of the folder until it is stopped or the test
// ends.
func startReader(t *testing.T, dir string, change func(*envoy.BypassTail)) *reader {
	t.Helper()
	r := &reader{}
	r.tail = &envoy.BypassTail{StateDir: dir, Every: time.Millisecond, Each: func(b envoy.Bypass) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.paths = append(r.paths, b.Path)
	}}
	if change != nil {
		change(r.tail)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.tail.Run(ctx) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = r.stop() })
	return r
}

func (r *reader) got() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.paths)
}

// expect waits until exactly these were reported.
func (r *reader) expect(t *testing.T, paths ...string) {
	t.Helper()
	if !r.becomes(func(got []string) bool { return slices.Equal(got, paths) }) {
		t.Fatalf("got %q, want %q", r.got(), paths)
	}
}

// becomes waits until what was reported is as wanted.
func (r *reader) becomes(wanted func(got []string) bool) bool {
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if wanted(r.got()) {
			return true
		}
	}
	return false
}

func (r *reader) end(t *testing.T) {
	t.Helper()
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
}

// entry is a line as Envoy writes it.
func entry(path string, sent int) string {
	return fmt.Sprintf(`{"cluster":"jira","details":"via_upstream","method":"POST","path":%q,"route":"guarded","sent":%d,"status":201,"time":"2026-01-02T03:04:05.678Z"}`+"\n", path, sent)
}

// write appends to the log as Envoy does.
func write(t *testing.T, dir, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, envoy.BypassLog), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestABypassIsReportedOnceAcrossRestarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, entry("/before", 9)+entry("/refused", 0))
	first := startReader(t, dir, nil)
	first.expect(t, "/before")
	write(t, dir, entry("/while", 9))
	first.expect(t, "/before", "/while")
	first.end(t)
	write(t, dir, entry("/between", 9))
	second := startReader(t, dir, nil)
	second.expect(t, "/between")
	write(t, dir, entry("/after", 9))
	second.expect(t, "/between", "/after")
}

func TestATailThatIsToEndReadsWhatIsThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := startReader(t, dir, func(b *envoy.BypassTail) { b.Every = time.Hour })
	write(t, dir, entry("/last", 9))
	r.end(t)
	r.expect(t, "/last")
}

// A program that is killed after it was told and before that was noted is told
// again: the place is what was kept before.
func TestAKilledTailMissesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, entry("/1", 9))
	startReaderAndEnd(t, dir, "/1")
	place, err := os.ReadFile(filepath.Join(dir, envoy.BypassLog+".read"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, entry("/2", 9))
	startReaderAndEnd(t, dir, "/2")
	if err := os.WriteFile(filepath.Join(dir, envoy.BypassLog+".read"), place, 0o600); err != nil {
		t.Fatal(err)
	}
	startReaderAndEnd(t, dir, "/2")
	startReaderAndEnd(t, dir)
}

func startReaderAndEnd(t *testing.T, dir string, paths ...string) {
	t.Helper()
	r := startReader(t, dir, nil)
	r.end(t)
	r.expect(t, paths...)
}

func TestALineThatIsNotWhole(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		parts []string
		want  []string
	}{
		"is read when it is":                    {[]string{entry("/1", 9)[:40], entry("/1", 9)[40:]}, []string{"/1"}},
		"of an Envoy that was killed":           {[]string{entry("/1", 9)[:40], entry("/2", 9) + entry("/3", 9)}, []string{"/2", "/3"}},
		"of one that was killed twice":          {[]string{entry("/1", 9)[:40] + entry("/2", 9)[:60] + entry("/3", 9)}, []string{"/3"}},
		"is no entry":                           {[]string{"nonsense\n", entry("/1", 9)}, []string{"/1"}},
		"is longer than any entry":              {[]string{strings.Repeat("x", 1<<20), "\n" + entry("/1", 9)}, []string{"/1"}},
		"begins the file and is longer than it": {[]string{`{"path":"` + strings.Repeat("x", 8<<10), `","sent":9}` + "\n"}, []string{strings.Repeat("x", 8<<10)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var got []string
			for _, part := range c.parts {
				write(t, dir, part)
				r := startReader(t, dir, nil) // one look at each part
				r.end(t)
				got = append(got, r.got()...)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %.80q, want %.80q", got, c.want)
			}
		})
	}
}

func TestALogThatWasCutOrTakenAwayIsReadFromItsStart(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(string) error{
		"cut":        func(path string) error { return os.Truncate(path, 0) },
		"taken away": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, entry("/1", 9)+entry("/2", 9))
			r := startReader(t, dir, nil)
			r.expect(t, "/1", "/2")
			if err := lose(filepath.Join(dir, envoy.BypassLog)); err != nil {
				t.Fatal(err)
			}
			// As long as what was there, so that its length does not tell.
			write(t, dir, entry("/3", 9)+entry("/4", 9)+entry("/5", 9))
			// A look at the very instant may report one of them first from the old
			// place: again is allowed, never is not.
			before, after := []string{"/1", "/2"}, []string{"/3", "/4", "/5"}
			if !r.becomes(func(got []string) bool {
				n := len(got) - len(after)
				return n >= len(before) && slices.Equal(got[:len(before)], before) && slices.Equal(got[n:], after)
			}) {
				t.Fatalf("got %q, want %q and %q", r.got(), before, after)
			}
		})
	}
}

func TestAPlaceThatCannotBeReadReportsAllRatherThanNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, entry("/1", 9))
	if err := os.WriteFile(filepath.Join(dir, envoy.BypassLog+".read"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	startReaderAndEnd(t, dir, "/1")
}

func TestAPlaceThatCannotBeKeptIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, entry("/1", 9))
	if err := os.Mkdir(filepath.Join(dir, envoy.BypassLog+".read.new"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := startReader(t, dir, nil)
	if err := r.stop(); err == nil || !strings.Contains(err.Error(), "bypass log") {
		t.Errorf("got %v", err)
	}
}

func TestALargeLogIsSetAsideUnderARunningEnvoy(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	e := envoytest.Start(t, envoy.Spec{
		FilterRetry: time.Nanosecond, // nobody is there, and each create passes at once
		Backends:    []envoy.Backend{{Name: "jira", URL: b.url("http")}},
	})
	var turns int
	r := startReader(t, e.Spec.StateDir, func(b *envoy.BypassTail) {
		b.Most = 2000
		b.Reopen = func(ctx context.Context) error { turns++; return e.ReopenLogs(ctx) }
	})
	var want []string
	for i := range 60 {
		path := fmt.Sprint("/bypass/", i)
		send(t, e.Addresses["jira"], post(path, "{}"))
		want = append(want, path)
	}
	poll(t, "all are reported", func() bool { return len(r.got()) >= len(want) })
	r.end(t)
	got := r.got()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if turns == 0 {
		t.Error("it was never set aside")
	}
	info, err := os.Stat(filepath.Join(e.Spec.StateDir, envoy.BypassLog))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	startReaderAndEnd(t, e.Spec.StateDir)
}

func TestAnEnvoyThatDoesNotOpenTheLogAnewIsReadOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, envoy.BypassLog)
	write(t, dir, entry("/1", 9))
	old, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	reopened := make(chan struct{})
	var once sync.Once
	r := startReader(t, dir, func(b *envoy.BypassTail) {
		b.Most = 1
		b.Reopen = func(context.Context) error {
			once.Do(func() { close(reopened) })
			return os.ErrDeadlineExceeded
		}
	})
	<-reopened
	_, _ = old.WriteString(entry("/2", 9))
	r.expect(t, "/1", "/2")
	_, _ = old.WriteString(entry("/3", 9))
	r.expect(t, "/1", "/2", "/3")
}
