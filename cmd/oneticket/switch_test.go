package main_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// command runs oneticket beside the sidecar and returns its stdout.
func (s *sidecar) command(args ...string) string {
	s.t.Helper()
	binary, err := built()
	if err != nil {
		s.t.Fatal(err)
	}
	var stderr strings.Builder
	cmd := exec.Command(binary, append(args, "-c", s.config)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("oneticket %s: %v: %s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// TestOffIsObeyedUnderLoadAndAfterARestart: creates pass untouched within five
// seconds of the command, and "on" takes it back.
func TestOffIsObeyedUnderLoadAndAfterARestart(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", "")
	s.start()
	client := newClient(t)
	replayed := func() bool { return s.post(client, fault("core-1", 0)).replayed }
	waitFor(t, "a replay", replayed)

	told := s.command("off", "faults")
	if told != "off  faults\n" {
		t.Errorf("off says %q", told)
	}
	began := time.Now()
	waitFor(t, "creates to pass", func() bool { return !replayed() })
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("off was obeyed after %s", took)
	}
	s.kill()
	s.start()
	if replayed() {
		t.Error("off was forgotten over a restart")
	}
	s.command("on")
	began = time.Now()
	waitFor(t, "replays again", replayed)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("on was obeyed after %s", took)
	}
}
