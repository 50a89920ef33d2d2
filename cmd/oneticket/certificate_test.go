package main_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shownTo is the serial number of the certificate that a client is shown who
// trusts the authority.
func (s *sidecar) shownTo(ca *certificate) (string, error) {
	conn, err := tls.Dial("tcp", s.listen, trusting(ca))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String(), nil
}

func trusting(ca *certificate) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(ca.x509)
	return &tls.Config{RootCAs: pool}
}

// TestAClientThatTakesHTTPSOnly: listen shows the certificate of the backend,
// also a new one after a reload; one that does not go with its key changes
// nothing. Calls of our own (here the update of a worse severity) go on.
func TestAClientThatTakesHTTPSOnly(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", "")
	ca := newCertificate(t, "authority", nil)
	first, second := newCertificate(t, "first", ca), newCertificate(t, "second", ca)
	first.write(t, s.dir, "listen")
	s.rewrite("  timeout = \"5s\"", "  timeout = \"5s\"\n  tls = { cert = \"listen.crt\", key = \"listen.key\" }")
	s.start()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: trusting(ca)}}
	create := func(body string) (int, string) {
		res, err := client.Post("https://"+s.listen+"/api/now/table/incident", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		decision, _, _ := strings.Cut(res.Header.Get("Oneticket-Decision"), "; key")
		return res.StatusCode, decision
	}
	if status, decision := create(fault("core-1", 0)); status != 201 || decision != "create; reason=first" {
		t.Errorf("the client gets %d, %s", status, decision)
	}
	if _, decision := create(strings.Replace(fault("core-1", 1), `"urgency":"2"`, `"urgency":"1"`, 1)); decision != "update; reason=changed" {
		t.Errorf("a worse severity is %s", decision)
	}
	shown := func(what string, want *certificate) {
		t.Helper()
		if serial, err := s.shownTo(ca); err != nil || serial != want.x509.SerialNumber.String() {
			t.Errorf("%s, clients see %s, %v", what, serial, err)
		}
	}
	shown("at first", first)

	second.write(t, s.dir, "new")
	move := func(suffix string) error {
		return os.Rename(filepath.Join(s.dir, "new"+suffix), filepath.Join(s.dir, "listen"+suffix))
	}
	if err := move(".crt"); err != nil {
		t.Fatal(err)
	}
	if status, said := s.reload(); status != 422 || !strings.Contains(said, "do not belong together") {
		t.Errorf("half of a pair gets %d %s", status, said)
	}
	shown("with half of a new pair", first)
	if err := move(".key"); err != nil {
		t.Fatal(err)
	}
	if status, said := s.reload(); status != 200 {
		t.Errorf("the pair gets %d %s", status, said)
	}
	// Envoy's threads change over one after the other.
	waitFor(t, "clients see the new certificate", func() bool {
		serial, err := s.shownTo(ca)
		return err == nil && serial == second.x509.SerialNumber.String()
	})
	if res, err := http.Get("http://" + s.listen); err == nil && res.StatusCode < 400 {
		t.Errorf("plain HTTP is answered with %s", res.Status)
	}
	if _, err := tls.Dial("tcp", s.listen, &tls.Config{}); !errors.As(err, new(*tls.CertificateVerificationError)) {
		t.Errorf("who does not trust the authority sees %v", err)
	}
}
