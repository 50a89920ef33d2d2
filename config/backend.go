package config

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// A Backend is one ticket system.
type Backend struct {
	Name        string
	URL         *url.URL
	Host        string      // of URL: lower case, without its scheme's default port
	Hosts       []string    // other names that requests to it are sent on to, in the same form; "*.example.com" is every name below
	Listen      string      // "" = a free port
	ListenAt    string      // "FILE:LINE" of it; "" without one
	TLS         Certificate // what Listen shows; of serve, what the other Envoy shows
	Preset      string
	Timeout     time.Duration
	Rate        PerTime
	Via         string
	Credentials map[string]string
	FailClosed  bool
	CloseSecret string // "" = no close is taken by POST /v1/close
}

type backendBlock struct {
	name string
	values
	built  *Backend
	preset *preset
}

// ownName is what the filter itself is called in the proxy.
const ownName = "oneticket"

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

func (l *loader) checkName(name string, at hcl.Range) {
	if !validName.MatchString(name) {
		l.fail(at, "this is no name", fmt.Sprintf("Found %q; allowed are up to 64 letters, digits, \"_\", \"-\" and \".\", the first a letter or digit.", name))
	}
}

func (l *loader) readBackend(b *hclsyntax.Block) {
	name := b.Labels[0]
	l.checkName(name, b.LabelRanges[0])
	if name == ownName {
		l.fail(b.LabelRanges[0], fmt.Sprintf("no backend is named %q", name), "The proxy knows the filter itself by that name. Choose another.")
	}
	block := backendBlock{name: name, values: l.readBlock("backend", "", fmt.Sprintf("backend %q", name), b.DefRange(), b.Body)}
	for _, other := range l.backends {
		if other.name == name {
			l.fail(b.LabelRanges[0], fmt.Sprintf("backend %q stands twice", name), fmt.Sprintf("The first is at %s:%d.", other.at.Filename, other.at.Start.Line))
			block.preset = l.backendPreset(&block)
			l.buildBackend(&block) // for its own mistakes
			return
		}
	}
	l.backends = append(l.backends, block)
}

func (l *loader) buildBackends() {
	for i := range l.backends {
		b := &l.backends[i]
		b.preset = l.backendPreset(b)
		b.built = l.buildBackend(b)
		l.config.Backends = append(l.config.Backends, b.built)
	}
}

func (l *loader) buildBackend(b *backendBlock) *Backend {
	from := layers{block: "backend", blocks: []values{b.values}}
	if b.preset != nil {
		from.blocks = append(from.blocks, b.preset.values)
	}
	rate, _ := from.get("rate")
	out := &Backend{Name: b.name, Listen: from.text("listen"), Timeout: from.length("timeout"), Rate: rate.rate,
		Via: from.text("via"), Credentials: from.table("credentials"), FailClosed: from.text("failure_mode") == "closed", CloseSecret: from.text("close_secret")}
	if b.preset != nil {
		out.Preset = b.preset.name
	}
	if v, set := from.get("listen"); set {
		out.ListenAt = fmt.Sprintf("%s:%d", v.at.Filename, v.at.Start.Line)
	}
	if from.has("url") {
		out.URL = l.address(from, "url")
	}
	if from.text("via") != "" {
		l.address(from, "via")
	}
	if out.URL != nil {
		out.Host = hostOf(out.URL.Host, out.URL.Scheme)
	}
	for _, h := range from.list("hosts") {
		out.Hosts = append(out.Hosts, hostOf(h, ""))
	}
	out.TLS = l.readCertificate(from)
	l.checkListen(from)
	l.checkLoop(from, out)
	l.checkHosts(from)
	l.checkSecret(from)
	l.checkLease(b.name, out.Timeout)
	return out
}

// leastSecret is how many characters nobody guesses.
const leastSecret = 16

// checkSecret: one that is empty comes of a variable that is not set. It is
// shown to nobody.
func (l *loader) checkSecret(from layers) {
	secret := from.text("close_secret")
	if !from.has("close_secret") || len(secret) >= leastSecret && isPlain(secret) && !strings.Contains(secret, " ") {
		return
	}
	l.fail(from.at("close_secret"), "close_secret cannot be this",
		fmt.Sprintf("Found %d characters; allowed are %d or more, of printable ASCII without blanks, as \"openssl rand -hex 32\" makes them. A ticket system presents them in a header.", len(secret), leastSecret))
}

// checkLease: a claim that ends before its create can makes two tickets.
func (l *loader) checkLease(backend string, timeout time.Duration) {
	flight := l.only("in_flight")
	if lease := flight.length("lease"); lease != 0 && lease <= timeout {
		l.fail(flight.at("lease"), fmt.Sprintf("lease does not exceed the timeout of backend %q", backend),
			fmt.Sprintf("Found %s; allowed is more than %s: a claim that ends before its create can makes two tickets. Without the setting it is the timeout and ten seconds.", short(lease), short(timeout)))
	}
}

// hostOf is the host in the form in which requests name it.
func hostOf(hostport, scheme string) string {
	hostport = strings.ToLower(hostport)
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return hostport
	}
	if port == map[string]string{"http": "80", "https": "443"}[scheme] {
		if strings.Contains(host, ":") {
			return "[" + host + "]"
		}
		return host
	}
	return hostport
}

// serves reports whether requests to the host are the backend's.
func (b *Backend) serves(host string) bool {
	if host == b.Host {
		return true
	}
	for _, h := range b.Hosts {
		if suffix, ok := strings.CutPrefix(h, "*"); host == h || ok && strings.HasSuffix(host, suffix) {
			return true
		}
	}
	return false
}
