package config

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// address reads a setting that is the address of a server, for requests that
// bring their own path, query and credentials.
func (l *loader) address(from layers, setting string) *url.URL {
	text := from.text(setting)
	v, _ := from.get(setting)
	host := text
	if !isWritten(v) {
		host = "" // it may be a secret
	}
	bad := func(what, todo string) *url.URL {
		l.fail(from.at(setting), setting+" "+what, sentence("found "+masked(shown(v))+"; "+todo))
		return nil
	}
	u, err := url.Parse(text)
	switch {
	case strings.TrimSpace(text) != text:
		return bad("has a blank at an end", "take it out")
	case err != nil && !strings.Contains(text, "://") || err == nil && u.Scheme != "http" && u.Scheme != "https":
		return bad("is no address of a server", schemeHint(host))
	case err != nil:
		return bad("is no address of a server", "allowed is http:// or https://, a host and, if need be, a port and a path")
	case u.Hostname() == "":
		return bad("names no host", "allowed is http:// or https:// and a host")
	case u.Port() != "" && !isPort(u.Port(), 1):
		return bad("has a port that is none", "allowed is 1 to 65535")
	case u.User != nil:
		return bad("has a user", "take it out: callers bring their own credentials, and outside calls have those of the setting credentials")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return bad("is more than an address", "take out what begins with ? or #: each request brings its own")
	}
	return u
}

func schemeHint(text string) string {
	if scheme, _, ok := strings.Cut(text, "://"); ok {
		return fmt.Sprintf("allowed is http:// or https://, not %s://", scheme)
	}
	return fmt.Sprintf("allowed is http:// or https:// and a host, such as https://%s", cmp.Or(strings.TrimLeft(text, "/"), "acme.example.com"))
}

func isPort(text string, least int) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= least && n <= 65535
}

// checkAddress holds a setting against HOST:PORT; one that is not set passes.
func (l *loader) checkAddress(from layers, setting string) (host, port string, ok bool) {
	text := from.text(setting)
	if text == "" {
		return "", "", false
	}
	host, port, err := net.SplitHostPort(text)
	if err == nil && isPort(port, 0) && strings.TrimSpace(host) == host {
		return host, port, true
	}
	v, _ := from.get(setting)
	if !isWritten(v) {
		text = ""
	}
	l.fail(from.at(setting), setting+" is no address", sentence("found "+shown(v)+"; allowed is HOST:PORT"+addressHint(text)))
	return "", "", false
}

func addressHint(text string) string {
	switch _, rest, isURL := strings.Cut(text, "://"); {
	case isURL:
		return fmt.Sprintf(": write %q", strings.TrimRight(rest, "/"))
	case isPort(strings.TrimPrefix(text, ":"), 0):
		return fmt.Sprintf(": write %q", "127.0.0.1:"+strings.TrimPrefix(text, ":"))
	case net.ParseIP(text) != nil && strings.Contains(text, ":"):
		return fmt.Sprintf(": write %q", net.JoinHostPort(text, "8081"))
	}
	return ", such as 127.0.0.1:8081"
}

// checkListen: the proxy takes no names to listen on.
func (l *loader) checkListen(from layers) {
	host, port, ok := l.checkAddress(from, "listen")
	if !ok || net.ParseIP(host) != nil {
		return
	}
	instead := "127.0.0.1:" + port
	if host == "" {
		l.fail(from.at("listen"), "listen has no IP address", fmt.Sprintf("Write %q for this machine, or %q for all who can reach it.", instead, "0.0.0.0:"+port))
		return
	}
	l.fail(from.at("listen"), "listen is not an IP address", fmt.Sprintf("Found a name; write an address of this machine, such as %q.", instead))
}

// checkLoop: what listens on the backend's own address sends to itself.
func (l *loader) checkLoop(from layers, b *Backend) {
	host, port, err := net.SplitHostPort(b.Listen)
	if err != nil || b.URL == nil {
		return
	}
	to := b.URL.Hostname()
	toPort := cmp.Or(b.URL.Port(), map[string]string{"http": "80", "https": "443"}[b.URL.Scheme])
	same := host == to || isEvery(host) && isLocal(to) || to == "localhost" && isLocal(host)
	if same && port == toPort {
		l.fail(from.at("listen"), "listen is the backend's own address",
			"Requests would go round in a circle. url is the address of the ticket system; listen is another one, such as 127.0.0.1:8081, that the automation sends to instead.")
	}
}

// isLocal reports whether only this machine reaches the host.
func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// checkHosts: names, not addresses.
func (l *loader) checkHosts(from layers) {
	for _, h := range from.list("hosts") {
		if h == "" || strings.ContainsAny(h, "/?#@ ") || strings.Contains(strings.TrimPrefix(h, "*."), "*") {
			l.fail(from.at("hosts"), "this is no host", fmt.Sprintf("Found %q; allowed are HOST, HOST:PORT and *.DOMAIN.", masked(h)))
		}
	}
}

// checkListens: each address is listened on once.
func (l *loader) checkListens() {
	type listener struct {
		who        string
		host, port string
		at         hcl.Range
	}
	var taken []listener
	add := func(who, text string, at hcl.Range) {
		// An address is no secret, wherever it comes from.
		host, port, err := net.SplitHostPort(text)
		if err != nil || port == "0" {
			return
		}
		for _, other := range taken {
			if other.port == port && (other.host == host || isEvery(host) || isEvery(other.host)) {
				l.fail(at, fmt.Sprintf("%s is taken by %s", text, other.who), fmt.Sprintf("See %s:%d. Each has an address of its own; a backend without listen gets a free port.", other.at.Filename, other.at.Start.Line))
				return
			}
		}
		taken = append(taken, listener{who, host, port, at})
	}
	if _, set := l.only("").get("admin"); set {
		add("admin", l.config.Admin, l.only("").at("admin"))
	}
	for i := range l.backends {
		b := &l.backends[i]
		if v, set := b.set["listen"]; set {
			add(fmt.Sprintf("backend %q", b.name), v.text, v.at)
		}
	}
	if _, set := l.only("").get("admin"); !set {
		l.checkDefaultAdmin()
	}
}

func isEvery(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

// checkDefaultAdmin: the admin address has a default that a listen may take.
func (l *loader) checkDefaultAdmin() {
	_, port, _ := net.SplitHostPort(l.config.Admin)
	for i := range l.backends {
		v, set := l.backends[i].set["listen"]
		if host, own, err := net.SplitHostPort(v.text); set && err == nil && own == port && (isEvery(host) || host == "127.0.0.1") {
			l.fail(v.at, v.text+" is taken by admin", fmt.Sprintf("The default of admin is %s. Choose another port here, or set admin.", l.config.Admin))
		}
	}
}

// short is a duration as one writes it: 10m, not 10m0s.
func short(d time.Duration) string {
	switch {
	case d >= 48*time.Hour && d%(24*time.Hour) == 0:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	case d >= time.Minute && d%time.Minute == 0:
		text := strings.TrimSuffix(d.String(), "0s")
		return strings.TrimSuffix(text, "h0m") + map[bool]string{true: "h"}[strings.HasSuffix(text, "h0m")]
	}
	return d.String()
}

// isWritten reports whether the value stands in the file as it is.
func isWritten(v value) bool {
	_, ok := literal(v.expr)
	return v.expr == nil || ok
}

// shown is the value for a message.
func shown(v value) string {
	if v.expr == nil {
		return v.text
	}
	given, _ := v.expr.Value(nil)
	return found(v.expr, given)
}
