package redisstore

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// config is nil where no TLS is wanted.
func (t *TLS) config(wanted bool, base *tls.Config) (*tls.Config, error) {
	if !wanted && *t == (TLS{}) {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if base != nil && t.ServerName == "" {
		c.ServerName = base.ServerName
	}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("tls ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls ca: %s has no certificate in PEM form", t.CA)
		}
	}
	return c, t.present(c)
}

// present makes c show our certificate, as it is on the disk at that time.
func (t *TLS) present(c *tls.Config) error {
	if t.Cert == "" && t.Key == "" {
		return nil
	}
	if t.Cert == "" || t.Key == "" {
		return errors.New("tls: cert and key go together")
	}
	load := func() (*tls.Certificate, error) {
		cert, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("tls cert: %w", err)
		}
		return &cert, nil
	}
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	_, err := load()
	return err
}
