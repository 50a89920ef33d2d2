package envoy

import (
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/types/known/anypb"
)

// upstreamIdle closes a kept connection before the servers and balancers in
// front of ticket systems do: a create sent into a closing connection ends with
// an unknown outcome.
const upstreamIdle = 15 * time.Second

// filterCluster is the way to the filter.
func (b *builder) filterCluster() *clusterv3.Cluster {
	c := &clusterv3.Cluster{
		Name:                          FilterCluster,
		ClusterDiscoveryType:          &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STATIC},
		ConnectTimeout:                duration(time.Second),
		LoadAssignment:                endpoint(FilterCluster, pipe(b.spec.Socket, 0)),
		CircuitBreakers:               b.breakers(),
		TypedExtensionProtocolOptions: b.protocol(b.filterProtocol()),
	}
	if b.spec.Remote.Address != "" {
		b.remote(c)
	}
	return c
}

// backendCluster is the way to one ticket system.
func (b *builder) backendCluster(backend Backend, t target) *clusterv3.Cluster {
	c := &clusterv3.Cluster{
		Name:                          backend.Name,
		ClusterDiscoveryType:          &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STATIC},
		ConnectTimeout:                duration(5 * time.Second),
		LoadAssignment:                endpoint(backend.Name, socketAddress(t.host, t.port)),
		CircuitBreakers:               b.breakers(),
		TypedExtensionProtocolOptions: b.protocol(b.backendProtocol()),
	}
	if !t.ip() {
		// One address at a time, as a client takes it, and the connections of
		// the last one stay: a large service's name resolves to others each time.
		c.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_LOGICAL_DNS}
		c.DnsLookupFamily = clusterv3.Cluster_ALL
	}
	if t.tls {
		c.TransportSocket = b.tls(t)
	}
	return c
}

func endpoint(cluster string, address *corev3.Address) *endpointv3.ClusterLoadAssignment {
	return &endpointv3.ClusterLoadAssignment{
		ClusterName: cluster,
		Endpoints: []*endpointv3.LocalityLbEndpoints{{
			LbEndpoints: []*endpointv3.LbEndpoint{{
				HostIdentifier: &endpointv3.LbEndpoint_Endpoint{Endpoint: &endpointv3.Endpoint{Address: address}},
			}},
		}},
	}
}

// breakers are there to never open.
func (b *builder) breakers() *clusterv3.CircuitBreakers {
	limit := number(b.inFlightLimit())
	return &clusterv3.CircuitBreakers{Thresholds: []*clusterv3.CircuitBreakers_Thresholds{{
		MaxConnections:     limit,
		MaxPendingRequests: limit,
		MaxRequests:        limit,
		MaxRetries:         limit,
	}}}
}

func (b *builder) protocol(options *httpv3.HttpProtocolOptions) map[string]*anypb.Any {
	return map[string]*anypb.Any{"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": b.any(options)}
}

func (b *builder) filterProtocol() *httpv3.HttpProtocolOptions {
	return &httpv3.HttpProtocolOptions{
		UpstreamProtocolOptions: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_{
			ExplicitHttpConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig{
				ProtocolConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_Http2ProtocolOptions{
					Http2ProtocolOptions: &corev3.Http2ProtocolOptions{},
				},
			},
		},
	}
}

func (b *builder) backendProtocol() *httpv3.HttpProtocolOptions {
	return &httpv3.HttpProtocolOptions{
		CommonHttpProtocolOptions: &corev3.HttpProtocolOptions{IdleTimeout: duration(upstreamIdle)},
		UpstreamProtocolOptions: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_{
			ExplicitHttpConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig{
				ProtocolConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_HttpProtocolOptions{
					HttpProtocolOptions: b.http1(),
				},
			},
		},
	}
}
