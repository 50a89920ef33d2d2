package main_test

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestReadySaysThatTheStoreIsDown while it is, and the log is not filled with
// what the client library says of each connection.
func TestReadySaysThatTheStoreIsDown(t *testing.T) {
	address := startRedis(t)
	_, port, _ := strings.Cut(address, ":")
	s := newSidecar(t, newDesk(t), "", fmt.Sprintf("store \"redis\" {\n url = %q\n}\n", "redis://"+address))
	s.start()
	if said := s.degraded(t); len(said) > 0 {
		t.Errorf("degraded from the beginning: %q", said)
	}
	_ = exec.Command("redis-cli", "-p", port, "shutdown", "nosave").Run() // it answers with its end
	client := newClient(t)
	for i := range 20 {
		if a := s.post(client, fault("core-1", i)); a.status != 201 {
			t.Errorf("saw %d %q", a.status, a.body)
		}
	}
	want := "the store redis redis://" + address + " is out of reach since "
	waitFor(t, "/ready to say so", func() bool { return strings.Contains(strings.Join(s.degraded(t), "\n"), want) })
	s.end(syscall.SIGTERM)
	if said := s.log.String(); strings.Contains(said, "pool") || strings.Contains(said, "msg=\"failed to dial") {
		t.Errorf("the client library is heard: %s", said)
	}
}
