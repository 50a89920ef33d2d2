package envoy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"oneticket/extproc/envoy"
	"oneticket/extproc/envoy/envoytest"
)

// within bounds what a busy machine may take for one step.
const within = 60 * time.Second

func TestEnvoyThatDiesSaysSo(t *testing.T) {
	t.Parallel()
	e := envoytest.Start(t, envoy.Spec{})
	if err := e.Err(); err != nil {
		t.Errorf("%v while it runs", err)
	}
	if err := syscall.Kill(e.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitDone(t, e.Child)
	if err := e.Err(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("got %v", err)
	}
	if err := e.Stop(t.Context()); err == nil {
		t.Error("Stop forgets why it ended")
	}
}

func TestStopIsNoFailure(t *testing.T) {
	t.Parallel()
	e := envoytest.Start(t, envoy.Spec{})
	for range 2 {
		if err := e.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	waitDone(t, e.Child)
	if err := e.Ready(t.Context()); err == nil {
		t.Error("ready after Stop")
	}
}

func TestATakenPortIsNamed(t *testing.T) {
	t.Parallel()
	first := envoytest.Start(t, envoy.Spec{Backends: []envoy.Backend{{Name: "jira", URL: "http://127.0.0.1:1"}}})
	spec := envoytest.Fill(t, envoy.Spec{Backends: []envoy.Backend{
		{Name: "snow", URL: "http://127.0.0.1:1", Listen: first.Addresses["jira"]},
	}})
	second := start(t, spec)
	defer second.Stop(context.Background())
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	err := second.Ready(ctx)
	if err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("got %v, want the address in use", err)
	}
}

func TestReadyEndsWithItsContext(t *testing.T) {
	t.Parallel()
	e := envoytest.Start(t, envoy.Spec{})
	if err := syscall.Kill(e.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(e.PID(), syscall.SIGCONT) }()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := e.Ready(ctx); err == nil || !strings.Contains(err.Error(), "deadline") {
		t.Errorf("got %v", err)
	}
	// A frozen Envoy does not obey, so that Stop has to use force.
	stopped, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := e.Stop(stopped); err != nil {
		t.Error(err)
	}
}

func TestDrainWaitsForTheRunningCreate(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	spec := envoytest.Fill(t, envoy.Spec{Backends: []envoy.Backend{{Name: "jira", URL: b.url("http")}}})
	startFilter(t, spec.Socket)
	e := envoytest.Start(t, spec)
	answered := make(chan message, 1)
	go func() { answered <- send(t, e.Addresses["jira"], post("/held", "{}")) }()
	poll(t, "the create reaches the backend", func() bool { return len(b.got("/held")) == 1 })

	brief, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := e.Drain(brief); err == nil {
		t.Error("drained while a create was running")
	}
	poll(t, "new connections are refused", func() bool { return !reachable(e.Addresses["jira"]) })
	close(b.held)
	if a := <-answered; a.status() != "201" || !a.has("Connection: close") && !a.has("connection: close") {
		t.Errorf("got %+v", a)
	}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if err := e.Drain(ctx); err != nil {
		t.Error(err)
	}
}

func TestTheStateDirectoryIsNobodyElses(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	e := envoytest.Start(t, envoy.Spec{StateDir: dir})
	for path, want := range map[string]os.FileMode{
		dir: 0o700, e.Spec.Admin: 0o600, filepath.Join(dir, envoy.BypassLog): 0o600, filepath.Join(dir, "envoy.json"): 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: mode %o, want %o", path, got, want)
		}
	}
}

// TestMain is also the program that dies over its Envoy.
func TestMain(m *testing.M) {
	if os.Getenv("ENVOY_TEST_PARENT") != "" {
		parent()
	}
	os.Exit(m.Run())
}

func TestEnvoyDiesWithItsParent(t *testing.T) {
	t.Parallel()
	pid, address := orphan(t, "dies")
	poll(t, "the port is free", func() bool { return !reachable(address) })
	poll(t, "the process is gone", func() bool { return !running(pid) })
}

func TestEnvoyCanOutliveItsParent(t *testing.T) {
	t.Parallel()
	pid, address := orphan(t, "lives")
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	if !running(pid) || !reachable(address) {
		t.Error("it died too")
	}
}

// orphan runs an Envoy under a parent and kills the parent.
func orphan(t *testing.T, mode string) (pid int, address string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ENVOY_TEST_PARENT="+mode, "ENVOY_TEST_DIR="+t.TempDir(), envoy.EnvVar+"="+envoytest.Path(t))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe() // its end ends the parent, should this test die first
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(line, &pid, &address); err != nil {
		t.Fatalf("%v in %q", err, line)
	}
	if !reachable(address) {
		t.Fatal("it does not listen")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	return pid, address
}

// parent starts an Envoy, says where it is, and waits to be killed.
func parent() {
	dir := os.Getenv("ENVOY_TEST_DIR")
	spec := envoy.Spec{
		StateDir: dir, Socket: filepath.Join(dir, "f"), Admin: filepath.Join(dir, "a"),
		Backends: []envoy.Backend{{Name: "jira", URL: "http://127.0.0.1:1", Listen: "127.0.0.1:0"}},
	}
	bootstrap, err := envoy.Bootstrap(spec)
	if err == nil {
		err = announce(envoy.Options{
			Path: os.Getenv(envoy.EnvVar), Bootstrap: bootstrap, StateDir: dir, KeepOnDeath: os.Getenv("ENVOY_TEST_PARENT") == "lives",
		})
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func announce(o envoy.Options) error {
	child, err := envoy.Start(o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if err := child.Ready(ctx); err != nil {
		return err
	}
	addresses, err := child.Addresses(ctx)
	if err != nil {
		return err
	}
	fmt.Println(child.PID(), addresses["jira"])
	_, _ = io.Copy(io.Discard, os.Stdin)
	return child.Stop(ctx)
}

func start(t *testing.T, spec envoy.Spec) *envoy.Child {
	t.Helper()
	bootstrap, err := envoy.Bootstrap(spec)
	if err != nil {
		t.Fatal(err)
	}
	child, err := envoy.Start(envoy.Options{Path: envoytest.Path(t), Bootstrap: bootstrap, StateDir: spec.StateDir})
	if err != nil {
		t.Fatal(err)
	}
	return child
}

func waitDone(t *testing.T, c *envoy.Child) {
	t.Helper()
	select {
	case <-c.Done():
	case <-time.After(within):
		t.Fatal("it does not end")
	}
}

func poll(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func reachable(address string) bool {
	c, err := net.DialTimeout("tcp", address, within)
	if err != nil {
		return false
	}
	c.Close()
	return true
}

// running is false for a process that ended, waited for or not.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z") && !strings.HasPrefix(after, "X")
}
