package envoy_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"oneticket/extproc/envoy"
	"oneticket/extproc/envoy/envoytest"
)

// A controlled is an Envoy that asks a Control, which is beside the filter on
// one socket.
type controlled struct {
	*envoytest.Running
	control *envoy.Control
	filter  *filter
}

func newControl(t *testing.T) *envoy.Control {
	return envoy.NewControl(slog.New(slog.NewTextHandler(t.Output(), nil)))
}

// startControlled brings all three up.
func startControlled(t *testing.T, spec envoy.Spec) *controlled {
	t.Helper()
	spec = envoytest.Fill(t, spec)
	c := &controlled{control: newControl(t)}
	c.set(t, spec)
	c.filter = startFilter(t, spec.Socket, c.control.Register)
	c.Running = launchDynamic(t, spec)
	c.wait(t)
	c.Await(t)
	return c
}

func launchDynamic(t *testing.T, spec envoy.Spec) *envoytest.Running {
	t.Helper()
	bootstrap, err := envoy.DynamicBootstrap(spec)
	if err != nil {
		t.Fatal(err)
	}
	return envoytest.Launch(t, spec, bootstrap)
}

func (c *controlled) set(t *testing.T, spec envoy.Spec) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if err := c.control.Set(ctx, spec); err != nil {
		t.Fatal(err)
	}
}

func (c *controlled) wait(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if err := c.control.Wait(ctx); err != nil {
		t.Fatal(err)
	}
}

// counters are those that an update of listeners and clusters changes.
func (c *controlled) counters(t *testing.T) string {
	t.Helper()
	var all []string
	for _, name := range []string{
		"listener_manager.listener_added", "listener_manager.listener_modified", "listener_manager.listener_in_place_updated",
		"listener_manager.listener_removed", "cluster_manager.cluster_added", "cluster_manager.cluster_modified", "cluster_manager.cluster_removed",
	} {
		n, err := c.Counter(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(name, " ", n))
	}
	return strings.Join(all, ", ")
}

func clone(spec envoy.Spec) envoy.Spec {
	spec.Backends = append([]envoy.Backend(nil), spec.Backends...)
	return spec
}

func freeze(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
}

func thaw(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}
