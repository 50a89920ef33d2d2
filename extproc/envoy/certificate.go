package envoy

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
)

// A Certificate is what a listener shows to its clients. The files are named as
// Envoy sees them.
type Certificate struct {
	Cert string // file: its own first, then those that have signed it
	Key  string
	// Version is another one when the files have changed: Envoy reads them when
	// the listener is another one, and at no other time.
	Version string
}

// shows lets a listener speak TLS. HTTP/2 is not offered: what is known of how
// clients and Envoy part is known of HTTP/1.1.
func (b *builder) shows(c Certificate) *corev3.TransportSocket {
	return &corev3.TransportSocket{
		Name: tlsSocket,
		ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: b.any(&tlsv3.DownstreamTlsContext{
			CommonTlsContext: &tlsv3.CommonTlsContext{
				AlpnProtocols:   []string{"http/1.1"},
				TlsCertificates: []*tlsv3.TlsCertificate{{CertificateChain: fileSource(c.Cert), PrivateKey: fileSource(c.Key)}},
			},
		})},
	}
}

const tlsSocket = "envoy.transport_sockets.tls"

func fileSource(path string) *corev3.DataSource {
	return &corev3.DataSource{Specifier: &corev3.DataSource_Filename{Filename: path}}
}
