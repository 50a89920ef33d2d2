// Package envoytest runs the real Envoy of `make tools` in a test.
package envoytest

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"

	"oneticket/extproc/envoy"
)

// startWithin bounds the start of one Envoy on a busy machine.
const startWithin = 60 * time.Second

// Path returns the Envoy to test with: envoy.EnvVar, or that of `make tools`
// in the root of the tree. The test fails when there is none.
func Path(tb testing.TB) string {
	tb.Helper()
	path := os.Getenv(envoy.EnvVar)
	if path == "" {
		path = filepath.Join(root(tb), ".tools", "bin", "envoy")
	}
	found, err := envoy.Find(path)
	if err != nil {
		tb.Fatalf("no Envoy to test with, run `make tools`: %v", err)
	}
	return found
}

// root is the folder of go.mod.
func root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("no go.mod above the working directory")
		}
	}
}

// A Running is an Envoy that ends with its test.
type Running struct {
	*envoy.Child
	Spec      envoy.Spec
	Addresses map[string]string // by name of the backend
}

// Start runs Envoy with the spec and waits until it takes requests. Of the
// spec, StateDir and Admin are filled in where they are empty, and Socket too:
// then nobody listens there.
func Start(tb testing.TB, spec envoy.Spec) *Running {
	tb.Helper()
	spec = Fill(tb, spec)
	bootstrap, err := envoy.Bootstrap(spec)
	if err != nil {
		tb.Fatal(err)
	}
	r := Launch(tb, spec, bootstrap)
	r.Await(tb)
	return r
}

// Launch runs Envoy with the bootstrap of a filled spec, and does not wait.
func Launch(tb testing.TB, spec envoy.Spec, bootstrap *bootstrapv3.Bootstrap) *Running {
	tb.Helper()
	child, err := envoy.Start(envoy.Options{
		Path:        Path(tb),
		Bootstrap:   bootstrap,
		StateDir:    spec.StateDir,
		Log:         slog.New(slog.NewTextHandler(tb.Output(), nil)),
		Concurrency: 1,
		DrainTime:   spec.DrainTime(),
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = child.Stop(context.Background()) })
	return &Running{Child: child, Spec: spec}
}

// Await waits until Envoy takes requests, and reads its addresses.
func (r *Running) Await(tb testing.TB) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), startWithin)
	defer cancel()
	err := r.Ready(ctx)
	if err == nil {
		r.Addresses, err = r.Child.Addresses(ctx)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// Fill gives the spec paths of its own where it has none.
func Fill(tb testing.TB, spec envoy.Spec) envoy.Spec {
	tb.Helper()
	if spec.StateDir == "" {
		spec.StateDir = tb.TempDir()
	}
	for name, path := range map[string]*string{"filter.sock": &spec.Socket, "envoy.sock": &spec.Admin} {
		if *path != "" {
			continue
		}
		found, _, err := envoy.SocketPath(spec.StateDir, name)
		if err != nil {
			tb.Fatal(err)
		}
		*path = found
	}
	for i := range spec.Backends {
		if spec.Backends[i].Listen == "" {
			spec.Backends[i].Listen = "127.0.0.1:0"
		}
	}
	return spec
}
