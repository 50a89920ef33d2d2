package pgstore_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"oneticket/dedup/pgstore"
	"oneticket/dedup/pgstore/pgtest"
)

// A certificate with its key, both also in PEM form.
type certificate struct {
	cert    *x509.Certificate
	key     *ecdsa.PrivateKey
	pem     []byte
	private []byte
}

// issue makes one of 127.0.0.1 and db.example; with no issuer it signs itself.
func issue(t *testing.T, issuer *certificate) *certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: issuer == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		DNSNames: []string{"db.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if issuer == nil {
		issuer = &certificate{cert: template, key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer.cert, &key.PublicKey, issuer.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &certificate{
		cert: cert, key: key,
		pem:     pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		private: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}
}

func (c *certificate) file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, c.pem, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhoCannotBeTrustedIsNotSpokenTo(t *testing.T) {
	s := pgtest.For(t)
	authority, stranger := issue(t, nil), issue(t, nil)
	server := issue(t, authority)
	s.Secure(t, server.pem, server.private)
	url := "postgres://postgres@" + s.Addr + "/postgres"
	eventually(t, "the server speaks TLS", func() bool {
		store, err := pgstore.Open(t.Context(), pgstore.Options{URL: url + "?sslmode=require"})
		if err == nil {
			store.Close()
		}
		return err == nil
	})
	for name, c := range map[string]struct {
		options string
		words   []string // of the error; none = it works
	}{
		"all is well":               {"?sslmode=verify-full&sslrootcert=" + authority.file(t), nil},
		"nothing is proved":         {"?sslmode=require", nil},
		"an authority nobody knows": {"?sslmode=verify-full&sslrootcert=" + stranger.file(t), []string{s.Addr, "certificate"}},
		"the system's authorities":  {"?sslmode=verify-full&sslrootcert=system", []string{s.Addr, "certificate"}},
	} {
		t.Run(name, func(t *testing.T) {
			store, err := pgstore.Open(t.Context(), pgstore.Options{URL: url + c.options, Timeout: 5 * time.Second})
			if err == nil {
				defer store.Close()
			}
			if c.words == nil && err != nil {
				t.Fatal(err)
			}
			if c.words != nil {
				mentions(t, err, c.words...)
			}
		})
	}
}
