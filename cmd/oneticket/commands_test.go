package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the commands print to testdata")

// A said is what a command has printed, and its exit status.
type said struct {
	status      int
	out, errors string
}

// execute runs the program in this process.
func execute(t *testing.T, args ...string) said {
	t.Helper()
	var out, errs bytes.Buffer
	status := run(t.Context(), args, &out, &errs)
	return said{status, out.String(), errs.String()}
}

// inFolder runs the test in a folder of its own that holds the files: what
// commands print then names no path of this machine.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// golden compares a text with a file of testdata; folder is that of the
// package, before a test went elsewhere.
func golden(t *testing.T, folder, name, got string) {
	t.Helper()
	file := filepath.Join(folder, "testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := read(t, file); got != want {
		t.Errorf("%s: got:\n%s\nwant:\n%s", name, got, want)
	}
}

func packageFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func (s said) want(t *testing.T, status int, out, errs string) {
	t.Helper()
	if s.status != status || s.out != out || s.errors != errs {
		t.Errorf("status %d\nstdout:\n%s\nstderr:\n%s\nwant %d\nstdout:\n%s\nstderr:\n%s", s.status, s.out, s.errors, status, out, errs)
	}
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}
