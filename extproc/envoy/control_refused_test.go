package envoy_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"oneticket/extproc/envoy"
	"oneticket/extproc/envoy/envoytest"
)

func TestARefusedConfigurationChangesNothing(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	c := startControlled(t, envoy.Spec{Backends: []envoy.Backend{{Name: "jira", URL: b.url("http")}}})
	version := c.control.Status().Version
	bad := clone(c.Spec)
	// What Envoy would take goes along with what it cannot.
	bad.Backends[0].URL = b.url("http") + "/bad"
	bad.Backends[0].FailureClosed = true
	bad.Backends = append(bad.Backends, envoy.Backend{Name: "snow", URL: b.url("http"), Listen: b.listener.Addr().String()})
	for range 2 {
		err := c.control.Set(t.Context(), bad)
		if err == nil || !strings.Contains(err.Error(), "envoy refused its listeners: ") || !strings.Contains(err.Error(), "snow") ||
			!strings.Contains(err.Error(), "in use") {
			t.Fatalf("got %v", err)
		}
		if s := c.control.Status(); s.Rejected == nil || s.Rejected.Error() != err.Error() || s.Version != version {
			t.Errorf("status %+v, want version %s", s, version)
		}
	}
	poll(t, "Envoy has the last good one", func() bool { return c.control.Status().Taken })
	if a := send(t, c.Addresses["jira"], post("/issue", "{}")); a.status() != "201" || len(b.got("/issue")) != 1 {
		t.Errorf("got %+v, the backend %+v", a, b.got("/bad/issue"))
	}
	if n, err := c.Counter(t.Context(), "listener_manager.lds.update_rejected"); err != nil || n != 2 {
		t.Errorf("refused %d times, %v; want once for each Set", n, err)
	}
	if n, err := c.Counter(t.Context(), "cluster_manager.active_clusters"); err != nil || n != 2 {
		t.Errorf("%d clusters, %v; want no part of the refused configuration", n, err)
	}
	good := clone(c.Spec)
	good.Backends[0].Methods = []string{"PUT"}
	c.set(t, good)
	if s := c.control.Status(); s.Rejected != nil || !s.Taken || s.Version == version {
		t.Errorf("status %+v", s)
	}
}

func TestTheFirstConfigurationIsRefused(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	other := startBackend(t, nil)
	spec := envoytest.Fill(t, envoy.Spec{Backends: []envoy.Backend{{Name: "jira", URL: b.url("http"), Listen: other.listener.Addr().String()}}})
	c := &controlled{control: newControl(t)}
	c.set(t, spec) // nobody is there to refuse it
	if s := c.control.Status(); s.Envoys != 0 || s.Taken {
		t.Errorf("status %+v", s)
	}
	c.filter = startFilter(t, spec.Socket, c.control.Register)
	c.Running = launchDynamic(t, spec)
	if err := c.control.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Fatalf("got %v", err)
	}
	if err := c.control.Set(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Fatalf("the second time: got %v", err)
	}
	other.listener.Close()
	c.set(t, spec) // the same, when the port is free
	c.Await(t)
	if a := send(t, c.Addresses["jira"], post("/issue", "{}")); a.status() != "201" {
		t.Errorf("got %+v", a)
	}
}

func TestAFrozenEnvoyDoesNotHoldAnUpdateForEver(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	c := startControlled(t, envoy.Spec{Backends: []envoy.Backend{{Name: "jira", URL: b.url("http")}}})
	version := c.control.Status().Version
	freeze(t, c.PID())
	next := clone(c.Spec)
	next.Backends[0].Methods = []string{"PUT"}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := c.control.Set(ctx, next); err == nil || !strings.Contains(err.Error(), "deadline") {
		t.Errorf("got %v", err)
	}
	if s := c.control.Status(); s.Version != version {
		t.Errorf("status %+v", s)
	}
	thaw(t, c.PID())
	poll(t, "Envoy has answered both", func() bool {
		n, err := c.Counter(t.Context(), "http.backends.rds.jira.config_reload")
		return err == nil && n == 3 && c.control.Status().Taken
	})
	if a := send(t, c.Addresses["jira"], post("/issue", "{}")); a.status() != "201" || c.filter.seen("/issue") != 1 {
		t.Errorf("got %+v", a)
	}
}
