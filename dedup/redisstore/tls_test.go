package redisstore_test

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
	"strings"
	"testing"
	"time"

	"oneticket/dedup/redisstore"
	"oneticket/dedup/storetest"
)

// An authority makes certificates in a folder.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.cert, a.key = a.sign(template, nil, "ca")
	return a
}

// sign writes NAME.crt and NAME.key; with no parent it signs itself.
func (a *authority) sign(template, parent *x509.Certificate, name string) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	a.must(err)
	signer := a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	a.must(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	a.must(err)
	a.write(name+".crt", "CERTIFICATE", der)
	a.write(name+".key", "PRIVATE KEY", private)
	cert, err := x509.ParseCertificate(der)
	a.must(err)
	return cert, key
}

func (a *authority) issue(name, host string) {
	a.sign(&x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{host}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, name)
}

func (a *authority) write(name, kind string, der []byte) {
	a.must(os.WriteFile(a.file(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

func (a *authority) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

// secure is a server that speaks TLS only and asks for a certificate.
func secure(t *testing.T, a *authority) *server {
	a.issue("server", "redis.example")
	s := newServer(t)
	s.args = append(s.args, "--port", "0", "--tls-port", s.port(),
		"--tls-cert-file", a.file("server.crt"), "--tls-key-file", a.file("server.key"), "--tls-ca-cert-file", a.file("ca.crt"))
	s.start()
	s.answers()
	return s
}

// rights are those that the package's documentation lists.
func rights(t *testing.T) []any {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var found []any
	for line := range strings.Lines(string(text)) {
		if indented, ok := strings.CutPrefix(line, "//\t"); ok && strings.ContainsAny(indented[:1], "~+") {
			for word := range strings.FieldsSeq(indented) {
				found = append(found, word)
			}
		}
	}
	if len(found) < 10 {
		t.Fatalf("only %v are documented", found)
	}
	return found
}

func TestTheDocumentedRightsOverTLSAreEnough(t *testing.T) {
	a := newAuthority(t)
	s := secure(t, a)
	a.issue("client", "client")
	s.do(append([]any{"ACL", "SETUSER", "oneticket", "on", ">pass:word/1", "resetkeys", "-@all"}, rights(t)...)...)
	o := redisstore.Options{
		URL: "rediss://oneticket:pass%3Aword%2F1@" + s.addr,
		TLS: redisstore.TLS{CA: a.file("ca.crt"), Cert: a.file("client.crt"), Key: a.file("client.key")},
	}
	store := open(t, o)
	if err := store.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Live(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	told(t, store, []string{"appendonly is no"})
	s.do("ACL", "SETUSER", "oneticket", "~story-*") // the suite's prefixes
	storetest.Run(t, harness(o, s))
}

func TestWhoCannotBeTrustedIsNotSpokenTo(t *testing.T) {
	a := newAuthority(t)
	s := secure(t, a)
	a.issue("client", "client")
	good := redisstore.TLS{CA: a.file("ca.crt"), Cert: a.file("client.crt"), Key: a.file("client.key")}
	named := good
	named.ServerName = "redis.example"
	other := good
	other.ServerName = "somebody.else"
	for name, c := range map[string]struct {
		url   string
		tls   redisstore.TLS
		words []string // of the error; none = it works
	}{
		"all is well":               {"rediss://" + s.addr, good, nil},
		"TLS by its files alone":    {"redis://" + s.addr, good, nil},
		"a name of its own":         {"rediss://" + s.addr, named, nil},
		"another name":              {"rediss://" + s.addr, other, []string{"somebody.else"}},
		"an authority nobody knows": {"rediss://" + s.addr, redisstore.TLS{Cert: good.Cert, Key: good.Key}, []string{"unknown authority"}},
		"no certificate of ours":    {"rediss://" + s.addr, redisstore.TLS{CA: good.CA}, []string{s.addr}},
		"no TLS at all":             {"redis://" + s.addr, redisstore.TLS{}, []string{s.addr}},
		"a file that is not there":  {"rediss://" + s.addr, redisstore.TLS{CA: a.file("none")}, []string{"tls ca", "none"}},
		"a file of something else":  {"rediss://" + s.addr, redisstore.TLS{CA: a.file("ca.key")}, []string{"PEM"}},
		"half a certificate":        {"rediss://" + s.addr, redisstore.TLS{Cert: good.Cert}, []string{"go together"}},
	} {
		t.Run(name, func(t *testing.T) {
			store, err := redisstore.Open(t.Context(), redisstore.Options{URL: c.url, TLS: c.tls, Timeout: 5 * time.Second})
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
