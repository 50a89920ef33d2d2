package redisstore_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"oneticket/dedup/redisstore"
)

// patience bounds every wait of these tests for a server.
const patience = 30 * time.Second

// A server is a redis-server of its own.
type server struct {
	testing.TB
	addr string
	sock string
	dir  string
	args []string
	cmd  *exec.Cmd
}

// serve starts a server with more arguments than the usual, and ends it with
// the test. It answers before serve returns.
func serve(t testing.TB, args ...string) *server {
	t.Helper()
	s := newServer(t, args...)
	s.start()
	s.answers()
	return s
}

func newServer(t testing.TB, args ...string) *server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Fatal("redis-server is not there: apt-get install redis-server (or make services)")
	}
	// The path of a socket is short; that of t.TempDir may be long.
	dir, err := os.MkdirTemp("", "redis")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &server{TB: t, addr: freeAddr(t), sock: filepath.Join(dir, "s"), dir: dir, args: args}
}

func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (s *server) port() string {
	_, port, _ := net.SplitHostPort(s.addr)
	return port
}

func (s *server) start() {
	s.Helper()
	if err := s.run(); err != nil {
		s.Fatal(err)
	}
}

func (s *server) run() error {
	usual := []string{
		"--bind", "127.0.0.1", "--port", s.port(), "--unixsocket", s.sock, "--dir", s.dir,
		"--save", "", "--logfile", filepath.Join(s.dir, "log"), "--enable-debug-command", "local",
	}
	s.cmd = exec.Command("redis-server", append(usual, s.args...)...)
	s.cmd.SysProcAttr = child()
	cmd := s.cmd
	if err := cmd.Start(); err != nil {
		return err
	}
	s.Cleanup(func() { end(cmd) })
	return nil
}

// end kills the process and waits for it; also one that is frozen, or dead.
func end(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// kill ends the server as a power failure does.
func (s *server) kill() { end(s.cmd) }

// freeze stops the server without closing its connections.
func (s *server) freeze() (thaw func()) {
	_ = s.cmd.Process.Signal(syscall.SIGSTOP)
	return func() { _ = s.cmd.Process.Signal(syscall.SIGCONT) }
}

// admin is a client of the test's own.
func (s *server) admin() *redis.Client {
	c := redis.NewClient(&redis.Options{Network: "unix", Addr: s.sock, MaxRetries: -1})
	s.Cleanup(func() { c.Close() })
	return c
}

func (s *server) answers() {
	s.Helper()
	c := s.admin()
	s.eventually("the server answers", func() bool { return c.Ping(context.Background()).Err() == nil })
}

// do runs one command and must succeed.
func (s *server) do(args ...any) any {
	s.Helper()
	got, err := s.admin().Do(context.Background(), args...).Result()
	if err != nil {
		s.Fatalf("%v: %v", args, err)
	}
	return got
}

func (s *server) eventually(what string, holds func() bool) {
	s.Helper()
	eventually(s.TB, what, holds)
}

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// url of the server over TCP.
func (s *server) url() string { return "redis://" + s.addr }

// socketURL is over its socket.
func (s *server) socketURL() string { return "unix://" + s.sock }

// open opens a store with room for a slow machine, and closes it with the test.
func open(t testing.TB, o redisstore.Options) *redisstore.Store {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	store, err := redisstore.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// mentions fails unless the error names all the words.
func mentions(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one about %q", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not mention %q", err, word)
		}
	}
}
