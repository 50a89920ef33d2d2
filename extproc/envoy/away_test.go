package envoy_test

import (
	"testing"
	"time"

	"oneticket/extproc/envoy"
	"oneticket/extproc/envoy/envoytest"
)

func TestFilterAway(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	e := envoytest.Start(t, envoy.Spec{
		FilterRetry: time.Second,
		Backends: []envoy.Backend{
			{Name: "open", URL: b.url("http")},
			{Name: "closed", URL: b.url("http"), FailureClosed: true},
		},
	})
	t.Run("open lets the create pass, and the bypass log names it", func(t *testing.T) {
		a := send(t, e.Addresses["open"], post("/open?token=hush", "{}"))
		if a.status() != "201" || len(b.got("/open")) != 1 {
			t.Errorf("got %+v", a)
		}
		if entry := bypassed(t, e, "/open"); entry.Sent == 0 || entry.Cluster != "open" || entry.Status != 201 {
			t.Errorf("logged: %+v", entry)
		}
	})
	t.Run("closed refuses the create", func(t *testing.T) {
		a := send(t, e.Addresses["closed"], post("/closed", "{}"))
		if a.status() != "503" || len(b.got("/closed")) != 0 {
			t.Errorf("got %+v", a)
		}
		if entry := bypassed(t, e, "/closed"); entry.Sent != 0 {
			t.Errorf("logged as sent: %+v", entry)
		}
	})
	t.Run("what is no create passes both", func(t *testing.T) {
		for _, name := range []string{"open", "closed"} {
			if a := send(t, e.Addresses[name], get("/read")); a.status() != "201" {
				t.Errorf("%s: got %+v", name, a)
			}
		}
	})
}

func TestAFilterThatRestartsIsNoOutage(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	e := envoytest.Start(t, envoy.Spec{Backends: []envoy.Backend{{Name: "jira", URL: b.url("http"), FailureClosed: true}}})
	answered := make(chan message)
	go func() { answered <- send(t, e.Addresses["jira"], post("/during", "{}")) }()
	// The create is held: it is neither sent nor refused while the filter is away.
	select {
	case a := <-answered:
		t.Fatalf("answered while the filter was away: %+v", a)
	case <-time.After(time.Second):
	}
	f := startFilter(t, e.Spec.Socket)
	if a := <-answered; a.status() != "201" {
		t.Errorf("got %+v", a)
	}
	if !b.only(t, "/during").has("Idempotency-Key: idem:1") || f.seen("/during") != 1 {
		t.Error("the create passed without the filter")
	}
}

func TestACreateToARefusedBackendIsTriedAgain(t *testing.T) {
	t.Parallel()
	address := deadPort(t)
	spec := envoytest.Fill(t, envoy.Spec{Backends: []envoy.Backend{
		{Name: "dead", URL: "http://" + address},
		{Name: "once", URL: "http://" + address, Retries: -1},
	}})
	startFilter(t, spec.Socket)
	e := envoytest.Start(t, spec)
	for backend, want := range map[string]uint64{"dead": 5, "once": 1} {
		a := send(t, e.Addresses[backend], post("/issue", "{}"))
		if a.status() != "503" {
			t.Errorf("%s: got %+v", backend, a)
		}
		got, err := e.Counter(t.Context(), "cluster."+backend+".upstream_cx_connect_fail")
		if err != nil || got != want {
			t.Errorf("%s: %d tries, %v; want %d", backend, got, err, want)
		}
	}
	// A read is the client's own affair.
	before, err := e.Counter(t.Context(), "cluster.dead.upstream_cx_connect_fail")
	if err != nil {
		t.Fatal(err)
	}
	send(t, e.Addresses["dead"], get("/issue"))
	if after, _ := e.Counter(t.Context(), "cluster.dead.upstream_cx_connect_fail"); after != before+1 {
		t.Errorf("a GET was tried %d times", after-before)
	}
}
