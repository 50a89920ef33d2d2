package main

import (
	"fmt"

	"oneticket/config"
	"oneticket/extproc"
	"oneticket/extproc/envoy"
)

// A proxy is what is known of the Envoy in front of the filter.
type proxy struct {
	patience    extproc.Patience
	bufferLimit int64 // the largest body that it sends, in bytes
	safeRetries bool  // its routes send again only what was never sent
}

// newProxy knows of run's own Envoy what it writes, and believes of another one
// what the envoy block says.
func newProxy(p *process, cfg *config.Config, spec envoy.Spec) (proxy, error) {
	if !p.serves {
		return proxy{
			patience:    extproc.Patience{Message: spec.MessageTimeout, Most: spec.MaxMessageTimeout},
			bufferLimit: spec.BufferLimit(),
			safeRetries: true,
		}, nil
	}
	for _, b := range cfg.Backends {
		if cfg.Envoy.RouteTimeout > b.Timeout {
			return proxy{}, fmt.Errorf("route_timeout %v of the envoy block is longer than the timeout %v of backend %q: a create would outlive its claim; set timeout = %q in that backend",
				cfg.Envoy.RouteTimeout, b.Timeout, b.Name, cfg.Envoy.RouteTimeout)
		}
	}
	return proxy{
		patience:    extproc.Patience{Message: cfg.Envoy.MessageTimeout, Most: cfg.Envoy.MaxMessageTimeout},
		bufferLimit: max(spec.BufferLimit(), cfg.Envoy.BufferLimit),
		safeRetries: cfg.Envoy.SafeRetries,
	}, nil
}
