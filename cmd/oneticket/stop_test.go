package main_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestAGoodStopLeavesNothingAndIsQuiet: no socket, no warning of Envoy about
// its own end, and one line that says that it is over.
func TestAGoodStopLeavesNothingAndIsQuiet(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", "")
	s.start()
	s.post(newClient(t), fault("core-1", 0))
	s.end(syscall.SIGTERM)
	said := s.log.String()
	if strings.Contains(said, "level=WARN") || strings.Contains(said, "level=ERROR") {
		t.Errorf("a good stop warns: %s", said)
	}
	if last := said[strings.LastIndex(strings.TrimSpace(said), "\n")+1:]; !strings.Contains(last, "level=INFO msg=stopped") {
		t.Errorf("the last line is %q", last)
	}
	left, err := filepath.Glob(filepath.Join(s.dir, "state", "*.sock"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
	s.wantPrivate("bypass.ndjson")
}

// wantPrivate: what names requests is for nobody else to read.
func (s *sidecar) wantPrivate(name string) {
	s.t.Helper()
	info, err := os.Stat(filepath.Join(s.dir, "state", name))
	if err != nil || info.Mode().Perm() != 0o600 {
		s.t.Errorf("%s: %v, %v", name, info.Mode().Perm(), err)
	}
}

// TestALogThatWasWiderIsMadePrivate: an earlier version, or somebody, may have
// made it.
func TestALogThatWasWiderIsMadePrivate(t *testing.T) {
	s := newSidecar(t, newDesk(t), "", "")
	state := filepath.Join(s.dir, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "bypass.ndjson"), nil, fs.FileMode(0o644)); err != nil {
		t.Fatal(err)
	}
	s.start()
	s.wantPrivate("bypass.ndjson")
}

// TestTheBannerSaysWhatIsWhereAndWhatRulesDo in few lines.
func TestTheBannerSaysWhatIsWhereAndWhatRulesDo(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, `action = "observe"`, "")
	s.start()
	s.end(syscall.SIGTERM)
	banner, _, _ := strings.Cut(s.log.String(), "time=")
	if want := "http://" + s.listen + "  (stands in for " + d.URL + "; rule faults: observe)\n"; !strings.Contains(banner, want) {
		t.Errorf("no %q in:\n%s", want, banner)
	}
	if lines := strings.Count(banner, "\n"); lines > 6 {
		t.Errorf("%d lines:\n%s", lines, banner)
	}
}

// TestAnEnvoyThatIsKilledIdlePutsNothingInDoubt: there was no create.
func TestAnEnvoyThatIsKilledIdlePutsNothingInDoubt(t *testing.T) {
	s := newSidecar(t, newDesk(t), "", "")
	s.start()
	killChild(t, s.cmd.Process.Pid)
	<-s.ended
	said := s.log.String()
	if code := s.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(said, "envoy ended: signal: killed") {
		t.Errorf("exit status %d: %s", code, said)
	}
	if strings.Contains(said, "doubt") {
		t.Errorf("it says that creates are in doubt: %s", said)
	}
}

// killChild kills the one child of the process.
func killChild(t *testing.T, parent int) {
	t.Helper()
	tasks, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(parent), "task", "*", "children"))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			t.Fatal(err)
		}
		for child := range strings.FieldsSeq(string(text)) {
			if err := exec.Command("kill", "-9", child).Run(); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("no child")
}
