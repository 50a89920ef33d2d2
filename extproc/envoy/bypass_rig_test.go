package envoy_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oneticket/extproc/envoy"
	"oneticket/extproc/envoy/envoytest"
)

// A bypass is one entry of the bypass log.
type bypass struct {
	Time, Method, Path, Route, Cluster, Details string
	Status                                      int
	Sent                                        int
}

// bypasses reads the whole bypass log.
func bypasses(t *testing.T, e *envoytest.Running) []bypass {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(e.Spec.StateDir, envoy.BypassLog))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "hush") {
		t.Errorf("a credential in the bypass log: %s", raw)
	}
	var found []bypass
	for line := range strings.Lines(string(raw)) {
		var b bypass
		if !strings.HasSuffix(line, "\n") {
			break // half written
		}
		if err := json.Unmarshal([]byte(line), &b); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		found = append(found, b)
	}
	return found
}

// bypassed waits for the entry with the path.
func bypassed(t *testing.T, e *envoytest.Running, path string) bypass {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		for _, b := range bypasses(t, e) {
			if b.Path == path {
				return b
			}
		}
	}
	t.Fatalf("no %s in the bypass log: %+v", path, bypasses(t, e))
	return bypass{}
}
