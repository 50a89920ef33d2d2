package envoy

import (
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"time"
)

const gatewayHead = `# Objects for Envoy Gateway ` + gatewayTested + `, with Envoy ` + Least + ` or newer. Clients are pointed at
# the Gateway, by http; the Gateway speaks https to each backend. The extension
# API has no max_message_timeout: serve has to be told, see its envoy block.`

// gatewayTested is the version by whose types the objects are checked.
const gatewayTested = "1.9"

const (
	gatewayAPI    = "gateway.networking.k8s.io/v1"
	gatewayPolicy = "gateway.envoyproxy.io/v1alpha1"
	gatewayName   = "oneticket"
)

// BelievedByGateway is BelievedBy for what Envoy Gateway can be told.
func (s Spec) BelievedByGateway() string {
	s = s.WithDefaults()
	return fmt.Sprintf("envoy {\n  message_timeout     = %q\n  max_message_timeout = \"0s\"\n  retries             = \"safe\"\n}", seconds(s.gatewayMessageTimeout()))
}

// gatewayMessageTimeout covers the longest wait, since nothing else can; and
// not much more, since a frozen filter holds each create for so long.
func (s Spec) gatewayMessageTimeout() time.Duration {
	return max(s.Wait+10*time.Second, s.MessageTimeout)
}

func (b *builder) envoyGateway(mesh Mesh) ([]byte, error) {
	filter, err := b.gatewayFilter(mesh)
	if err != nil {
		return nil, err
	}
	objects := []object{b.gatewayProxy(mesh), b.gateway(mesh), b.gatewayClients(mesh), filter}
	for _, backend := range b.spec.Backends {
		t, err := parseTarget(backend.URL)
		if err != nil {
			return nil, err
		}
		if t.prefix != "" {
			return nil, fmt.Errorf("backend %q: the url has a path; put it before the path in an HTTPRoute of your own", backend.Name)
		}
		objects = append(objects, mesh.gatewayBackend(backend, t), mesh.gatewayRoute(backend, t, true), mesh.gatewayRoute(backend, t, false),
			b.gatewayTraffic(mesh, backend), b.gatewayExtension(mesh, backend))
	}
	return manifest(gatewayHead, objects)
}

func filterRef() []any {
	return []any{object{{"group", "gateway.envoyproxy.io", ""}, {"kind", "Backend", ""}, {"name", gatewayName, ""}}}
}

// gatewayFilter is where the filter listens.
func (b *builder) gatewayFilter(mesh Mesh) (object, error) {
	const comment = "# The filter."
	if b.spec.Remote.Address == "" {
		at := object{{"unix", object{{"path", b.spec.Socket, ""}}, ""}}
		return mesh.object(gatewayPolicy, "Backend", gatewayName, comment, object{{"endpoints", []any{at}, ""}}), nil
	}
	host, port, err := net.SplitHostPort(b.spec.Remote.Address)
	if err != nil {
		return nil, fmt.Errorf("filter address: %w", err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil, fmt.Errorf("filter address: %w", err)
	}
	at := object{{"fqdn", object{{"hostname", host, ""}, {"port", n, ""}}, ""}}
	if net.ParseIP(host) != nil {
		at = object{{"ip", object{{"address", host, ""}, {"port", n, ""}}, ""}}
	}
	return mesh.object(gatewayPolicy, "Backend", gatewayName, comment, object{
		{"endpoints", []any{at}, ""},
		{"tls", object{
			{"caCertificateRefs", []any{object{{"group", "", ""}, {"kind", "ConfigMap", ""}, {"name", "oneticket-ca", ""}}}, "# ca.crt: what signs the filter's certificate."},
			{"clientCertificateRef", object{{"kind", "Secret", ""}, {"name", "oneticket-client", ""}}, "# tls.crt and tls.key of the Gateway, signed by what serve has as ca."},
		}, ""},
	}), nil
}

// gatewayProxy sends the logs of all guarded exchanges.
func (b *builder) gatewayProxy(mesh Mesh) object {
	fields, known := object{}, bypassFields(b.spec.hidesPaths())
	for _, name := range []string{"time", "method", "path", "status", "sent", "route", "cluster", "details"} {
		if value, ok := known[name]; ok {
			fields = append(fields, field{name, value, ""})
		}
	}
	guarded := "'" + MetadataNamespace + "' in metadata.filter_metadata"
	settings := []any{
		object{
			{"type", "Route", "# What the filter decided on: it is told what became of it."},
			{"matches", []string{guarded}, ""},
			{"sinks", []any{object{{"type", "ALS", ""}, {"als", object{
				{"logName", FilterCluster, ""}, {"type", "HTTP", ""}, {"backendRefs", filterRef(), ""},
			}, ""}}}, ""},
		},
		object{
			{"type", "Route", "# What passed unguarded: creates by method that the filter did not decide on."},
			{"matches", []string{b.gatewayUndecided(guarded)}, ""},
			{"format", object{{"type", "JSON", ""}, {"json", fields, ""}}, ""},
			{"sinks", []any{object{{"type", "File", ""}, {"file", object{{"path", filepath.Join(b.spec.StateDir, BypassLog), ""}}, ""}}}, ""},
		},
	}
	return mesh.object(gatewayPolicy, "EnvoyProxy", gatewayName, "# The logs of the Gateway's Envoys.", object{
		{"telemetry", object{{"accessLog", object{{"settings", settings, ""}}, ""}}, ""},
	})
}

func (b *builder) gatewayUndecided(guarded string) string {
	var methods string
	for i, m := range b.methods() {
		if i > 0 {
			methods += ", "
		}
		methods += "'" + m + "'"
	}
	return fmt.Sprintf("request.method in [%s] && !(%s && 'decision' in metadata.filter_metadata['%s'])", methods, guarded, MetadataNamespace)
}

// methods are those of all backends, each once.
func (b *builder) methods() (all []string) {
	seen := map[string]bool{}
	for _, backend := range b.spec.Backends {
		for _, m := range backend.Methods {
			if !seen[m] {
				seen[m] = true
				all = append(all, m)
			}
		}
	}
	return all
}

func (b *builder) gateway(mesh Mesh) object {
	return mesh.object(gatewayAPI, "Gateway", gatewayName, "# Where clients go. The class is yours.", object{
		{"gatewayClassName", "envoy-gateway", ""},
		{"infrastructure", object{{"parametersRef", object{
			{"group", "gateway.envoyproxy.io", ""}, {"kind", "EnvoyProxy", ""}, {"name", gatewayName, ""},
		}, ""}}, ""},
		{"listeners", []any{object{{"name", "http", ""}, {"port", meshPort, ""}, {"protocol", "HTTP", ""}}}, ""},
	})
}

// gatewayClients is about what clients notice, and what they may ask for.
func (b *builder) gatewayClients(mesh Mesh) object {
	var idle time.Duration
	for _, backend := range b.spec.Backends {
		idle = max(idle, b.spec.gatewayIdle(backend))
	}
	return mesh.object(gatewayPolicy, "ClientTrafficPolicy", gatewayName, "# Bodies that fit; old clients; no retries that a client asks for.", object{
		{"targetRefs", gatewayRef("Gateway", gatewayName), ""},
		{"connection", object{{"bufferLimit", b.spec.BufferLimit(), ""}}, ""},
		{"timeout", object{{"http", object{{"streamIdleTimeout", seconds(idle), ""}}, ""}}, ""},
		{"http1", object{{"http10", object{}, ""}, {"preserveHeaderCase", true, ""}}, ""},
		{"headers", object{
			{"earlyRequestHeaders", object{{"remove", []string{
				"x-envoy-retry-on", "x-envoy-retry-grpc-on", "x-envoy-max-retries", "x-envoy-hedge-on-per-try-timeout",
				"x-envoy-upstream-rq-timeout-ms", "x-envoy-upstream-rq-per-try-timeout-ms",
				"x-envoy-retriable-header-names", "x-envoy-retriable-status-codes",
			}, ""}}, ""},
		}, ""},
	})
}

func (s Spec) gatewayIdle(b Backend) time.Duration {
	return s.gatewayMessageTimeout() + b.Timeout + time.Minute
}

func gatewayRef(kind, name string) []any {
	group := "gateway.networking.k8s.io"
	return []any{object{{"group", group, ""}, {"kind", kind, ""}, {"name", name, ""}}}
}

func (m Mesh) gatewayBackend(backend Backend, t target) object {
	at := object{{"fqdn", object{{"hostname", t.host, ""}, {"port", int(t.port), ""}}, ""}}
	if t.ip() {
		at = object{{"ip", object{{"address", t.host, ""}, {"port", int(t.port), ""}}, ""}}
	}
	spec := object{{"endpoints", []any{at}, ""}}
	if t.tls {
		spec = append(spec, field{"tls", object{{"wellKnownCACertificates", "System", ""}, {"sni", t.host, ""}}, ""})
	}
	return m.object(gatewayPolicy, "Backend", backend.Name, "# The ticket system.", spec)
}

// gatewayRoute sends the methods of rules through the filter, and the rest by
// it.
func (m Mesh) gatewayRoute(backend Backend, t target, guarded bool) object {
	name, comment := backend.Name, "# Everything else."
	match := []any{object{{"path", object{{"type", "PathPrefix", ""}, {"value", "/", ""}}, ""}}}
	if guarded {
		name, comment = guardedName(backend), "# What may open a ticket."
		match = nil
		for _, method := range backend.Methods {
			match = append(match, object{{"method", method, ""}})
		}
	}
	rule := object{
		{"matches", match, ""},
		{"filters", []any{object{{"type", "URLRewrite", ""}, {"urlRewrite", object{{"hostname", t.host, ""}}, ""}}}, ""},
		{"backendRefs", []any{object{{"group", "gateway.envoyproxy.io", ""}, {"kind", "Backend", ""}, {"name", backend.Name, ""}}}, ""},
	}
	return m.object(gatewayAPI, "HTTPRoute", name, comment, object{
		{"parentRefs", []any{object{{"name", gatewayName, ""}}}, ""},
		{"hostnames", []string{t.host}, ""},
		{"rules", []any{rule}, ""},
	})
}

func guardedName(b Backend) string { return "guarded-" + b.Name }

func (b *builder) gatewayTraffic(mesh Mesh, backend Backend) object {
	limit := b.inFlightLimit()
	return mesh.object(gatewayPolicy, "BackendTrafficPolicy", guardedName(backend), "# A create is sent again only where nothing of it was sent.", object{
		{"targetRefs", gatewayRef("HTTPRoute", guardedName(backend)), ""},
		{"timeout", object{{"http", object{{"requestTimeout", seconds(backend.Timeout), ""}, {"connectionIdleTimeout", seconds(upstreamIdle), ""}}, ""}}, ""},
		{"retry", object{
			{"numRetries", max(0, backend.Retries), ""},
			{"retryOn", object{{"triggers", []string{"connect-failure", "refused-stream", "reset-before-request"}, ""}}, ""},
			{"perRetry", object{{"backOff", object{{"baseInterval", "500ms", ""}, {"maxInterval", "8s", ""}}, ""}}, ""},
		}, ""},
		{"circuitBreaker", object{{"maxConnections", limit, ""}, {"maxPendingRequests", limit, ""}, {"maxParallelRequests", limit, ""}}, ""},
	})
}

func (b *builder) gatewayExtension(mesh Mesh, backend Backend) object {
	limit := b.inFlightLimit()
	mode := func(attributes []string) object {
		return object{{"body", "Buffered", ""}, {"attributes", attributes, ""}}
	}
	processor := object{
		{"backendRefs", filterRef(), ""},
		{"backendSettings", object{{"circuitBreaker", object{
			{"maxConnections", limit, ""}, {"maxPendingRequests", limit, ""}, {"maxParallelRequests", limit, ""},
		}, ""}}, ""},
		{"messageTimeout", seconds(b.spec.gatewayMessageTimeout()), ""},
		{"failOpen", !backend.FailureClosed, ""},
		{"statusOnError", 503, ""},
		{"processingMode", object{
			{"allowModeOverride", true, ""},
			{"request", mode(RequestAttributes), ""},
			{"response", mode(ResponseAttributes), ""},
		}, ""},
		{"metadata", object{{"writableNamespaces", []string{MetadataNamespace}, ""}}, ""},
	}
	return mesh.object(gatewayPolicy, "EnvoyExtensionPolicy", guardedName(backend), "# The filter, on the guarded route alone.", object{
		{"targetRefs", gatewayRef("HTTPRoute", guardedName(backend)), ""},
		{"extProc", []any{processor}, ""},
	})
}

// seconds is a duration as all kinds of objects take it, no shorter.
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10) + "s"
}
