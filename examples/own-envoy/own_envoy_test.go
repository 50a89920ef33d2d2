package own_envoy_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/stream/v3" // of the owner's own log

	"oneticket/examples/exampletest"
	"oneticket/extproc/envoy"
	"oneticket/extproc/envoy/envoytest"
)

type tree = exampletest.Tree

func read(t *testing.T, logs string) tree {
	t.Helper()
	text, err := os.ReadFile("envoy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return exampletest.Documents(t, []byte(strings.ReplaceAll(string(text), "/var/log/envoy", logs)))[0]
}

func TestEnvoyTakesTheFile(t *testing.T) {
	bootstrap := exampletest.Message(t, read(t, t.TempDir()), &bootstrapv3.Bootstrap{})
	if err := bootstrap.ValidateAll(); err != nil {
		t.Fatal(err)
	}
	if err := envoy.Validate(t.Context(), envoytest.Path(t), bootstrap); err != nil {
		t.Error(err)
	}
}

// TestEveryPieceIsInTheFile keeps envoy.yaml equal to what is printed.
func TestEveryPieceIsInTheFile(t *testing.T) {
	pieces := exampletest.Documents(t, exampletest.Printed(t, "--for", "static", "-c", "oneticket.hcl", "--log-dir", "/var/log/envoy"))[0]
	resources := read(t, "/var/log/envoy")["static_resources"].(tree)
	listener := resources["listeners"].([]any)[0].(tree)
	manager := listener["filter_chains"].([]any)[0].(tree)["filters"].([]any)[0].(tree)["typed_config"].(tree)
	for name, where := range map[string]any{
		"clusters": resources["clusters"], "http_filters": manager["http_filters"], "access_log": manager["access_log"],
		"virtual_hosts": manager["route_config"].(tree)["virtual_hosts"],
	} {
		for _, piece := range pieces[name].([]any) {
			if !slices.ContainsFunc(where.([]any), func(x any) bool { return reflect.DeepEqual(x, piece) }) {
				t.Errorf("%s: envoy.yaml has no %v", name, piece)
			}
		}
	}
	for name, where := range map[string]tree{"listener": listener, "http_connection_manager": manager} {
		for setting, value := range pieces[name].(tree) {
			if !reflect.DeepEqual(where[setting], value) {
				t.Errorf("%s: envoy.yaml has %s %v, want %v", name, setting, where[setting], value)
			}
		}
	}
}
