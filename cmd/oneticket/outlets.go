package main

import (
	"cmp"
	"log/slog"

	"oneticket/config"
	"oneticket/extproc"
	"oneticket/extproc/envoy"
)

func newCaller(log *slog.Logger) *extproc.Caller { return extproc.NewCaller(log) }

// outlets are the ways to the backends for outside calls: through what the
// configuration says, else through our own Envoy at these addresses. A backend
// that has neither cannot be asked.
func outlets(cfg *config.Config, addresses map[string]string) []extproc.Outlet {
	var all []extproc.Outlet
	for _, b := range cfg.Backends {
		o := extproc.Outlet{Backend: b.Name, Via: b.Via, Rate: b.Rate.Count, Per: b.Rate.Per, Timeout: b.Timeout}
		switch address := cmp.Or(addresses[envoy.InnerName(b.Name)], addresses[b.Name]); {
		case o.Via != "":
			o.Host = b.URL.Host
		case address != "":
			o.Via = "http://" + address
		default:
			continue
		}
		all = append(all, o)
	}
	return all
}

// listeners are the ways through the filter in front of which somebody else's
// Envoy stands: by what the configuration says of the backend.
func listeners(cfg *config.Config) []extproc.Outlet {
	var all []extproc.Outlet
	for _, b := range cfg.Backends {
		switch {
		case b.Via != "":
			all = append(all, extproc.Outlet{Backend: b.Name, Via: b.Via})
		case b.Listen != "":
			all = append(all, extproc.Outlet{Backend: b.Name, Via: schemeOf(b) + "://" + b.Listen})
		}
	}
	return all
}

// directOutlets are for a process without an Envoy of its own: what the
// configuration says, else straight to the backend.
func directOutlets(cfg *config.Config) []extproc.Outlet {
	all := outlets(cfg, nil)
	for _, b := range cfg.Backends {
		if b.Via == "" {
			all = append(all, extproc.Outlet{Backend: b.Name, Via: b.URL.String(), Rate: b.Rate.Count, Per: b.Rate.Per, Timeout: b.Timeout})
		}
	}
	return all
}
