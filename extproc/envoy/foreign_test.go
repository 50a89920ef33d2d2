package envoy_test

import (
	"bytes"
	"strings"
	"testing"

	"oneticket/extproc/envoy"
)

func foreignSpec() envoy.Spec {
	return envoy.Spec{
		Socket: "/run/oneticket/filter.sock", StateDir: "/var/lib/oneticket", Admin: "/run/oneticket/envoy.sock",
		Roots: "/etc/ssl/certs/ca-certificates.crt",
		Backends: []envoy.Backend{
			{Name: "snow", URL: "https://acme.service-now.com", Listen: "127.0.0.1:8081"},
			{Name: "jira", URL: "https://acme.atlassian.net", Listen: "127.0.0.1:8082", FailureClosed: true},
		},
	}
}

// TestWhatIsPrintedIsTheSameEveryTime: it is kept in files and compared.
func TestWhatIsPrintedIsTheSameEveryTime(t *testing.T) {
	for _, target := range envoy.Targets {
		first, err := envoy.Foreign(target, foreignSpec(), envoy.Mesh{Namespace: "n", App: "a"})
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			again, err := envoy.Foreign(target, foreignSpec(), envoy.Mesh{Namespace: "n", App: "a"})
			if err != nil || !bytes.Equal(first, again) {
				t.Fatalf("%s differs from time to time (%v)", target, err)
			}
		}
	}
}

// TestEveryTargetHasWhatKeepsTicketsSingle looks for what must be in each.
func TestEveryTargetHasWhatKeepsTicketsSingle(t *testing.T) {
	for target, wants := range map[string][]string{
		"static": {"disabled: true", "request_body_mode: BUFFERED", "name: bypass", "name: outcome", "allow_mode_override: true",
			"retry_on: connect-failure,refused-stream,reset-before-request", "failure_mode_allow: true", "failure_mode_allow: false"},
		"bootstrap":     {"disabled: true", "request_body_mode: BUFFERED", "name: bypass", "name: outcome", "path: /run/oneticket/filter.sock"},
		"istio":         {"disabled: true", "request_body_mode: BUFFERED", "attempts: 0", "mode: SIMPLE", "name: outcome", "failure_mode_allow: false"},
		"envoy-gateway": {"body: Buffered", "failOpen: true", "failOpen: false", "writableNamespaces", "allowModeOverride: true", "type: ALS", "reset-before-request"},
	} {
		text, err := envoy.Foreign(target, foreignSpec(), envoy.Mesh{Namespace: "n", App: "a"})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s has no %q", target, want)
			}
		}
		for _, never := range []string{"retry_on: 5xx", "- 5xx", "gateway-error", "retriable-4xx"} {
			if strings.Contains(string(text), never) {
				t.Errorf("%s has %q", target, never)
			}
		}
	}
}

func TestForeignMistakes(t *testing.T) {
	for _, m := range []struct {
		name, target string
		change       func(*envoy.Spec)
		says         string
	}{
		{"an unknown target", "nginx", func(*envoy.Spec) {}, `no target "nginx"`},
		{"an address without a port", "static", func(s *envoy.Spec) { s.Remote.Address = "filter" }, `filter address "filter"`},
		{"a path that a sidecar cannot add", "istio", func(s *envoy.Spec) { s.Backends[0].URL += "/jira" }, "backend \"snow\""},
		{"a path that a gateway is not told of", "envoy-gateway", func(s *envoy.Spec) { s.Backends[0].URL += "/jira" }, "backend \"snow\""},
	} {
		t.Run(m.name, func(t *testing.T) {
			spec := foreignSpec()
			m.change(&spec)
			_, err := envoy.Foreign(m.target, spec, envoy.Mesh{})
			if err == nil || !strings.Contains(err.Error(), m.says) {
				t.Errorf("%v, want %s", err, m.says)
			}
		})
	}
}
