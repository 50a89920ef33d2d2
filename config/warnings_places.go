package config

import (
	"fmt"
	"net"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// ofRun marks a warning that is of no interest to serve.
type ofRun struct{}

// ForServe is without the warnings that are about what run does alone.
func (d Diagnostics) ForServe() Diagnostics {
	return d.without(func(one *hcl.Diagnostic) bool { _, run := one.Extra.(ofRun); return run })
}

// Mistakes is without the warnings, for a command beside the process, which
// shows them.
func (d Diagnostics) Mistakes() Diagnostics {
	return d.without(func(one *hcl.Diagnostic) bool { return one.Severity != hcl.DiagError })
}

func (d Diagnostics) without(drop func(*hcl.Diagnostic) bool) Diagnostics {
	d.list = slices.DeleteFunc(slices.Clone(d.list), drop)
	return d
}

// warnOfPlaces: who can reach what listens, and how it is found.
func (l *loader) warnOfPlaces() {
	top := l.only("")
	if isOpen(l.config.Admin) {
		l.diags = append(l.diags, warning(top.at("admin"), "admin is open to other machines",
			"Whoever reaches it can do what an operator can, and is asked for no password. Use 127.0.0.1, or let a firewall or network policy admit only the operator's machines."))
	}
	for i := range l.backends {
		b := &l.backends[i]
		v, set := b.set["listen"]
		switch {
		case !set:
			d := warning(b.at, fmt.Sprintf("backend %q has no listen", b.name),
				fmt.Sprintf("run takes a free port, another one at each start. Write the address that the automation is to send to: listen = \"127.0.0.1:%d\". Where an Envoy of your own is in front, by serve, all is well.", 8081+i))
			d.Extra = ofRun{}
			l.diags = append(l.diags, d)
		case isOpen(v.text):
			d := warning(v.at, "listen is open to other machines",
				"Whoever reaches it reaches the ticket system through it. Use 127.0.0.1 where the automation runs on this machine; else let a firewall or network policy admit only the automation.")
			d.Extra = ofRun{}
			l.diags = append(l.diags, d)
		}
	}
}

// isOpen reports whether more than this machine reaches the address.
func isOpen(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && !isLocal(host)
}
