package envoy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"oneticket/extproc/envoy"
	"oneticket/extproc/envoy/envoytest"
)

func TestEnvoyAcceptsTheDynamicBootstrap(t *testing.T) {
	t.Parallel()
	bootstrap, err := envoy.DynamicBootstrap(envoytest.Fill(t, envoy.Spec{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := envoy.Validate(t.Context(), envoytest.Path(t), bootstrap); err != nil {
		t.Error(err)
	}
	if _, err := envoy.DynamicBootstrap(envoy.Spec{}); err == nil {
		t.Error("a spec without paths is accepted")
	}
}

func TestAControlledEnvoyDoesWhatAStaticOneDoes(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	c := startControlled(t, envoy.Spec{Backends: []envoy.Backend{{Name: "jira", URL: b.url("http")}, {Name: "snow", URL: b.url("http") + "/below"}}})
	if a := send(t, c.Addresses["jira"], post("/issue", "{}")); a.status() != "201" || !b.only(t, "/issue").has("Idempotency-Key: idem:1") {
		t.Errorf("got %+v", a)
	}
	if a := send(t, c.Addresses["snow"], post("/issue", "{}")); a.status() != "201" || len(b.got("/below/issue")) != 1 {
		t.Errorf("got %+v", a)
	}
	if a := send(t, c.Addresses["jira"], get("/read")); a.status() != "201" || c.filter.seen("/read") != 0 {
		t.Errorf("got %+v", a)
	}
	if s := c.control.Status(); s.Envoys != 1 || !s.Taken || s.Version == "" || s.Rejected != nil {
		t.Errorf("status %+v", s)
	}
}

func TestAChangeOfMethodsTouchesTheRoutesAlone(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	c := startControlled(t, envoy.Spec{Backends: []envoy.Backend{{Name: "jira", URL: b.url("http")}}})
	before := c.counters(t)
	spec := clone(c.Spec)
	spec.Backends[0].Methods = []string{"POST", "PUT"}
	spec.Backends[0].Retries = 1
	c.set(t, spec)
	if after := c.counters(t); after != before {
		t.Errorf("before %s\nafter %s", before, after)
	}
	send(t, c.Addresses["jira"], strings.Replace(post("/put", "{}"), "POST", "PUT", 1))
	if c.filter.seen("/put") != 1 {
		t.Error("the new method does not meet the filter")
	}
}

func TestAChangedListenerKeepsItsPortAndWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*envoy.Spec){
		"the filter's part of it": func(s *envoy.Spec) { s.Backends[0].FailureClosed = true },
		"the whole of it":         func(s *envoy.Spec) { s.MaxBody *= 2 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startBackend(t, nil)
			c := startControlled(t, envoy.Spec{MaxBody: 5 << 20, Backends: []envoy.Backend{{Name: "jira", URL: b.url("http")}}})
			address := c.Addresses["jira"]
			held := make(chan message, 1)
			go func() { held <- send(t, address, post("/held", "{}")) }()
			idle := dial(t, address) // a client that keeps its connection
			r := bufio.NewReader(idle)
			exchange := func(path string) message {
				_, _ = io.WriteString(idle, post(path, "{}"))
				m, err := readMessage(r)
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
			exchange("/before")
			poll(t, "the create reaches the backend", func() bool { return len(b.got("/held")) == 1 })

			before := c.counters(t)
			spec := clone(c.Spec)
			change(&spec)
			c.set(t, spec)
			c.Await(t)
			if after := c.counters(t); after == before {
				t.Error("nothing changed")
			}
			if c.Addresses["jira"] != address {
				t.Errorf("it moved from %s to %s", address, c.Addresses["jira"])
			}
			if a := send(t, address, post("/after", "{}")); a.status() != "201" {
				t.Errorf("a new client got %+v", a)
			}
			if a := exchange("/kept"); a.status() != "201" {
				t.Errorf("the client that keeps its connection got %+v", a)
			}
			close(b.held)
			if a := <-held; a.status() != "201" {
				t.Errorf("the create under way got %+v", a)
			}
		})
	}
}

func TestWhatIsUnderWayEndsAtTheBackendWhereItBegan(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*envoy.Spec, string){
		"the backend is gone":       func(s *envoy.Spec, _ string) { s.Backends = s.Backends[1:] },
		"the backend has moved":     func(s *envoy.Spec, url string) { s.Backends[0].URL = url },
		"its listener has moved":    func(s *envoy.Spec, _ string) { s.Backends[0].Listen = "127.0.0.2:0" },
		"it has a path before it":   func(s *envoy.Spec, _ string) { s.Backends[0].URL += "/x" },
		"it has other methods":      func(s *envoy.Spec, _ string) { s.Backends[0].Methods = []string{"PUT"} },
		"it refuses when away, now": func(s *envoy.Spec, _ string) { s.Backends[0].FailureClosed = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, other := startBackend(t, nil), startBackend(t, nil)
			c := startControlled(t, envoy.Spec{Backends: []envoy.Backend{{Name: "jira", URL: b.url("http")}, {Name: "snow", URL: b.url("http")}}})
			held, address := make(chan message, 1), c.Addresses["jira"]
			go func() { held <- send(t, address, post("/held", "{}")) }()
			poll(t, "the create reaches the backend", func() bool { return len(b.got("/held")) == 1 })
			spec := clone(c.Spec)
			change(&spec, other.url("http"))
			c.set(t, spec)
			c.Await(t)
			if a := send(t, c.Addresses["snow"], post("/issue", "{}")); a.status() != "201" {
				t.Errorf("meanwhile: %+v", a)
			}
			close(b.held)
			if a := <-held; a.status() != "201" || len(other.got("/held")) != 0 {
				t.Errorf("got %+v", a)
			}
		})
	}
}

func TestBackendsComeAndGoWithoutALostRequest(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	spec := envoy.Spec{Backends: []envoy.Backend{{Name: "jira", URL: b.url("http")}}}
	c := startControlled(t, spec)
	stop, lost, address := make(chan struct{}), make(chan string, 1), c.Addresses["jira"]
	go func() {
		defer close(lost)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if a := send(t, address, post("/busy", "{}")); a.status() != "201" {
				lost <- fmt.Sprintf("request %d got %+v", i, a)
				return
			}
		}
	}()
	for round := range 5 {
		more := clone(c.Spec)
		more.Backends = append(more.Backends, envoy.Backend{Name: "snow", URL: strings.Replace(b.url("http"), "127.0.0.1", "localhost", 1), Listen: "127.0.0.1:0"})
		more.Backends[0].URL = b.url("http") + fmt.Sprint("/round", round)
		c.set(t, more)
		c.Await(t)
		if a := send(t, c.Addresses["snow"], post("/new", "{}")); a.status() != "201" {
			t.Errorf("the new backend: %+v", a)
		}
		c.set(t, c.Spec)
	}
	close(stop)
	if what, ok := <-lost; ok {
		t.Error(what)
	}
	c.Await(t)
	if len(c.Addresses) != 1 {
		t.Errorf("listeners %v", c.Addresses)
	}
	if n, err := c.Counter(t.Context(), "cluster_manager.active_clusters"); err != nil || n != 2 {
		t.Errorf("%d clusters, %v; want the filter's and the backend's", n, err)
	}
}

func TestARestartOfTheControlChangesNothing(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	c := startControlled(t, envoy.Spec{Backends: []envoy.Backend{{Name: "jira", URL: b.url("http")}, {Name: "snow", URL: b.url("http")}}})
	before, version, addresses := c.counters(t), c.control.Status().Version, c.Addresses
	c.filter.server.Stop()
	if a := send(t, c.Addresses["jira"], get("/away")); a.status() != "201" {
		t.Errorf("while it is away: %+v", a)
	}
	c.control = newControl(t)
	c.set(t, c.Spec)
	startFilter(t, c.Spec.Socket, c.control.Register)
	c.wait(t)
	c.Await(t)
	if s := c.control.Status(); s.Version != version {
		t.Errorf("version %s, before %s", s.Version, version)
	}
	if after := c.counters(t); after != before {
		t.Errorf("before %s\nafter %s", before, after)
	}
	for name, address := range addresses {
		if c.Addresses[name] != address {
			t.Errorf("%s moved from %s to %s", name, address, c.Addresses[name])
		}
	}
	if a := send(t, c.Addresses["jira"], post("/issue", "{}")); a.status() != "201" {
		t.Errorf("got %+v", a)
	}
}

func TestEnvoyMayBeThereFirst(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	spec := envoytest.Fill(t, envoy.Spec{Backends: []envoy.Backend{{Name: "jira", URL: b.url("http")}}})
	e := launchDynamic(t, spec)
	poll(t, "Envoy is there", func() bool { _, err := e.Counter(t.Context(), "server.live"); return err == nil })
	brief, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := e.Ready(brief); err == nil {
		t.Error("ready without a configuration")
	}
	c := &controlled{Running: e, control: newControl(t)}
	c.filter = startFilter(t, spec.Socket, c.control.Register)
	poll(t, "Envoy asks", func() bool { return c.control.Status().Envoys == 1 })
	c.set(t, spec)
	c.Await(t)
	if a := send(t, c.Addresses["jira"], post("/issue", "{}")); a.status() != "201" {
		t.Errorf("got %+v", a)
	}
}
