package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestServeSaysWhatIsInItsWay and changes nothing.
func TestServeSaysWhatIsInItsWay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, settings, says string }{
		{"a route that outlives the claim", "envoy {\n route_timeout = \"2m\"\n}", `longer than the timeout 5s of backend "servicenow"`},
		{"a file where the socket is to be", fmt.Sprintf("socket = %q", "unix:"+file), "is there and is no socket"},
		{"a certificate that is not there", "socket = \"127.0.0.1:0\"\ntls = {\n cert = \"/nowhere.crt\"\n key = \"/nowhere.key\"\n ca = \"/nowhere.ca\"\n}", "socket: tls: open /nowhere.crt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSidecar(t, newDesk(t), "", c.settings)
			if out := s.fails(t, "serve"); !strings.Contains(out, c.says) {
				t.Errorf("it says %q, want %q", out, c.says)
			}
		})
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
		t.Errorf("the file is %q now (%v)", text, err)
	}
}

// TestTwoDoNotTakeOneSocket: neither another serve nor doctor takes what a
// running serve listens on.
func TestTwoDoNotTakeOneSocket(t *testing.T) {
	socket := fmt.Sprintf("socket = %q\n", "unix:"+filepath.Join(t.TempDir(), "filter.sock"))
	first := newSidecar(t, newDesk(t), "", socket)
	first.serves = true
	first.start()
	second := newSidecar(t, newDesk(t), "", socket)
	if out := second.fails(t, "serve"); !strings.Contains(out, "is in use by another process") {
		t.Errorf("a second serve says %q", out)
	}
	if out := first.fails(t, "doctor", "http://127.0.0.1:9/"); !strings.Contains(out, "doctor stands in for serve, which has to be stopped") {
		t.Errorf("doctor says %q", out)
	}
	if !first.isReady() {
		t.Error("the first serve is not ready any more")
	}
}

// fails runs a command that is to fail, and returns what it says.
func (s *sidecar) fails(t *testing.T, command string, args ...string) string {
	t.Helper()
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), binary, append([]string{command, "-c", s.config}, args...)...).CombinedOutput()
	if err == nil {
		t.Errorf("%s has not failed", command)
	}
	return string(out)
}
