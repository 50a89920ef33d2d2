package main_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"oneticket/dedup/pgstore/pgtest"
	"oneticket/extproc/envoy/envoytest"
)

// built is the binary under test, built once for all tests of the package.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "oneticket-e2e")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "oneticket")
	out, err := exec.Command("go", "build", "-o", binary, "oneticket/cmd/oneticket").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return binary, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	pgtest.EndShared()
	if binary, err := built(); err == nil {
		os.RemoveAll(filepath.Dir(binary))
	}
	os.Exit(status)
}

// A sidecar is one `oneticket run` with its Envoy, or one `oneticket serve`
// beside another one.
type sidecar struct {
	serves  bool
	verbose bool // --log-level debug
	t       *testing.T
	config  string
	dir     string
	listen  string
	admin   string
	cmd     *exec.Cmd
	ended   chan struct{}
	log     *logBuffer
}

// newSidecar writes the configuration: one backend in front of the desk, and
// one rule of the ServiceNow preset; more is appended to the file, settings
// goes into the rule.
func newSidecar(t *testing.T, d *desk, settings, more string) *sidecar {
	dir := t.TempDir()
	s := &sidecar{t: t, dir: dir, config: filepath.Join(dir, "oneticket.hcl"), listen: freeAddress(t), admin: freeAddress(t)}
	text := fmt.Sprintf(`
state_dir = %q
admin     = %q
backend "servicenow" {
  url     = %q
  listen  = %q
  timeout = "5s"
}
rule "faults" {
  backend = "servicenow"
  preset  = "servicenow/incident"
  identity = {
    element_id  = lower(body.cmdb_ci)
    fault_class = body.category
  }
  fingerprint = { severity = body.urgency }
  settle      = "1s"
  %s
}
%s`, filepath.Join(dir, "state"), s.admin, d.URL, s.listen, settings, more)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// freeAddress is below the ports that the kernel gives to outgoing connections,
// which would take it while whoever listens there is being started again.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 15000+rand.IntN(17000))
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		defer l.Close()
		return address
	}
	t.Fatal("no free port between 15000 and 32000")
	return ""
}

// start runs it and waits until it is ready; it ends with the test.
func (s *sidecar) start() {
	s.t.Helper()
	binary, err := built()
	if err != nil {
		s.t.Fatal(err)
	}
	s.log = &logBuffer{}
	s.cmd = exec.Command(binary, "run", "-c", s.config, "--envoy", envoytest.Path(s.t))
	if s.serves {
		s.cmd = exec.Command(binary, "serve", "-c", s.config)
	}
	if s.verbose {
		s.cmd.Args = append(s.cmd.Args, "--log-level", "debug")
	}
	s.cmd.Stderr = s.log
	s.ended = make(chan struct{})
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { s.cmd.Wait(); close(s.ended) }()
	s.t.Cleanup(s.kill)
	deadline := time.Now().Add(time.Minute)
	for !s.isReady() {
		select {
		case <-s.ended:
			s.t.Fatalf("oneticket ended: %s", s.log)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			s.kill()
			s.t.Fatalf("oneticket did not become ready: %s", s.log)
		}
	}
}

func (s *sidecar) isReady() bool {
	res, err := http.Get("http://" + s.admin + "/ready")
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusOK
}

func (s *sidecar) kill() { s.end(syscall.SIGKILL) }

func (s *sidecar) end(signal syscall.Signal) {
	select {
	case <-s.ended:
		return
	default:
	}
	_ = s.cmd.Process.Signal(signal)
	<-s.ended
}

// metrics is what /metrics says.
func (s *sidecar) metrics() string {
	s.t.Helper()
	res, err := http.Get("http://" + s.admin + "/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// metric sums the samples of /metrics whose name and labels contain all parts.
func (s *sidecar) metric(name string, labels ...string) float64 {
	s.t.Helper()
	text := s.metrics()
	var sum float64
lines:
	for line := range strings.SplitSeq(text, "\n") {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || (rest[0] != '{' && rest[0] != ' ') {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(rest, l) {
				continue lines
			}
		}
		value, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if err != nil {
			s.t.Fatalf("%s: %v", line, err)
		}
		sum += value
	}
	return sum
}

// fault is a create for the element; title is what differs between two tries.
func fault(element string, title int) string {
	return fmt.Sprintf(`{"cmdb_ci":%q,"category":"link","urgency":"2","short_description":"down, try %d"}`, element, title)
}
