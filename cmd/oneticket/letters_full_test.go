package main_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// limitFiles lets no file that the sidecar writes grow beyond so many bytes, as
// a disk that is full does.
func (s *sidecar) limitFiles(bytes int) {
	s.t.Helper()
	out, err := exec.Command("prlimit", "--pid", fmt.Sprint(s.cmd.Process.Pid), fmt.Sprintf("--fsize=%d:%d", bytes, bytes)).CombinedOutput()
	if err != nil {
		s.t.Fatalf("prlimit: %v: %s", err, out)
	}
}

// TestAFullDiskForDeadLettersIsSaidLoudlyAndHoldsNobody: the records are in
// Redis, so that the letters alone are without room.
func TestAFullDiskForDeadLettersIsSaidLoudlyAndHoldsNobody(t *testing.T) {
	d := newDesk(t)
	d.answers = func(w http.ResponseWriter, element, _ string) bool {
		if strings.HasPrefix(element, "well") {
			return false
		}
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	s := newLetterSidecar(t, d, "", fmt.Sprintf("store \"redis\" {\n url = %q\n timeout = \"5s\"\n}\n", "redis://"+startRedis(t)))
	s.start()
	client := newClient(t)
	large := func(i int) string {
		return strings.Replace(fault(fmt.Sprint("ne-", i), 0), "down,", strings.Repeat("x", 200<<10), 1)
	}
	s.post(client, large(0))
	if n := len(s.letters()); n != 1 {
		t.Fatalf("%d letters while there is room", n)
	}
	s.limitFiles(600 << 10)
	// Some still find room, in what the others could not use: until it is one of
	// those that do not.
	sent, lost, kept := 1, 0.0, 0.0
	for refused := false; sent < 7 || !refused; sent++ {
		if sent > 40 {
			t.Fatalf("there is always room: %v are kept, %v lost", kept, lost)
		}
		if a := s.post(client, large(sent)); a.status != http.StatusTooManyRequests {
			t.Errorf("a client saw %d %q", a.status, a.body)
		}
		before := lost
		waitFor(t, "the letter to be counted", func() bool {
			lost, kept = s.metric("oneticket_dead_letters_failed_total"), s.metric("oneticket_dead_letters")
			return lost+kept == float64(sent+1)
		})
		refused = lost > before
	}
	if n := strings.Count(s.log.String(), "could not be kept as a dead letter"); n != int(lost) {
		t.Errorf("the log names %d of %v", n, lost)
	}
	if a := s.post(client, fault("well-1", 0)); a.status != 201 {
		t.Errorf("a create that succeeds saw %d %q", a.status, a.body)
	}
	if ready := s.get("/ready"); !strings.Contains(ready, "dead letters") {
		t.Errorf("/ready says %s", ready)
	}
	// There is room again.
	s.end(syscall.SIGTERM)
	s.start()
	if n := len(s.letters()); n != int(kept) {
		t.Errorf("%d letters after a restart, want %v", n, kept)
	}
	s.post(client, large(sent))
	if n := len(s.letters()); n != int(kept)+1 {
		t.Errorf("%d letters, want one more than %v", n, kept)
	}
	if ready := s.get("/ready"); strings.Contains(ready, "dead letters") {
		t.Errorf("/ready says %s", ready)
	}
}
