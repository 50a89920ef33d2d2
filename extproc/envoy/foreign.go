package envoy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	ext_procv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/types/known/anypb"
)

// Mesh is where objects of Kubernetes go.
type Mesh struct {
	Namespace string // of all objects
	App       string // label app of the pods whose traffic is guarded
}

// Targets are the names that Foreign takes.
var Targets = []string{"static", "bootstrap", "istio", "envoy-gateway"}

// Foreign makes the configuration of an Envoy that somebody else runs, as YAML
// with comments: the pieces to paste into one that is there ("static"), a whole
// one ("bootstrap"), or objects of Kubernetes ("istio", "envoy-gateway"). The
// errors are those of Bootstrap.
func Foreign(target string, spec Spec, mesh Mesh) ([]byte, error) {
	spec = spec.WithDefaults()
	spec.AccessLogService = true
	if err := spec.check(); err != nil {
		return nil, err
	}
	b := builder{spec: spec}
	var out []byte
	var err error
	switch target {
	case "static":
		out, err = b.static()
	case "bootstrap":
		out, err = b.whole()
	case "istio":
		out, err = b.istio(mesh)
	case "envoy-gateway":
		out, err = b.envoyGateway(mesh)
	default:
		return nil, fmt.Errorf("no target %q: there are %s", target, strings.Join(Targets, ", "))
	}
	if b.err != nil {
		return nil, b.err
	}
	return out, err
}

// BelievedBy is the envoy block by which serve knows of an Envoy that has what
// Foreign printed.
func (s Spec) BelievedBy() string {
	s = s.WithDefaults()
	return fmt.Sprintf("envoy {\n  message_timeout     = %q\n  max_message_timeout = %q\n  retries             = \"safe\"\n}",
		seconds(s.MessageTimeout), seconds(s.MaxMessageTimeout))
}

const wholeHead = `# A whole Envoy in front of the filter of "oneticket serve":
#   envoy -c THIS --file-flush-interval-msec 100
# It needs Envoy ` + Least + ` or newer, write access to the bypass log, and access to
# the filter's socket.`

func (b *builder) whole() ([]byte, error) {
	out, err := Bootstrap(b.spec)
	if err != nil {
		return nil, err
	}
	return YAML(out, wholeHead)
}

const (
	staticHead = `# Pieces for an Envoy of your own, ` + Least + ` or newer. Each belongs where the comment
# above it says; "oneticket doctor" tells whether all of them have arrived.`

	clustersComment = `
# static_resources.clusters: the way to the filter, and one cluster for each
# backend. Of a cluster that you have already, keep your own, under the name of
# the backend; what matters in it is the idle_timeout: a create that is sent
# into a connection which the ticket system closes ends with an unknown outcome.`

	filtersComment = `
# http_filters of the http_connection_manager, right before the router. It is
# off here, and a route switches it on: other traffic opens no stream.`

	hostsComment = `
# route_config.virtual_hosts, one for each backend: your own domains; above your
# own routes the one that guards. Its name begins with "guarded", by which the
# logs below know it. Retry nothing on it but what was never sent, here and on
# every hop behind it: a retry of a 5xx or of a reset opens a second ticket.`

	logsComment = `
# access_log of the http_connection_manager, beside your own. "bypass" names the
# creates that passed unguarded; "outcome" tells the filter what became of each
# one. Your own log can show %DYNAMIC_METADATA(oneticket:decision)%, key, rule
# and reason.`

	managerComment = `
# http_connection_manager: what keeps automation from noticing that an Envoy is
# there, and a client from asking the router for retries (x-envoy-retry-on). A
# request is idle while the filter holds it: stream_idle_timeout is longer.`

	listenerComment = `
# the listener: bodies that fit, requests and answers. A larger request without
# a length is refused with 413; a larger answer becomes a 500 although there is
# a ticket.`
)

// static is one mapping; its members are pieces for different places.
func (b *builder) static() ([]byte, error) {
	clusters := []any{b.filterCluster()}
	var hosts []any
	for _, backend := range b.spec.Backends {
		t, err := parseTarget(backend.URL)
		if err != nil {
			return nil, err
		}
		clusters = append(clusters, b.backendCluster(backend, t))
		hosts = append(hosts, b.foreignHost(backend, t))
	}
	var logs []any
	for _, l := range b.accessLogs(b.spec.hidesPaths()) {
		logs = append(logs, l)
	}
	n, err := node(object{
		{"clusters", clusters, clustersComment},
		{"http_filters", []any{b.foreignFilter()}, filtersComment},
		{"virtual_hosts", hosts, hostsComment},
		{"access_log", logs, logsComment},
		{"http_connection_manager", b.foreignManager(), managerComment},
		{"listener", &listenerv3.Listener{PerConnectionBufferLimitBytes: number(b.spec.BufferLimit())}, listenerComment},
	})
	if err != nil {
		return nil, err
	}
	n.HeadComment = staticHead
	return documents(n)
}

// foreignFilter stands before all backends, so what differs between them is
// said by their routes.
func (b *builder) foreignFilter() *hcmv3.HttpFilter {
	return b.filter(Backend{FailureClosed: b.anyClosed()})
}

func (b *builder) anyClosed() bool {
	return slices.ContainsFunc(b.spec.Backends, func(x Backend) bool { return x.FailureClosed })
}

// foreignOn is what a guarded route of a backend says of the filter.
func (b *builder) foreignOn(backend Backend) map[string]*anypb.Any {
	on := &ext_procv3.ExtProcPerRoute{Override: &ext_procv3.ExtProcPerRoute_Overrides{
		Overrides: &ext_procv3.ExtProcOverrides{FailureModeAllow: boolean(!backend.FailureClosed)},
	}}
	return map[string]*anypb.Any{extProc: b.any(on)}
}

func (b *builder) foreignHost(backend Backend, t target) *routev3.VirtualHost {
	host := b.routes(backend, t).GetVirtualHosts()[0]
	host.Domains = []string{t.authority, t.authority + ":*"}
	if t.host+":"+fmt.Sprint(t.port) == t.authority {
		host.Domains = host.Domains[:1]
	}
	host.Routes[0].TypedPerFilterConfig = b.foreignOn(backend)
	return host
}

// foreignManager is what of a connection manager is worth having. Whether paths
// are normalised and requests get an id is for its owner to say.
func (b *builder) foreignManager() *hcmv3.HttpConnectionManager {
	longest := slices.MaxFunc(b.spec.Backends, func(x, y Backend) int { return cmp.Compare(x.Timeout, y.Timeout) })
	return &hcmv3.HttpConnectionManager{
		HttpProtocolOptions:           b.downstreamHTTP1(target{}),
		ServerHeaderTransformation:    hcmv3.HttpConnectionManager_PASS_THROUGH,
		StreamIdleTimeout:             duration(b.spec.idle(longest)),
		EarlyHeaderMutationExtensions: []*corev3.TypedExtensionConfig{b.dropEnvoyHeaders()},
		LocalReplyConfig:              b.frozenIsUnavailable(Backend{FailureClosed: b.anyClosed()}),
	}
}
