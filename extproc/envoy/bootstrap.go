package envoy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	overloadv3 "github.com/envoyproxy/go-control-plane/envoy/config/overload/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	connectionsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/resource_monitors/downstream_connections/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// Bootstrap makes the whole configuration of an Envoy from spec. The error
// names every mistake in spec, or says that the system's certificates were not
// found.
func Bootstrap(spec Spec) (*bootstrapv3.Bootstrap, error) {
	spec = spec.WithDefaults()
	if err := spec.check(); err != nil {
		return nil, err
	}
	b := builder{spec: spec}
	out := b.bare()
	p, err := b.parts()
	if err != nil {
		return nil, err
	}
	out.StaticResources.Listeners = p.listeners
	out.StaticResources.Clusters = append(out.StaticResources.Clusters, p.clusters...)
	return b.checked(out)
}

// bare is what every Envoy of ours starts with: who it is, where it is asked,
// and the way to the filter.
func (b *builder) bare() *bootstrapv3.Bootstrap {
	return &bootstrapv3.Bootstrap{
		Node: &corev3.Node{Id: "oneticket", Cluster: "oneticket"},
		// A UNIX socket takes no port, and only its owner may ask.
		Admin: &bootstrapv3.Admin{Address: pipe(b.spec.Admin, 0o600)},
		StaticResources: &bootstrapv3.Bootstrap_StaticResources{
			Clusters: []*clusterv3.Cluster{b.filterCluster()},
		},
		OverloadManager: b.connectionLimit(),
	}
}

func (b *builder) checked(out *bootstrapv3.Bootstrap) (*bootstrapv3.Bootstrap, error) {
	if b.err != nil {
		return nil, b.err
	}
	if err := out.ValidateAll(); err != nil {
		return nil, fmt.Errorf("bootstrap: %w", err)
	}
	return out, nil
}

// parts are what of a configuration belongs to the backends.
type parts struct {
	clusters  []*clusterv3.Cluster
	listeners []*listenerv3.Listener
	routes    []*routev3.RouteConfiguration // empty where the listeners have them
}

// parts makes everything of the backends of a checked Spec.
func (b *builder) parts() (p parts, err error) {
	for _, backend := range b.spec.Backends {
		t, err := parseTarget(backend.URL)
		if err != nil {
			return parts{}, err
		}
		p.listeners = append(p.listeners, b.listeners(backend, t)...)
		p.clusters = append(p.clusters, b.backendCluster(backend, t))
		if b.discovery {
			p.routes = append(p.routes, b.routes(backend, t))
		}
	}
	return p, b.err
}

// connectionLimit is out of reach; without one Envoy warns at every start.
func (b *builder) connectionLimit() *overloadv3.OverloadManager {
	return &overloadv3.OverloadManager{ResourceMonitors: []*overloadv3.ResourceMonitor{{
		Name: "envoy.resource_monitors.global_downstream_max_connections",
		ConfigType: &overloadv3.ResourceMonitor_TypedConfig{TypedConfig: b.any(
			&connectionsv3.DownstreamConnectionsConfig{MaxActiveDownstreamConnections: b.inFlightLimit()},
		)},
	}}}
}

// inFlightLimit is far above what is ever in flight: every held duplicate has
// a connection and a stream to the filter, and a breaker that opens lets
// creates pass unguarded.
func (b *builder) inFlightLimit() int64 { return int64(max(100_000, 16*b.spec.MaxWaiters)) }

// JSON renders a configuration as Envoy reads it, indented and the same every
// time.
func JSON(m proto.Message) ([]byte, error) {
	raw, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("envoy configuration: %w", err)
	}
	// protojson varies its blanks on purpose.
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return nil, fmt.Errorf("envoy configuration: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// A builder makes the parts of one configuration and keeps the first error, so
// that the parts can be written as the nested values that they are.
type builder struct {
	spec      Spec
	discovery bool // listeners ask for their routes by name
	err       error
}

func (b *builder) any(m proto.Message) *anypb.Any {
	a := &anypb.Any{}
	// What is equal has equal bytes, by which versions are made.
	err := anypb.MarshalFrom(a, m, proto.MarshalOptions{Deterministic: true})
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("envoy configuration: %w", err)
	}
	return a
}

func (b *builder) extension(name string, m proto.Message) *corev3.TypedExtensionConfig {
	return &corev3.TypedExtensionConfig{Name: name, TypedConfig: b.any(m)}
}

func pipe(path string, mode uint32) *corev3.Address {
	return &corev3.Address{Address: &corev3.Address_Pipe{Pipe: &corev3.Pipe{Path: path, Mode: mode}}}
}

func socketAddress(host string, port uint32) *corev3.Address {
	return &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
		Address:       host,
		PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: port},
	}}}
}

func duration(d time.Duration) *durationpb.Duration { return durationpb.New(d) }
func number(n int64) *wrapperspb.UInt32Value        { return wrapperspb.UInt32(uint32(n)) }
func boolean(v bool) *wrapperspb.BoolValue          { return wrapperspb.Bool(v) }
