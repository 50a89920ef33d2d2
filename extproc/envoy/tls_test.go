package envoy_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oneticket/extproc/envoy"
	"oneticket/extproc/envoy/envoytest"
)

// An authority signs the certificates of a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return authority{cert: cert, key: key, file: file}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// server wraps a listener in TLS with a certificate for the names, and tells
// asked which name each client asks for.
func (a authority) server(t *testing.T, asked func(string), names ...string) func(net.Listener) net.Listener {
	t.Helper()
	der, key := a.sign(t, names...)
	cert := &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	config := &tls.Config{NextProtos: []string{"h2", "http/1.1"}, GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		asked(hello.ServerName)
		return cert, nil
	}}
	return func(l net.Listener) net.Listener { return tls.NewListener(l, config) }
}

// sign makes a certificate for the names, and its key.
func (a authority) sign(t *testing.T, names ...string) ([]byte, *ecdsa.PrivateKey) {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return der, key
}

func TestTLSBackendIsVerified(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	t.Setenv("SSL_CERT_FILE", ca.file)
	asked := make(chan string, 16)
	ask := func(name string) { asked <- name }
	byName := startBackend(t, ca.server(t, ask, "localhost"))
	byAddress := startBackend(t, ca.server(t, func(string) {}, "127.0.0.1"))
	wrongAddress := startBackend(t, ca.server(t, func(string) {}, "localhost"))
	wrongName := startBackend(t, ca.server(t, func(string) {}, "jira.example"))
	stranger := startBackend(t, other.server(t, func(string) {}, "localhost", "127.0.0.1"))
	local := func(b *backend) string { return strings.Replace(b.url("https"), "127.0.0.1", "localhost", 1) }
	spec := envoytest.Fill(t, envoy.Spec{Backends: []envoy.Backend{
		{Name: "name", URL: local(byName), Retries: -1},
		{Name: "address", URL: byAddress.url("https"), Retries: -1},
		{Name: "wrong name", URL: local(wrongName), Retries: -1},
		{Name: "wrong address", URL: wrongAddress.url("https"), Retries: -1},
		{Name: "stranger", URL: local(stranger), Retries: -1},
	}})
	startFilter(t, spec.Socket)
	e := envoytest.Start(t, spec)
	for name, want := range map[string]string{
		"name": "201", "address": "201", "wrong name": "503", "wrong address": "503", "stranger": "503",
	} {
		t.Run(name, func(t *testing.T) {
			if a := send(t, e.Addresses[name], post("/issue", "{}")); a.status() != want {
				t.Errorf("got %+v, want %s", a, want)
			}
		})
	}
	if name := <-asked; name != "localhost" {
		t.Errorf("asked for the name %q", name)
	}
	if host, _ := byName.only(t, "/issue").value("host"); host != strings.TrimPrefix(local(byName), "https://") {
		t.Errorf("host %q", host)
	}
	for name, b := range map[string]*backend{"wrong name": wrongName, "wrong address": wrongAddress, "stranger": stranger} {
		if len(b.got("/issue")) != 0 {
			t.Errorf("%s got the create with its credentials", name)
		}
	}
}

func TestAMissingFileOfRootsIsNamed(t *testing.T) {
	t.Setenv("SSL_CERT_FILE", "/nowhere/roots.pem")
	_, err := envoy.Bootstrap(envoytest.Fill(t, envoy.Spec{Backends: []envoy.Backend{{Name: "jira", URL: "https://a"}}}))
	if err == nil || !strings.Contains(err.Error(), "SSL_CERT_FILE") || !strings.Contains(err.Error(), "/nowhere/roots.pem") {
		t.Errorf("got %v", err)
	}
	_, err = envoy.Bootstrap(envoytest.Fill(t, envoy.Spec{Backends: []envoy.Backend{{Name: "jira", URL: "http://a"}}}))
	if err != nil {
		t.Errorf("plain http wants no roots: %v", err)
	}
}
