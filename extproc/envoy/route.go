package envoy

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
)

// addedHeaders are what Envoy puts on every request; the client sent none of
// them, or what it sent is not for the backend. The last marks an outside call
// of the filter's: on a route without the filter nobody else takes it off.
var addedHeaders = []string{"x-forwarded-proto", "oneticket-call"}

// routes sends everything that reaches a backend's listener to the backend:
// through the filter where the method may open a ticket.
func (b *builder) routes(backend Backend, t target) *routev3.RouteConfiguration {
	guarded := &routev3.Route{
		Name: GuardedRoute,
		Match: &routev3.RouteMatch{
			PathSpecifier: anyPath(),
			Headers: []*routev3.HeaderMatcher{{
				Name: ":method",
				HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{
					StringMatch: methodPattern(backend.Methods),
				},
			}},
		},
		Action:               action(backend, t, createRetries(backend.Retries)),
		TypedPerFilterConfig: b.filterOn(),
	}
	rest := &routev3.Route{
		Name:   RestRoute,
		Match:  &routev3.RouteMatch{PathSpecifier: anyPath()},
		Action: action(backend, t, nil),
	}
	return &routev3.RouteConfiguration{
		Name: backend.Name,
		VirtualHosts: []*routev3.VirtualHost{{
			Name:                   backend.Name,
			Domains:                []string{"*"},
			Routes:                 []*routev3.Route{guarded, rest},
			RequestHeadersToRemove: addedHeaders,
		}},
	}
}

func anyPath() *routev3.RouteMatch_Prefix { return &routev3.RouteMatch_Prefix{Prefix: "/"} }

func action(backend Backend, t target, retries *routev3.RetryPolicy) *routev3.Route_Route {
	a := &routev3.RouteAction{
		ClusterSpecifier:     &routev3.RouteAction_Cluster{Cluster: backend.Name},
		HostRewriteSpecifier: &routev3.RouteAction_HostRewriteLiteral{HostRewriteLiteral: t.authority},
		Timeout:              duration(backend.Timeout),
		RetryPolicy:          retries,
	}
	if t.prefix != "" {
		a.PrefixRewrite = t.prefix + "/"
	}
	return &routev3.Route_Route{Route: a}
}
