package envoy

import (
	"fmt"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"go.yaml.in/yaml/v3"
)

const (
	connectionManagerName = "envoy.filters.network.http_connection_manager"
	routerName            = "envoy.filters.http.router"
)

const istioHead = `# Objects for Istio: the sidecar of the pods with the label app guards what they
# send to each backend in plain http, and speaks https to the backend itself. What
# an application sends in https of its own is opaque to a sidecar: it passes, and
# nothing of it is guarded.`

// meshPort is where an application in the mesh speaks plain http.
const meshPort = 80

// istio makes objects for each backend, and an EnvoyFilter for all.
func (b *builder) istio(mesh Mesh) ([]byte, error) {
	var objects []object
	for _, backend := range b.spec.Backends {
		t, err := parseTarget(backend.URL)
		if err != nil {
			return nil, err
		}
		if t.prefix != "" {
			return nil, fmt.Errorf("backend %q: a sidecar sends a path on as it is, and the url has one", backend.Name)
		}
		objects = append(objects, mesh.serviceEntry(backend, t), mesh.destinationRule(backend, t), mesh.virtualService(backend, t))
	}
	filter, err := b.envoyFilter(mesh)
	if err != nil {
		return nil, err
	}
	return manifest(istioHead, append(objects, filter))
}

// manifest renders objects of Kubernetes; each may have a comment at its first
// member.
func manifest(head string, objects []object) ([]byte, error) {
	var all []*yaml.Node
	for _, o := range objects {
		n, err := node(o)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	text, err := documents(all...)
	if err != nil {
		return nil, err
	}
	return append([]byte(head+"\n---\n"), text...), nil
}

func (m Mesh) object(version, kind, name, comment string, spec object) object {
	return object{
		{"apiVersion", version, comment},
		{"kind", kind, ""},
		{"metadata", object{{"name", name, ""}, {"namespace", m.Namespace, ""}}, ""},
		{"spec", spec, ""},
	}
}

const istioNetworking = "networking.istio.io/v1"

func (m Mesh) serviceEntry(backend Backend, t target) object {
	ports := []any{object{{"number", meshPort, ""}, {"name", "http", ""}, {"protocol", "HTTP", ""}, {"targetPort", int(t.port), ""}}}
	return m.object(istioNetworking, "ServiceEntry", "oneticket-"+backend.Name, "# The backend, as the mesh knows it: plain http to port 80 is sent on to its own port.", object{
		{"hosts", []string{t.host}, ""},
		{"location", "MESH_EXTERNAL", ""},
		{"ports", ports, ""},
		{"resolution", "DNS", ""},
	})
}

func (m Mesh) destinationRule(backend Backend, t target) object {
	policy := object{{"port", object{{"number", meshPort, ""}}, ""}}
	policy = append(policy, field{"connectionPool", object{{"http", object{{"idleTimeout", seconds(upstreamIdle), ""}}, ""}}, ""})
	if t.tls {
		policy = append(policy, field{"tls", object{{"mode", "SIMPLE", ""}, {"sni", t.host, ""}, {"subjectAltNames", []string{t.host}, ""}, {"caCertificates", "system", ""}}, ""})
	}
	return m.object(istioNetworking, "DestinationRule", "oneticket-"+backend.Name, "# The sidecar begins TLS, and closes kept connections before the backend does.", object{
		{"host", t.host, ""},
		{"trafficPolicy", object{{"portLevelSettings", []any{policy}, ""}}, ""},
	})
}

func (m Mesh) virtualService(backend Backend, t target) object {
	to := []any{object{{"destination", object{{"host", t.host, ""}, {"port", object{{"number", meshPort, ""}}, ""}}, ""}}}
	var matches []any
	for _, method := range backend.Methods {
		matches = append(matches, object{{"method", object{{"exact", method, ""}}, ""}})
	}
	// Istio retries by default, 503 included: a second ticket.
	never := object{{"attempts", 0, ""}}
	return m.object(istioNetworking, "VirtualService", "oneticket-"+backend.Name, "# The mesh's own retries are off: one of a create that was sent opens a second ticket.", object{
		{"hosts", []string{t.host}, ""},
		{"http", []any{
			object{{"name", GuardedRoute, ""}, {"match", matches, ""}, {"timeout", seconds(backend.Timeout), ""}, {"retries", never, ""}, {"route", to, ""}},
			object{{"name", RestRoute, ""}, {"retries", never, ""}, {"route", to, ""}},
		}, ""},
	})
}

// envoyFilter is the part of the configuration for which Istio has no object.
func (b *builder) envoyFilter(mesh Mesh) (object, error) {
	manager := object{{"name", connectionManagerName, ""}}
	before := object{{"name", connectionManagerName, ""}, {"subFilter", object{{"name", routerName, ""}}, ""}}
	patches := []any{
		patch("CLUSTER", object{}, "ADD", b.filterCluster()),
		patch("HTTP_FILTER", atListener(before), "INSERT_BEFORE", b.foreignFilter()),
		patch("NETWORK_FILTER", atListener(manager), "MERGE", &listenerv3.Filter{
			Name:       connectionManagerName,
			ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: b.any(b.meshManager())},
		}),
		patch("LISTENER", object{{"listener", object{{"portNumber", meshPort, ""}}, ""}}, "MERGE",
			&listenerv3.Listener{PerConnectionBufferLimitBytes: number(b.spec.BufferLimit())}),
	}
	for _, backend := range b.spec.Backends {
		t, err := parseTarget(backend.URL)
		if err != nil {
			return nil, err
		}
		patches = append(patches, patch("HTTP_ROUTE", atRoute(t), "MERGE", &routev3.Route{
			TypedPerFilterConfig:   b.foreignOn(backend),
			RequestHeadersToRemove: addedHeaders[1:],
		}))
	}
	return mesh.object("networking.istio.io/v1alpha3", "EnvoyFilter", "oneticket", "# The filter: off in the chain, on for the guarded routes.", object{
		{"workloadSelector", object{{"labels", object{{"app", mesh.App, ""}}, ""}}, ""},
		{"configPatches", patches, ""},
	}), nil
}

// meshManager is what a sidecar's connection manager gets beside its own.
func (b *builder) meshManager() *hcmv3.HttpConnectionManager {
	own := b.foreignManager()
	return &hcmv3.HttpConnectionManager{
		AccessLog:                     b.accessLogs(b.spec.hidesPaths()),
		StreamIdleTimeout:             own.GetStreamIdleTimeout(),
		EarlyHeaderMutationExtensions: own.GetEarlyHeaderMutationExtensions(),
		LocalReplyConfig:              own.GetLocalReplyConfig(),
	}
}

func patch(applyTo string, match object, operation string, value any) object {
	return object{
		{"applyTo", applyTo, ""},
		{"match", append(object{{"context", "SIDECAR_OUTBOUND", ""}}, match...), ""},
		{"patch", object{{"operation", operation, ""}, {"value", value, ""}}, ""},
	}
}

func atListener(filter object) object {
	return object{{"listener", object{
		{"portNumber", meshPort, ""},
		{"filterChain", object{{"filter", filter, ""}}, ""},
	}, ""}}
}

func atRoute(t target) object {
	return object{{"routeConfiguration", object{{"vhost", object{
		{"name", fmt.Sprintf("%s:%d", t.host, meshPort), ""},
		{"route", object{{"name", GuardedRoute, ""}}, ""},
	}, ""}}, ""}}
}
