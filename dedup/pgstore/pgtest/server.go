package pgtest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Patience bounds every wait for a server.
const Patience = time.Minute

// PasswordRole needs its password over TCP; nobody else does.
const PasswordRole = "guarded"

// A Server is a PostgreSQL of its own. Its superuser is postgres.
type Server struct {
	Addr     string // 127.0.0.1:PORT
	Database string // of the URLs, Do and Ask

	dir      string
	as       *syscall.Credential
	settings []string // NAME=VALUE

	mu  sync.Mutex // between End and Run
	cmd *exec.Cmd
}

// For starts a server that ends with the test.
func For(t testing.TB, settings ...string) *Server {
	t.Helper()
	s, err := Start(settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.End)
	return s
}

// shared is the server of the test binary.
var shared = sync.OnceValues(func() (*Server, error) { return Start() })
var sharing bool

// Shared is one server for all tests of the binary. Its TestMain calls
// EndShared.
func Shared(t testing.TB) *Server {
	t.Helper()
	sharing = true
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// EndShared ends the shared server, if there was one.
func EndShared() {
	if !sharing {
		return
	}
	if s, err := shared(); err == nil {
		s.End()
	}
}

// Start makes a cluster and starts its server with the settings (NAME=VALUE).
// It answers when Start returns.
func Start(settings ...string) (*Server, error) {
	s, err := prepared(settings)
	if err != nil {
		return nil, err
	}
	if err = s.init(); err == nil {
		err = s.Run()
	}
	if err != nil {
		s.End()
		return nil, err
	}
	return s, nil
}

// prepared is a server with a folder and an address, and no cluster yet.
func prepared(settings []string) (s *Server, err error) {
	s = &Server{settings: settings, Database: "postgres"}
	if s.as, err = owner(); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.Addr = l.Addr().String()
	l.Close()
	// The path of a socket is short.
	if s.dir, err = os.MkdirTemp("", "pg"); err != nil || s.as == nil {
		return s, err
	}
	return s, os.Chown(s.dir, int(s.as.Uid), int(s.as.Gid))
}

func (s *Server) init() error {
	initdb, err := s.command("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	if err != nil {
		return err
	}
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	access := filepath.Join(s.data(), "pg_hba.conf")
	usual, err := os.ReadFile(access)
	if err != nil {
		return err
	}
	return os.WriteFile(access, append([]byte("host all "+PasswordRole+" all scram-sha-256\n"), usual...), 0o600)
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) port() string {
	_, port, _ := net.SplitHostPort(s.Addr)
	return port
}

// Run starts the server, also after Kill, and waits until it answers.
func (s *Server) Run() error {
	args := []string{"-D", s.data(), "-p", s.port(), "-h", "127.0.0.1", "-k", s.dir}
	for _, setting := range append([]string{
		"fsync=off", "full_page_writes=off", "shared_buffers=32MB", "max_connections=60",
		"log_min_messages=warning", "restart_after_crash=on",
	}, s.settings...) {
		args = append(args, "-c", setting)
	}
	cmd, err := s.command("postgres", args...)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	s.mu.Lock()
	s.cmd = cmd
	s.mu.Unlock()
	return s.answers()
}

func (s *Server) answers() error {
	var err error
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err = s.ping(); err == nil {
			return nil
		}
	}
	log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return fmt.Errorf("PostgreSQL does not answer: %w: %s", err, log)
}

func (s *Server) ping() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.SocketURL())
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// Set gives other settings to the next Run.
func (s *Server) Set(settings ...string) { s.settings = settings }

// End ends the server and removes its cluster.
func (s *Server) End() {
	s.Kill()
	_ = os.RemoveAll(s.dir)
}

// URL is over TCP.
func (s *Server) URL() string {
	return "postgres://postgres@" + s.Addr + "/" + s.Database + "?sslmode=disable"
}

// SocketURL is over the socket.
func (s *Server) SocketURL() string {
	return "postgres://postgres@/" + s.Database + "?host=" + s.dir + "&port=" + s.port()
}

// Secure has the server speak TLS too, with this certificate and key in PEM
// form.
func (s *Server) Secure(t testing.TB, cert, key []byte) {
	t.Helper()
	for name, text := range map[string][]byte{"server.crt": cert, "server.key": key} {
		path := filepath.Join(s.data(), name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if s.as == nil {
			continue
		}
		if err := os.Chown(path, int(s.as.Uid), int(s.as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	s.Do(t, "ALTER SYSTEM SET ssl = on")
	s.Do(t, "SELECT pg_reload_conf()")
}
