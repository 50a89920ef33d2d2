package envoy

import (
	"errors"
	"fmt"
	"os"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
)

// rootFiles is where distributions keep the certificates that they trust.
var rootFiles = []string{
	"/etc/ssl/certs/ca-certificates.crt",                // Debian, Ubuntu, Alpine
	"/etc/pki/tls/certs/ca-bundle.crt",                  // Fedora, Red Hat
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // Red Hat
	"/etc/ssl/ca-bundle.pem",                            // SUSE
	"/etc/ssl/cert.pem",                                 // Alpine, BSD
}

// Roots returns the file of the certificates that the system trusts:
// SSL_CERT_FILE where it is set, as for other programs. The error names the
// places looked at and says what to do.
func Roots() (string, error) {
	if path := os.Getenv("SSL_CERT_FILE"); path != "" {
		if err := readable(path); err != nil {
			return "", fmt.Errorf("SSL_CERT_FILE: %w", err)
		}
		return path, nil
	}
	for _, path := range rootFiles {
		if readable(path) == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no file of trusted certificates for https backends in %s; install ca-certificates, or set SSL_CERT_FILE",
		strings.Join(rootFiles, ", "))
}

func readable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New(path + " is not a file")
	}
	return err
}

// roots resolves the Spec's file of certificates once.
func (b *builder) roots() string {
	if b.spec.Roots == "" {
		path, err := Roots()
		if err != nil && b.err == nil {
			b.err = err
		}
		b.spec.Roots = path
	}
	return b.spec.Roots
}

// tls checks the backend as a client does: by the system's roots and by name.
func (b *builder) tls(t target) *corev3.TransportSocket {
	name := &tlsv3.SubjectAltNameMatcher{
		SanType: tlsv3.SubjectAltNameMatcher_DNS, // an exact name, to which Envoy holds wildcards too
		Matcher: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: t.host}},
	}
	context := &tlsv3.UpstreamTlsContext{
		Sni: t.host,
		CommonTlsContext: &tlsv3.CommonTlsContext{
			AlpnProtocols: []string{"http/1.1"},
			ValidationContextType: &tlsv3.CommonTlsContext_ValidationContext{
				ValidationContext: &tlsv3.CertificateValidationContext{
					TrustedCa:                 fileSource(b.roots()),
					MatchTypedSubjectAltNames: []*tlsv3.SubjectAltNameMatcher{name},
				},
			},
		},
	}
	if t.ip() {
		name.SanType = tlsv3.SubjectAltNameMatcher_IP_ADDRESS
		context.Sni = ""
	}
	return &corev3.TransportSocket{
		Name:       tlsSocket,
		ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: b.any(context)},
	}
}
