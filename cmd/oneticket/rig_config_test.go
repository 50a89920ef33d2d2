package main_test

import (
	"bytes"
	"os"
)

// rewrite replaces a part of the configuration file; cut drops all from a part on.
func (s *sidecar) rewrite(old, new string) {
	s.t.Helper()
	text, err := os.ReadFile(s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(old)) {
		s.t.Fatalf("no %q in the configuration", old)
	}
	if err := os.WriteFile(s.config, bytes.Replace(text, []byte(old), []byte(new), 1), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sidecar) cut(from string) {
	s.t.Helper()
	text, err := os.ReadFile(s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	before, _, found := bytes.Cut(text, []byte(from))
	if !found {
		s.t.Fatalf("no %q in the configuration", from)
	}
	if err := os.WriteFile(s.config, before, 0o600); err != nil {
		s.t.Fatal(err)
	}
}
