package envoy_test

import (
	"strings"
	"testing"
	"time"

	"oneticket/extproc/envoy"
	"oneticket/extproc/envoy/envoytest"
)

func TestEnvoyAcceptsTheConfiguration(t *testing.T) {
	path := envoytest.Path(t)
	tests := map[string]envoy.Spec{
		"http, by address":   {Backends: []envoy.Backend{{Name: "plain", URL: "http://127.0.0.1:8080"}}},
		"http, IPv6":         {Backends: []envoy.Backend{{Name: "plain", URL: "http://[::1]:8080"}}},
		"https, by name":     {Backends: []envoy.Backend{{Name: "jira", URL: "https://jira.example.com"}}},
		"https, by address":  {Backends: []envoy.Backend{{Name: "jira", URL: "https://127.0.0.1:8443"}}},
		"a path in the URL":  {Backends: []envoy.Backend{{Name: "jira", URL: "https://example.com/jira/"}}},
		"refuses when away":  {Backends: []envoy.Backend{{Name: "jira", URL: "http://127.0.0.1", FailureClosed: true}}},
		"several methods":    {Backends: []envoy.Backend{{Name: "jira", URL: "http://127.0.0.1", Methods: []string{"POST", "PUT"}}}},
		"no retries":         {Backends: []envoy.Backend{{Name: "jira", URL: "http://127.0.0.1", Retries: -1}}},
		"access-log service": {Backends: []envoy.Backend{{Name: "jira", URL: "http://127.0.0.1"}}, AccessLogService: true},
		"two backends":       {Backends: []envoy.Backend{{Name: "a b", URL: "http://127.0.0.1"}, {Name: "c", URL: "https://[::1]"}}},
		"nothing":            {},
	}
	for name, spec := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bootstrap, err := envoy.Bootstrap(envoytest.Fill(t, spec))
			if err != nil {
				t.Fatal(err)
			}
			if err := envoy.Validate(t.Context(), path, bootstrap); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestValidateGivesEnvoysOwnWords(t *testing.T) {
	path := envoytest.Path(t)
	bootstrap, err := envoy.Bootstrap(envoytest.Fill(t, envoy.Spec{
		Backends: []envoy.Backend{{Name: "jira", URL: "http://127.0.0.1"}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	bootstrap.StaticResources.Clusters = bootstrap.StaticResources.Clusters[:1]
	err = envoy.Validate(t.Context(), path, bootstrap)
	if err == nil || !strings.Contains(err.Error(), "jira") {
		t.Fatalf("got %v, want Envoy's word on the missing cluster jira", err)
	}
	if strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "[critical]") || len(err.Error()) > 1000 {
		t.Errorf("not shortened: %v", err)
	}
}

func TestEveryMistakeOfASpecIsNamedAtOnce(t *testing.T) {
	spec := envoytest.Fill(t, envoy.Spec{Backends: []envoy.Backend{
		{Name: "oneticket", URL: "http://a"},
		{Name: "ftp", URL: "ftp://a"},
		{Name: "hostless", URL: "https:///x"},
		{Name: "user", URL: "https://user:hush@a"},
		{Name: "name", URL: "http://a", Listen: "localhost:1"},
		{Name: "port", URL: "http://a", Listen: "127.0.0.1:70000"},
		{Name: "one", URL: "http://a", Listen: "127.0.0.1:81"},
		{Name: "two", URL: "http://a", Listen: "127.0.0.1:81"},
		{Name: "method", URL: "http://a", Methods: []string{"P(OST"}},
	}})
	spec.Socket = "relative"
	spec.MessageTimeout = 2 * time.Hour
	_, err := envoy.Bootstrap(spec)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		`socket: "relative"`, "message_timeout 2h", "the filter's own", `the scheme "ftp"`, "names no host",
		`backend "user": url:`, `"localhost" is no IP`, `"70000" is no port`, `taken by backend "one"`, `"P(OST" is no method`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "hush") {
		t.Errorf("a password in: %v", err)
	}
}

func TestHostsAreWhatRequestsAreSentOnTo(t *testing.T) {
	hosts, err := envoy.Spec{Backends: []envoy.Backend{
		{Name: "a", URL: "https://ACME.example:443/jira"},
		{Name: "b", URL: "http://10.0.0.1:8080"},
		{Name: "c", URL: "https://[::1]:80"},
	}}.Hosts()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "acme.example", "b": "10.0.0.1:8080", "c": "[::1]:80"} {
		if hosts[name] != want {
			t.Errorf("%s: got %q, want %q", name, hosts[name], want)
		}
	}
}

func TestTheRenderedConfigurationIsTheSameEveryTime(t *testing.T) {
	spec := envoytest.Fill(t, envoy.Spec{Backends: []envoy.Backend{{Name: "jira", URL: "http://127.0.0.1"}}})
	var first string
	for range 20 {
		bootstrap, err := envoy.Bootstrap(spec)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := envoy.JSON(bootstrap)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(raw)
		}
		if string(raw) != first {
			t.Fatal("two renderings differ")
		}
	}
}
