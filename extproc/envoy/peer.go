package envoy

import (
	"slices"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
)

// A peer is one Envoy that is connected.
type peer struct{ kinds map[string]*progress }

// progress is how far a peer is with one kind.
type progress struct {
	nonce string // of the last response
	sent  delivery
	taken delivery
}

// A delivery is one response: its version, and the names that were asked for;
// none where all were.
type delivery struct {
	version string
	names   []string
}

func (p *peer) of(kind string) *progress {
	if p.kinds[kind] == nil {
		p.kinds[kind] = &progress{}
	}
	return p.kinds[kind]
}

func (p *peer) sends(r *discoveryv3.DiscoveryResponse, names []string) {
	g := p.of(r.GetTypeUrl())
	g.nonce = r.GetNonce()
	g.sent = delivery{version: r.GetVersionInfo(), names: names}
}

// hears reads a request: the version that the peer has just refused, or
// nothing. A request that answers an older response says nothing of the last.
func (p *peer) hears(r *discoveryv3.DiscoveryRequest) (refused string) {
	g := p.of(r.GetTypeUrl())
	if g.nonce == "" || r.GetResponseNonce() != g.nonce {
		return ""
	}
	if r.GetErrorDetail() != nil {
		return g.sent.version
	}
	if r.GetVersionInfo() == g.sent.version {
		g.taken = g.sent
	}
	return ""
}

// has reports whether the peer has taken everything of s. It asks for routes by
// the names that its listeners have, and for none without listeners.
func (p *peer) has(s *snapshot) bool {
	for _, kind := range kinds {
		want, taken := s.kinds[kind], p.of(kind).taken
		byName := kind == resource.RouteType
		if byName && len(want.members) == 0 {
			continue
		}
		if taken.version != want.version {
			return false
		}
		for name := range want.members {
			if byName && !slices.Contains(taken.names, name) {
				return false
			}
		}
	}
	return true
}
