package envoy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oneticket/extproc/envoy"
	"oneticket/extproc/envoy/envoytest"
)

func fakeBinary(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho 'envoy  version: abc0/1.36.4/Clean/RELEASE/BoringSSL'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFindLooksInThisOrder(t *testing.T) {
	dir := t.TempDir()
	flag := fakeBinary(t, filepath.Join(dir, "flag", "envoy"))
	env := fakeBinary(t, filepath.Join(dir, "env", "envoy"))
	tools := fakeBinary(t, filepath.Join(dir, "cwd", ".tools", "bin", "envoy"))
	path := fakeBinary(t, filepath.Join(dir, "path", "envoy"))
	t.Setenv("PATH", filepath.Dir(path))

	t.Chdir(filepath.Join(dir, "cwd"))
	t.Setenv(envoy.EnvVar, env)
	found(t, flag, flag)
	found(t, "", env)
	t.Setenv(envoy.EnvVar, "")
	found(t, "", tools)
	t.Chdir(dir)
	found(t, "", path)
	found(t, "envoy", path)
}

func found(t *testing.T, explicit, want string) {
	t.Helper()
	got, err := envoy.Find(explicit)
	if err != nil || got != want {
		t.Errorf("Find(%q) = %q, %v; want %q", explicit, got, err, want)
	}
}

func TestFindSaysWhereItLooked(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PATH", "")
	t.Setenv(envoy.EnvVar, "")
	_, err := envoy.Find("")
	if err == nil || !strings.Contains(err.Error(), "make tools") || !strings.Contains(err.Error(), filepath.Join(".tools", "bin", "envoy")) {
		t.Errorf("got %v", err)
	}
}

func TestANamedEnvoyThatIsNotThereIsAnError(t *testing.T) {
	dir := t.TempDir()
	fakeBinary(t, filepath.Join(dir, ".tools", "bin", "envoy"))
	t.Chdir(dir)
	if _, err := envoy.Find("/nowhere/envoy"); err == nil || !strings.Contains(err.Error(), "--envoy") {
		t.Errorf("got %v", err)
	}
	t.Setenv(envoy.EnvVar, dir)
	if _, err := envoy.Find(""); err == nil || !strings.Contains(err.Error(), envoy.EnvVar) {
		t.Errorf("got %v", err)
	}
}

func TestVersionOfTheInstalledEnvoyIsThePinnedOne(t *testing.T) {
	version, err := envoy.Version(t.Context(), envoytest.Path(t))
	if err != nil {
		t.Fatal(err)
	}
	if version != envoy.Pinned {
		t.Errorf("got %s, pinned is %s: run `make tools`", version, envoy.Pinned)
	}
}

func TestVersionOfAnotherProgramIsAnError(t *testing.T) {
	if _, err := envoy.Version(t.Context(), "/bin/true"); err == nil {
		t.Error("/bin/true is an Envoy")
	}
	version, err := envoy.Version(t.Context(), fakeBinary(t, filepath.Join(t.TempDir(), "envoy")))
	if err != nil || version != "1.36.4" {
		t.Errorf("got %q, %v", version, err)
	}
}

func TestSupported(t *testing.T) {
	tests := map[string]struct{ warning, refused bool }{
		envoy.Pinned: {},
		"1.36.4":     {refused: true},
		"0.99.0":     {refused: true},
		"1.9.0":      {refused: true},
		"1.37.0":     {warning: true},
		"1.100.1":    {warning: true},
		"2.0.0":      {warning: true},
	}
	for version, want := range tests {
		warning, err := envoy.Supported(version)
		if (warning != "") != want.warning || (err != nil) != want.refused {
			t.Errorf("%s: got %q, %v", version, warning, err)
		}
	}
}

func TestSocketPath(t *testing.T) {
	runtimeDir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", runtimeDir)
	short := t.TempDir()
	path, note, err := envoy.SocketPath(short, "filter.sock")
	if err != nil || path != filepath.Join(short, "filter.sock") || note != "" {
		t.Errorf("short: %q, %q, %v", path, note, err)
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	path, note, err = envoy.SocketPath(long, "f.sock")
	if err != nil || filepath.Dir(path) != runtimeDir || len(path) > 107 || !strings.Contains(note, path) {
		t.Errorf("long: %q, %q, %v", path, note, err)
	}
	if again, _, _ := envoy.SocketPath(long, "f.sock"); again != path {
		t.Errorf("not the same again: %q", again)
	}
	if other, _, _ := envoy.SocketPath(long+"er", "f.sock"); other == path {
		t.Error("two state directories share a socket")
	}
}

func TestSocketPathWithoutARuntimeFolder(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "")
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	long := filepath.Join("/", strings.Repeat("long", 30))
	path, _, err := envoy.SocketPath(long, "f.sock")
	if err != nil || !strings.HasPrefix(path, tmp) {
		t.Fatalf("%q, %v", path, err)
	}
	if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if path, _, err := envoy.SocketPath(long, "f.sock"); err == nil {
		t.Errorf("%q is in a folder that everybody may write", path)
	}
}
