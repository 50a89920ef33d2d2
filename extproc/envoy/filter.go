package envoy

import (
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	ext_procv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/anypb"
)

const extProc = "envoy.filters.http.ext_proc"

// RequestAttributes and ResponseAttributes are what Envoy tells the filter of
// an exchange beside its headers and bodies.
var (
	RequestAttributes = []string{
		"request.method", "request.path", "request.host", "request.scheme", "request.id", "request.time",
		"source.address", "connection.id",
		"xds.cluster_name", "xds.route_name",
	}
	ResponseAttributes = []string{
		"response.code", "response.code_details", "response.flags",
		"upstream.request_attempt_count", "upstream.local_address", "upstream.address",
		"upstream.transport_failure_reason",
	}
)

// filter is the ext_proc filter of one listener. It is off: a guarded route
// switches it on, so that other traffic opens no stream and Envoy's own 400
// reaches the client.
func (b *builder) filter(backend Backend) *hcmv3.HttpFilter {
	cfg := &ext_procv3.ExternalProcessor{
		GrpcService:        b.filterService(),
		FailureModeAllow:   !backend.FailureClosed,
		AllowModeOverride:  true, // too long a body is let stream past
		RequestAttributes:  RequestAttributes,
		ResponseAttributes: ResponseAttributes,
		MessageTimeout:     duration(b.spec.MessageTimeout),
		MaxMessageTimeout:  duration(b.spec.MaxMessageTimeout),
		ProcessingMode: &ext_procv3.ProcessingMode{
			RequestHeaderMode:   ext_procv3.ProcessingMode_SEND,
			RequestBodyMode:     ext_procv3.ProcessingMode_BUFFERED,
			RequestTrailerMode:  ext_procv3.ProcessingMode_SKIP,
			ResponseHeaderMode:  ext_procv3.ProcessingMode_SEND,
			ResponseBodyMode:    ext_procv3.ProcessingMode_BUFFERED,
			ResponseTrailerMode: ext_procv3.ProcessingMode_SKIP,
		},
		// The default mutation_rules are what a create needs: ordinary headers,
		// and a body with its content-length. Host and x-envoy-* stay ours.
		MetadataOptions: &ext_procv3.MetadataOptions{
			ReceivingNamespaces: &ext_procv3.MetadataOptions_MetadataNamespaces{Untyped: []string{MetadataNamespace}},
		},
		StatusOnError: &typev3.HttpStatus{Code: typev3.StatusCode_ServiceUnavailable},
	}
	return &hcmv3.HttpFilter{
		Name:       extProc,
		Disabled:   true,
		ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: b.any(cfg)},
	}
}

// filterOn is what a guarded route says of the filter.
func (b *builder) filterOn() map[string]*anypb.Any {
	on := &ext_procv3.ExtProcPerRoute{Override: &ext_procv3.ExtProcPerRoute_Overrides{
		Overrides: &ext_procv3.ExtProcOverrides{},
	}}
	return map[string]*anypb.Any{extProc: b.any(on)}
}

// filterService retries the first message of a stream, so that a restart of
// the filter is not an outage: the request is held meanwhile.
func (b *builder) filterService() *corev3.GrpcService {
	return &corev3.GrpcService{
		TargetSpecifier: &corev3.GrpcService_EnvoyGrpc_{
			EnvoyGrpc: &corev3.GrpcService_EnvoyGrpc{ClusterName: FilterCluster},
		},
		RetryPolicy: &corev3.RetryPolicy{
			RetryOn:    "connect-failure,unavailable,reset",
			NumRetries: number(int64(b.spec.FilterRetry / filterRetryPause)),
			RetryBackOff: &corev3.BackoffStrategy{
				BaseInterval: duration(250 * time.Millisecond),
				MaxInterval:  duration(500 * time.Millisecond),
			},
		},
	}
}

// createRetries sends a create again only where nothing of it was sent, so
// that no retry opens a second ticket.
func createRetries(retries int) *routev3.RetryPolicy {
	if retries < 0 {
		return nil
	}
	return &routev3.RetryPolicy{
		RetryOn:    "connect-failure,refused-stream,reset-before-request",
		NumRetries: number(int64(retries)),
		RetryBackOff: &routev3.RetryPolicy_RetryBackOff{
			BaseInterval: duration(500 * time.Millisecond),
			MaxInterval:  duration(8 * time.Second),
		},
	}
}
