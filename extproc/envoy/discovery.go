package envoy

import (
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
)

// DynamicBootstrap makes the configuration of an Envoy that asks a Control for
// its listeners, routes and clusters, on the socket on which it reaches the
// filter. Of spec it has what cannot change while that Envoy runs: the paths,
// and the limits that follow from MaxWaiters. The errors are those of
// Bootstrap.
func DynamicBootstrap(spec Spec) (*bootstrapv3.Bootstrap, error) {
	spec = spec.WithDefaults()
	if err := spec.check(); err != nil {
		return nil, err
	}
	b := builder{spec: spec, discovery: true}
	out := b.bare()
	out.DynamicResources = &bootstrapv3.Bootstrap_DynamicResources{
		LdsConfig: discovered(),
		CdsConfig: discovered(),
		AdsConfig: &corev3.ApiConfigSource{
			ApiType:                   corev3.ApiConfigSource_GRPC,
			TransportApiVersion:       corev3.ApiVersion_V3,
			SetNodeOnFirstMessageOnly: true,
			GrpcServices:              []*corev3.GrpcService{controlService()},
		},
	}
	return b.checked(out)
}

// controlService asks again soon after the program was away; by default Envoy
// waits for up to half a minute, which a new configuration would wait too.
func controlService() *corev3.GrpcService {
	return &corev3.GrpcService{TargetSpecifier: &corev3.GrpcService_EnvoyGrpc_{
		EnvoyGrpc: &corev3.GrpcService_EnvoyGrpc{
			ClusterName: FilterCluster,
			RetryPolicy: &corev3.RetryPolicy{RetryBackOff: &corev3.BackoffStrategy{
				BaseInterval: duration(100 * time.Millisecond),
				MaxInterval:  duration(2 * time.Second),
			}},
		},
	}}
}

// discovered is what comes from the Control. Envoy waits for it as long as it
// takes: an Envoy that went on without would be ready and stand in for nobody.
func discovered() *corev3.ConfigSource {
	return &corev3.ConfigSource{
		ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}},
		InitialFetchTimeout:   duration(0),
		ResourceApiVersion:    corev3.ApiVersion_V3,
	}
}
