package envoy_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"oneticket/extproc/envoy"
	"oneticket/extproc/envoy/envoytest"
)

// TestAnEnvoyThatIsToldToEndAgainAndAgainNamesWhatItLetPass: the kernel tells it
// once for each thread of a parent that is killed, and while it ends the second
// word is its death.
func TestAnEnvoyThatIsToldToEndAgainAndAgainNamesWhatItLetPass(t *testing.T) {
	t.Parallel()
	const creates = 8
	for round := range 10 {
		came, release := make(chan struct{}, creates), make(chan struct{})
		backend := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			came <- struct{}{}
			<-release
		}))
		spec := envoytest.Fill(t, envoy.Spec{FilterRetry: 250 * time.Millisecond, Backends: []envoy.Backend{{Name: "jira", URL: backend.URL, Listen: "127.0.0.1:0"}}})
		child := start(t, spec)
		if err := child.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		addresses, err := child.Addresses(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var clients sync.WaitGroup
		for i := range creates { // the filter is away: they pass
			clients.Go(func() {
				res, err := http.Post(fmt.Sprintf("http://%s/create/%d", addresses["jira"], i), "application/json", strings.NewReader("{}"))
				if err == nil {
					res.Body.Close()
				}
			})
		}
		for range creates {
			<-came
		}
		for running(child.PID()) {
			_ = syscall.Kill(child.PID(), syscall.SIGTERM) // it may have ended already
		}
		waitDone(t, child)
		close(release)
		clients.Wait()
		backend.Close()
		raw, err := os.ReadFile(filepath.Join(spec.StateDir, envoy.BypassLog))
		if err != nil {
			t.Fatal(err)
		}
		if named := strings.Count(string(raw), "/create/"); named != creates {
			t.Errorf("round %d: %d passed, %d are named (it ended with %v)", round, creates, named, child.Err())
		}
	}
}
