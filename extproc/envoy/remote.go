package envoy

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
)

// Remote is a filter that listens on HOST:PORT, by mutual TLS. The files are
// named as Envoy sees them.
type Remote struct {
	Address string // HOST:PORT
	Cert    string // file of Envoy's own certificate
	Key     string
	CA      string // file of the certificates that sign the filter's
	Name    string // in the filter's certificate; default the host of Address
}

// remote makes the filter's cluster one that goes there.
func (b *builder) remote(c *clusterv3.Cluster) {
	r := b.spec.Remote
	host, port, err := net.SplitHostPort(r.Address)
	n, atoiErr := strconv.ParseUint(port, 10, 16)
	if err = cmp.Or(err, atoiErr); err != nil || host == "" {
		b.err = cmp.Or(b.err, fmt.Errorf("filter address %q: want HOST:PORT (%v)", r.Address, err))
		return
	}
	c.LoadAssignment = endpoint(c.Name, socketAddress(host, uint32(n)))
	if net.ParseIP(host) == nil {
		// All addresses of the name: each replica behind it takes its share, and
		// one that is away is passed by.
		c.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STRICT_DNS}
	}
	// A machine that is gone says nothing: without a ping each request would wait
	// its whole message_timeout for it.
	options := b.filterProtocol()
	options.GetExplicitHttpConfig().GetHttp2ProtocolOptions().ConnectionKeepalive = &corev3.KeepaliveSettings{
		Interval: duration(10 * time.Second), Timeout: duration(5 * time.Second),
	}
	c.TypedExtensionProtocolOptions = b.protocol(options)
	c.TransportSocket = &corev3.TransportSocket{
		Name: tlsSocket,
		ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: b.any(
			r.context(cmp.Or(r.Name, host)),
		)},
	}
}

// context shows Envoy's certificate, and takes the filter's by its name.
func (r Remote) context(name string) *tlsv3.UpstreamTlsContext {
	san := &tlsv3.SubjectAltNameMatcher{
		SanType: tlsv3.SubjectAltNameMatcher_DNS,
		Matcher: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: name}},
	}
	sni := name
	if net.ParseIP(name) != nil {
		san.SanType, sni = tlsv3.SubjectAltNameMatcher_IP_ADDRESS, ""
	}
	return &tlsv3.UpstreamTlsContext{
		Sni: sni,
		CommonTlsContext: &tlsv3.CommonTlsContext{
			AlpnProtocols:   []string{"h2"},
			TlsCertificates: []*tlsv3.TlsCertificate{{CertificateChain: fileSource(r.Cert), PrivateKey: fileSource(r.Key)}},
			ValidationContextType: &tlsv3.CommonTlsContext_ValidationContext{
				ValidationContext: &tlsv3.CertificateValidationContext{
					TrustedCa:                 fileSource(r.CA),
					MatchTypedSubjectAltNames: []*tlsv3.SubjectAltNameMatcher{san},
				},
			},
		},
	}
}
