package envoy_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oneticket/extproc/envoy"
	"oneticket/extproc/envoy/envoytest"
)

// shown writes a certificate for the names where a listener reads it.
func (a authority) shown(t *testing.T, dir string, names ...string) envoy.Certificate {
	t.Helper()
	der, key := a.sign(t, names...)
	c := envoy.Certificate{Cert: filepath.Join(dir, "listen.crt"), Key: filepath.Join(dir, "listen.key"), Version: strings.Join(names, ",")}
	write := func(path, kind string, content []byte) {
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(c.Cert, "CERTIFICATE", der)
	write(c.Key, "PRIVATE KEY", pkcs8(t, key))
	return c
}

func pkcs8(t *testing.T, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// secure is a client that trusts the authority and knows the server by the name.
func (a authority) secure(address, name string) (*tls.Conn, error) {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return tls.Dial("tcp", address, &tls.Config{RootCAs: pool, ServerName: name, NextProtos: []string{"h2", "http/1.1"}})
}

// ask sends the request over conn and reads the answer.
func ask(t *testing.T, conn io.ReadWriter, request string) message {
	t.Helper()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	m, err := readMessage(bufio.NewReader(conn))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestAListenerShowsItsCertificate: creates meet the filter by https as they do
// by http, and calls of our own have a way that asks for no certificate.
func TestAListenerShowsItsCertificate(t *testing.T) {
	t.Parallel()
	ca, b := newAuthority(t), startBackend(t, nil)
	c := startControlled(t, envoy.Spec{Backends: []envoy.Backend{
		{Name: "pagerduty", URL: b.url("http"), TLS: ca.shown(t, t.TempDir(), "events.pagerduty.com"), Inner: "127.0.0.1:0"},
	}})
	conn, err := ca.secure(c.Addresses["pagerduty"], "events.pagerduty.com")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if p := conn.ConnectionState().NegotiatedProtocol; p != "http/1.1" {
		t.Errorf("it speaks %q", p)
	}
	if a := ask(t, conn, post("/tls", "{}")); a.status() != "201" || !b.only(t, "/tls").has("Idempotency-Key: idem:1") {
		t.Errorf("by https: %+v", a)
	}
	if a := send(t, c.Addresses[envoy.InnerName("pagerduty")], post("/inner", "{}")); a.status() != "201" || c.filter.seen("/inner") != 1 {
		t.Errorf("by the inner way: %+v", a)
	}
	if _, err := ca.secure(c.Addresses["pagerduty"], "jira.example.com"); err == nil {
		t.Error("its certificate is good for every name")
	}
}

// TestANewCertificateIsShown: the files are read again when the version says
// so, and who is connected stays so.
func TestANewCertificateIsShown(t *testing.T) {
	t.Parallel()
	ca, b, dir := newAuthority(t), startBackend(t, nil), t.TempDir()
	c := startControlled(t, envoy.Spec{Backends: []envoy.Backend{{Name: "jira", URL: b.url("http"), TLS: ca.shown(t, dir, "old.example.com")}}})
	old, err := ca.secure(c.Addresses["jira"], "old.example.com")
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	address := c.Addresses["jira"]
	spec := clone(c.Spec)
	spec.Backends[0].TLS = ca.shown(t, dir, "new.example.com")
	c.set(t, spec)
	c.Await(t)
	if c.Addresses["jira"] != address {
		t.Errorf("it moved from %s to %s", address, c.Addresses["jira"])
	}
	var fresh *tls.Conn
	poll(t, "the new certificate is shown", func() bool { // Envoy's threads change over one after the other
		fresh, err = ca.secure(address, "new.example.com")
		return err == nil
	})
	defer fresh.Close()
	for name, conn := range map[string]*tls.Conn{"/new": fresh, "/old": old} {
		if a := ask(t, conn, post(name, "{}")); a.status() != "201" {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// TestABootstrapShowsTheCertificateToo, with the files as they are on the
// machine of that Envoy.
func TestABootstrapShowsTheCertificateToo(t *testing.T) {
	text, err := envoy.Foreign("bootstrap", envoytest.Fill(t, envoy.Spec{Backends: []envoy.Backend{
		{Name: "jira", URL: "http://127.0.0.1:8080", TLS: envoy.Certificate{Cert: "/etc/envoy/jira.crt", Key: "/etc/envoy/jira.key"}},
	}}), envoy.Mesh{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"DownstreamTlsContext", "filename: /etc/envoy/jira.crt", "filename: /etc/envoy/jira.key"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in it:\n%s", want, text)
		}
	}
}
