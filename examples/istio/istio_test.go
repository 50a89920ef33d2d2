package istio_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"oneticket/examples/exampletest"
	"oneticket/extproc/envoy"
	"oneticket/extproc/envoy/envoytest"
)

type tree = exampletest.Tree

func read(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("istio.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var update = flag.Bool("update", false, "write istio.yaml")

func TestTheFileIsWhatIsPrinted(t *testing.T) {
	printed := exampletest.Printed(t, "--for", "istio", "-c", "oneticket.hcl", "--namespace", "automation", "--app", "legacy-alerts")
	if *update {
		if err := os.WriteFile("istio.yaml", printed, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if read(t) != string(printed) {
		t.Errorf("istio.yaml is not what is printed, which go test ./examples/istio -update writes:\n%s", printed)
	}
}

func TestIstioTakesTheObjects(t *testing.T) { exampletest.Kinds(t, "TestIstioTakesTheObjects") }

// TestEnvoyTakesTheParts puts the patches where Istio puts them, into as little
// as a configuration can be.
func TestEnvoyTakesTheParts(t *testing.T) {
	objects := exampletest.Documents(t, []byte(strings.ReplaceAll(read(t), "/run/oneticket", t.TempDir())))
	route := &routev3.Route{
		Name:   envoy.GuardedRoute,
		Match:  &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}},
		Action: &routev3.Route_Route{Route: &routev3.RouteAction{ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: envoy.FilterCluster}}},
	}
	manager := &hcmv3.HttpConnectionManager{StatPrefix: "sidecar"}
	listener := &listenerv3.Listener{
		Name: "0.0.0.0_80",
		Address: &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
			Address: "127.0.0.1", PortSpecifier: &corev3.SocketAddress_PortValue{},
		}}},
	}
	var cluster *clusterv3.Cluster
	for _, p := range patches(t, objects) {
		value := p["patch"].(tree)["value"]
		switch p["applyTo"] {
		case "CLUSTER":
			cluster = exampletest.Message(t, value, &clusterv3.Cluster{})
		case "HTTP_FILTER":
			manager.HttpFilters = append(manager.HttpFilters, exampletest.Message(t, value, &hcmv3.HttpFilter{}), router(t))
		case "NETWORK_FILTER":
			more := exampletest.Message(t, value, &listenerv3.Filter{})
			own := &hcmv3.HttpConnectionManager{}
			if err := more.GetTypedConfig().UnmarshalTo(own); err != nil {
				t.Fatal(err)
			}
			proto.Merge(manager, own)
		case "LISTENER":
			proto.Merge(listener, exampletest.Message(t, value, &listenerv3.Listener{}))
		case "HTTP_ROUTE":
			proto.Merge(route, exampletest.Message(t, value, &routev3.Route{}))
		default:
			t.Errorf("a patch for %v", p["applyTo"])
		}
	}
	manager.RouteSpecifier = &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: &routev3.RouteConfiguration{
		VirtualHosts: []*routev3.VirtualHost{{Name: "acme.service-now.com:80", Domains: []string{"*"}, Routes: []*routev3.Route{route}}},
	}}
	listener.FilterChains = []*listenerv3.FilterChain{{Filters: []*listenerv3.Filter{{
		Name: "envoy.filters.network.http_connection_manager", ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: packed(t, manager)},
	}}}}
	bootstrap := &bootstrapv3.Bootstrap{StaticResources: &bootstrapv3.Bootstrap_StaticResources{
		Listeners: []*listenerv3.Listener{listener}, Clusters: []*clusterv3.Cluster{cluster},
	}}
	if err := bootstrap.ValidateAll(); err != nil {
		t.Fatal(err)
	}
	if err := envoy.Validate(t.Context(), envoytest.Path(t), bootstrap); err != nil {
		t.Error(err)
	}
}

// patches are those of the EnvoyFilter.
func patches(t *testing.T, objects []tree) (all []tree) {
	t.Helper()
	for _, o := range objects {
		if o["kind"] != "EnvoyFilter" {
			continue
		}
		for _, p := range o["spec"].(tree)["configPatches"].([]any) {
			all = append(all, p.(tree))
		}
	}
	if len(all) != 5 {
		t.Fatalf("%d patches, want 5", len(all))
	}
	return all
}

func router(t *testing.T) *hcmv3.HttpFilter {
	return &hcmv3.HttpFilter{Name: "envoy.filters.http.router", ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: packed(t, &routerv3.Router{})}}
}

func packed(t *testing.T, m proto.Message) *anypb.Any {
	t.Helper()
	a, err := anypb.New(m)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
