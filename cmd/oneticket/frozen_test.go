package main_test

import (
	"syscall"
	"testing"
)

// TestAFrozenFilterThatFailsClosedIsA503: the create was not sent, and the
// client is told so and when to come again.
func TestAFrozenFilterThatFailsClosedIsA503(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", "envoy {\n message_timeout = \"8s\"\n}\n")
	s.rewrite(`timeout = "5s"`, "timeout = \"5s\"\n  failure_mode = \"closed\"")
	s.start()
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	client := newClient(t)
	a := s.post(client, fault("core-1", 0))
	if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if a.status != 503 || a.header.Get("Retry-After") == "" || d.creates.Load() != 0 {
		t.Errorf("the client saw %d %v %q; %d creates", a.status, a.header, a.body, d.creates.Load())
	}
	waitFor(t, "a ticket", func() bool { return s.post(client, fault("core-1", 1)).status == 201 })
	if n := d.creates.Load(); n != 1 {
		t.Errorf("%d creates", n)
	}
}
