package main

import (
	"fmt"
	"path/filepath"

	"oneticket/config"
	"oneticket/extproc/envoy"
)

// certificateOf is what the address that stands in for the backend shows. The
// Envoy of run has another working directory than the configuration; another
// one's files are named as they are.
func certificateOf(p *process, b *config.Backend) (envoy.Certificate, error) {
	c := envoy.Certificate{Cert: b.TLS.Cert, Key: b.TLS.Key, Version: b.TLS.Version}
	if !b.TLS.On() || p.serves {
		return c, nil
	}
	for _, file := range []*string{&c.Cert, &c.Key} {
		absolute, err := filepath.Abs(*file)
		if err != nil {
			return c, fmt.Errorf("tls of backend %q: %w", b.Name, err)
		}
		*file = absolute
	}
	return c, nil
}

// innerListen is where calls of our own reach an Envoy of our own whose
// certificate is made for the names that the automation uses.
func innerListen(p *process, b *config.Backend) string {
	if !b.TLS.On() || p.serves {
		return ""
	}
	return "127.0.0.1:0"
}

// schemeOf is how the address that stands in for the backend is spoken to.
func schemeOf(b *config.Backend) string {
	if b.TLS.On() {
		return "https"
	}
	return "http"
}
