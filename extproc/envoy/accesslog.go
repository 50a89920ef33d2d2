package envoy

import (
	"path/filepath"
	"slices"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	filev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/file/v3"
	celv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/filters/cel/v3"
	grpcv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/grpc/v3"
	"google.golang.org/protobuf/types/known/structpb"
)

// BypassLog is the name of the file in the state directory that names the
// creates that passed unguarded: guarded exchanges in which the filter decided
// nothing. One that was refused is there too, with no bytes sent: a bypass has
// more than 0.
const BypassLog = "bypass.ndjson"

const (
	guardedOnly = "xds.route_name.startsWith('" + GuardedRoute + "')"
	// The namespace alone says nothing: a filter that dies between its first
	// answer and its decision has set it perhaps, and the create passes.
	undecided = guardedOnly + " && !('" + MetadataNamespace + "' in metadata.filter_metadata" +
		" && 'decision' in metadata.filter_metadata['" + MetadataNamespace + "'])"
)

// bypassFields holds no credential: neither a header, a body nor a query, nor a
// path that may hold one.
func bypassFields(hidesPath bool) map[string]any {
	fields := map[string]any{
		"time":    "%START_TIME%",
		"method":  "%REQ(:METHOD)%",
		"path":    "%PATH(NQ)%",
		"status":  "%RESPONSE_CODE%",
		"sent":    "%UPSTREAM_WIRE_BYTES_SENT%",
		"route":   "%ROUTE_NAME%",
		"cluster": "%UPSTREAM_CLUSTER_RAW%",
		"details": "%RESPONSE_CODE_DETAILS%",
	}
	if hidesPath {
		delete(fields, "path")
	}
	return fields
}

// hidesPaths reports whether the path of a request may hold a credential, to
// whichever backend it goes.
func (s *Spec) hidesPaths() bool {
	return slices.ContainsFunc(s.Backends, func(b Backend) bool { return b.HidesPath })
}

func (b *builder) accessLogs(hidesPath bool) []*accesslogv3.AccessLog {
	fields, err := structpb.NewStruct(bypassFields(hidesPath))
	if err != nil && b.err == nil {
		b.err = err
	}
	logs := []*accesslogv3.AccessLog{{
		Name:   "bypass",
		Filter: b.only(undecided),
		ConfigType: &accesslogv3.AccessLog_TypedConfig{TypedConfig: b.any(&filev3.FileAccessLog{
			Path: filepath.Join(b.spec.StateDir, BypassLog),
			AccessLogFormat: &filev3.FileAccessLog_LogFormat{LogFormat: &corev3.SubstitutionFormatString{
				Format: &corev3.SubstitutionFormatString_JsonFormat{JsonFormat: fields},
			}},
		})},
	}}
	if b.spec.AccessLogService {
		logs = append(logs, b.accessLogService())
	}
	return logs
}

// accessLogService tells the filter's server of the end of every guarded
// exchange, at once.
func (b *builder) accessLogService() *accesslogv3.AccessLog {
	service := b.filterService()
	service.RetryPolicy = nil
	return &accesslogv3.AccessLog{
		Name:   "outcome",
		Filter: b.only(guardedOnly),
		ConfigType: &accesslogv3.AccessLog_TypedConfig{TypedConfig: b.any(&grpcv3.HttpGrpcAccessLogConfig{
			CommonConfig: &grpcv3.CommonGrpcAccessLogConfig{
				LogName:             FilterCluster,
				TransportApiVersion: corev3.ApiVersion_V3,
				BufferSizeBytes:     number(0),
				GrpcService:         service,
			},
		})},
	}
}

func (b *builder) only(expression string) *accesslogv3.AccessLogFilter {
	return &accesslogv3.AccessLogFilter{
		FilterSpecifier: &accesslogv3.AccessLogFilter_ExtensionFilter{
			ExtensionFilter: &accesslogv3.ExtensionFilter{
				Name: "envoy.access_loggers.extension_filters.cel",
				ConfigType: &accesslogv3.ExtensionFilter_TypedConfig{
					TypedConfig: b.any(&celv3.ExpressionFilter{Expression: expression}),
				},
			},
		},
	}
}
