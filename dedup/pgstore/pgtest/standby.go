package pgtest

import (
	"fmt"
	"testing"
)

// Standby starts a server that follows s and ends with the test.
func (s *Server) Standby(t testing.TB, settings ...string) *Server {
	t.Helper()
	standby, err := s.standby(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(standby.End)
	return standby
}

func (s *Server) standby(settings []string) (*Server, error) {
	standby, err := prepared(settings)
	if err != nil {
		return nil, err
	}
	backup, err := standby.command("pg_basebackup", "-D", standby.data(), "-h", s.dir, "-p", s.port(), "-U", "postgres",
		"-R", "-X", "stream", "-c", "fast", "--no-sync")
	if err == nil {
		var out []byte
		if out, err = backup.CombinedOutput(); err != nil {
			err = fmt.Errorf("pg_basebackup: %w: %s", err, out)
		}
	}
	if err == nil {
		err = standby.Run()
	}
	if err != nil {
		standby.End()
		return nil, err
	}
	return standby, nil
}

// Promote makes a standby the primary.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	if !Ask[bool](t, s, "SELECT pg_promote()") {
		t.Fatal("the standby was not promoted")
	}
}
