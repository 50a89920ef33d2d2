package clients_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// An authority is a CA of the test's own, and what it has signed: a certificate
// for the loopback address and for the vendors' own names. Clients are told of
// it by their environment and by nothing else.
type authority struct{ dir, ca, cert, key string }

var certified = sync.OnceValues(func() (authority, error) {
	dir, err := os.MkdirTemp("", "oneticket-ca")
	if err != nil {
		return authority{}, err
	}
	a := authority{dir, filepath.Join(dir, "ca.crt"), filepath.Join(dir, "listen.crt"), filepath.Join(dir, "listen.key")}
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a CA of the test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "oneticket"}, NotBefore: root.NotBefore, NotAfter: root.NotAfter,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"events.pagerduty.com", "api.opsgenie.com"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	rootKey, err := sign(a.ca, "", root, root, nil)
	if err == nil {
		_, err = sign(a.cert, a.key, leaf, root, rootKey)
	}
	return a, err
})

// sign writes the certificate, signed by the parent or by itself, and its key.
func sign(file, keyFile string, cert, parent *x509.Certificate, by *ecdsa.PrivateKey) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if by == nil {
		by = key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, &key.PublicKey, by)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	write := func(path, kind string, der []byte) error {
		if path == "" {
			return nil
		}
		return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
	}
	if err := write(keyFile, "PRIVATE KEY", secret); err != nil {
		return nil, err
	}
	return key, write(file, "CERTIFICATE", der)
}

func authorised(t *testing.T) authority {
	a, err := certified()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// startSecure lets the desk itself speak TLS.
func (d *desk) startSecure(t *testing.T) {
	a := authorised(t)
	pair, err := tls.LoadX509KeyPair(a.cert, a.key)
	if err != nil {
		t.Fatal(err)
	}
	d.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	d.StartTLS()
}

// tunnel is a proxy that leads to the server of url, whatever host it is asked
// for, as somebody's HTTPS_PROXY may.
func tunnel(url string) *httptest.Server {
	_, address, _ := strings.Cut(url, "://")
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
			return
		}
		far, err := net.Dial("tcp", address)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		near, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			far.Close()
			return
		}
		_, _ = io.WriteString(near, "HTTP/1.1 200 Connection established\r\n\r\n") // it may be gone
		go join(far, near)
		join(near, far)
	}))
}

// join copies until either end is over, and then ends both.
func join(to, from net.Conn) {
	_, _ = io.Copy(to, from) // it ends with an error as often as without one
	to.Close()
	from.Close()
}
