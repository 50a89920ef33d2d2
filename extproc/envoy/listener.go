package envoy

import (
	"net"
	"strconv"
	"strings"

	mutationv3 "github.com/envoyproxy/go-control-plane/envoy/config/common/mutation_rules/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	earlyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/http/early_header_mutation/header_mutation/v3"
	preserve_casev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/http/header_formatters/preserve_case/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
)

// InnerName is the name of the listener Inner of the backend.
func InnerName(backend string) string { return backend + "/inner" }

// listeners stand in for one backend: the second one for calls of our own.
func (b *builder) listeners(backend Backend, t target) []*listenerv3.Listener {
	outer := b.listener(backend, t)
	if backend.TLS != (Certificate{}) {
		outer.FilterChains[0].TransportSocket = b.shows(backend.TLS)
		outer.FilterChains[0].Name = backend.TLS.Version
	}
	if backend.Inner == "" {
		return []*listenerv3.Listener{outer}
	}
	backend.Listen = backend.Inner
	inner := b.listener(backend, t)
	inner.Name = InnerName(backend.Name)
	return []*listenerv3.Listener{outer, inner}
}

// listener is one that speaks plain HTTP.
func (b *builder) listener(backend Backend, t target) *listenerv3.Listener {
	host, port, _ := net.SplitHostPort(backend.Listen) // checked with the Spec
	n, _ := strconv.ParseUint(port, 10, 16)
	return &listenerv3.Listener{
		Name:    backend.Name,
		Address: socketAddress(host, uint32(n)),
		// With it two Envoys share a port in silence, and each gets a part of
		// the requests; without it the second one says that the port is taken.
		EnableReusePort:               boolean(false),
		PerConnectionBufferLimitBytes: number(b.spec.BufferLimit()),
		FilterChains: []*listenerv3.FilterChain{{
			Filters: []*listenerv3.Filter{{
				Name:       "envoy.filters.network.http_connection_manager",
				ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: b.any(b.connectionManager(backend, t))},
			}},
		}},
	}
}

func (b *builder) connectionManager(backend Backend, t target) *hcmv3.HttpConnectionManager {
	hcm := &hcmv3.HttpConnectionManager{
		StatPrefix:                statPrefix,
		HttpFilters:               []*hcmv3.HttpFilter{b.filter(backend), b.router()},
		UpgradeConfigs:            b.upgrades(),
		HttpProtocolOptions:       b.downstreamHTTP1(t),
		CommonHttpProtocolOptions: &corev3.HttpProtocolOptions{HeadersWithUnderscoresAction: corev3.HttpProtocolOptions_ALLOW},

		ServerHeaderTransformation:   hcmv3.HttpConnectionManager_PASS_THROUGH,
		GenerateRequestId:            boolean(false),
		PreserveExternalRequestId:    true,
		NormalizePath:                boolean(false),
		MergeSlashes:                 false,
		PathWithEscapedSlashesAction: hcmv3.HttpConnectionManager_KEEP_UNCHANGED,

		// A request is idle while the filter holds it and while the backend
		// works on it; both have a bound of their own.
		StreamIdleTimeout: duration(b.spec.idle(backend)),

		EarlyHeaderMutationExtensions: []*corev3.TypedExtensionConfig{b.dropEnvoyHeaders()},
	}
	hcm.AccessLog = b.accessLogs(backend.HidesPath)
	hcm.LocalReplyConfig = b.frozenIsUnavailable(backend)
	if b.discovery {
		hcm.RouteSpecifier = &hcmv3.HttpConnectionManager_Rds{Rds: &hcmv3.Rds{
			ConfigSource: discovered(), RouteConfigName: backend.Name,
		}}
	} else {
		hcm.RouteSpecifier = &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: b.routes(backend, t)}
	}
	return hcm
}

// router adds no x-envoy-* to a request or an answer.
func (b *builder) router() *hcmv3.HttpFilter {
	return &hcmv3.HttpFilter{
		Name:       "envoy.filters.http.router",
		ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: b.any(&routerv3.Router{SuppressEnvoyHeaders: true})},
	}
}

// upgrades lets a web socket pass without the filter, which would wait for a
// body that never ends.
func (b *builder) upgrades() []*hcmv3.HttpConnectionManager_UpgradeConfig {
	return []*hcmv3.HttpConnectionManager_UpgradeConfig{{
		UpgradeType: "websocket",
		Filters:     []*hcmv3.HttpFilter{b.router()},
	}}
}

// downstreamHTTP1 ignores offers of an upgrade to anything but a web socket,
// as a server may: Envoy's own answer to an unknown one is 403, and some
// clients offer TLS/1.2 with every request.
func (b *builder) downstreamHTTP1(t target) *corev3.Http1ProtocolOptions {
	options := b.http1()
	options.AcceptHttp_10 = true
	options.DefaultHostForHttp_10 = t.authority
	options.IgnoreHttp_11Upgrade = []*matcherv3.StringMatcher{{
		MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{
			Regex: "(?i)[^w].*|w|w[^e].*",
		}},
	}}
	return options
}

// http1 keeps the case of header names and the reason phrase as they came.
func (b *builder) http1() *corev3.Http1ProtocolOptions {
	return &corev3.Http1ProtocolOptions{
		HeaderKeyFormat: &corev3.Http1ProtocolOptions_HeaderKeyFormat{
			HeaderFormat: &corev3.Http1ProtocolOptions_HeaderKeyFormat_StatefulFormatter{
				StatefulFormatter: b.extension("preserve_case", &preserve_casev3.PreserveCaseFormatterConfig{
					ForwardReasonPhrase:         true,
					FormatterTypeOnEnvoyHeaders: preserve_casev3.PreserveCaseFormatterConfig_PROPER_CASE,
				}),
			},
		},
	}
}

// dropEnvoyHeaders takes the headers off a request by which a client could
// tell the router to send a create twice (x-envoy-retry-on and its like).
func (b *builder) dropEnvoyHeaders() *corev3.TypedExtensionConfig {
	prefix := &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Prefix{Prefix: "x-envoy-"}}
	return b.extension("envoy.http.early_header_mutation.header_mutation", &earlyv3.HeaderMutation{
		Mutations: []*mutationv3.HeaderMutation{{
			Action: &mutationv3.HeaderMutation_RemoveOnMatch_{
				RemoveOnMatch: &mutationv3.HeaderMutation_RemoveOnMatch{KeyMatcher: prefix},
			},
		}},
	})
}

// methodPattern matches exactly the methods, which are checked to be letters.
func methodPattern(methods []string) *matcherv3.StringMatcher {
	if len(methods) == 1 {
		return &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: methods[0]}}
	}
	return &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{
		Regex: strings.Join(methods, "|"),
	}}}
}
