package envoy

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// FilterCluster is the name of the cluster through which Envoy reaches the
// filter; a backend cannot have it. MetadataNamespace is where the filter puts
// what it decided: the member "decision" there says that it did.
const (
	FilterCluster     = "oneticket"
	MetadataNamespace = "oneticket"
)

// GuardedRoute is the name of a route with the filter on; RestRoute of one
// without (attribute xds.route_name).
const (
	GuardedRoute = "guarded"
	RestRoute    = "rest"
)

// A Spec is all that Bootstrap needs to know. Zero values of numbers mean the
// default that WithDefaults fills in.
type Spec struct {
	Backends []Backend
	Socket   string // path of the UNIX socket on which the filter listens
	StateDir string // where bypass.ndjson is written
	Admin    string // path of the UNIX socket of Envoy's own admin interface

	Wait              time.Duration // in_flight.wait: how long the filter may hold a duplicate; default 20 s
	MaxBody           int64         // limits.max_body in bytes; default 4 MiB
	MaxWaiters        int           // in_flight.max_waiters; default 4096
	MessageTimeout    time.Duration // default and least 8 s: all tries of the first message end before
	MaxMessageTimeout time.Duration // default Wait + 40 s, for the tries to send again and to heal on top of it
	FilterRetry       time.Duration // how long the first message of a stream is tried while the filter is away; default 5 s
	Roots             string        // file of certificates that https backends are checked with; default Roots()
	AccessLogService  bool          // the filter's server takes Envoy's access log too

	Remote Remote // where the filter listens, when that is not Socket
}

// A Backend is one ticket system and the local address that stands in for it.
type Backend struct {
	Name    string
	URL     string   // http or https; a path is put before the path of every request
	Listen  string   // HOST:PORT; port 0 is a free one, see Child.Addresses
	Methods []string // of the rules: requests with these meet the filter; default POST
	Timeout time.Duration
	TLS     Certificate // what Listen shows; the zero value is plain HTTP
	// Inner is HOST:PORT of one more listener, of plain HTTP, by which calls of
	// our own go where Listen shows a certificate that they would have to know;
	// "" is none. Its name is InnerName.
	Inner string
	// HidesPath: the path of a request may hold a credential, and stays out of the
	// bypass log. Behind an Envoy of somebody else that holds for all backends.
	HidesPath bool
	// FailureClosed refuses creates while the filter is away (503) instead of
	// letting them pass unguarded.
	FailureClosed bool
	// Retries is how often a create of which nothing was sent is sent again:
	// 0 is the default of 4, less than 0 is never.
	Retries int
}

// answerLimit is the largest answer that passes a guarded route.
const answerLimit = 16 << 20

// The bounds of the retries of the first message: tries are that far apart on
// average (0.25 s doubling to 0.5 s, jittered), and all of them have to end
// before the message times out.
const (
	filterRetryPause  = 277 * time.Millisecond
	leastMessageTime  = 8 * time.Second
	mostMessageTime   = time.Hour // Envoy takes no more
	defaultWait       = 20 * time.Second
	defaultTimeout    = 60 * time.Second
	defaultMaxBody    = 4 << 20
	defaultMaxWaiters = 4096
	defaultRetries    = 4
)

// WithDefaults returns s with every zero setting filled in.
func (s Spec) WithDefaults() Spec {
	s.Wait = cmp.Or(s.Wait, defaultWait)
	s.MaxBody = cmp.Or(s.MaxBody, defaultMaxBody)
	s.MaxWaiters = cmp.Or(s.MaxWaiters, defaultMaxWaiters)
	s.FilterRetry = cmp.Or(s.FilterRetry, 5*time.Second)
	s.MessageTimeout = max(s.MessageTimeout, leastMessageTime)
	s.MaxMessageTimeout = min(cmp.Or(s.MaxMessageTimeout, s.Wait+40*time.Second), mostMessageTime)
	backends := make([]Backend, len(s.Backends))
	for i, b := range s.Backends {
		backends[i] = b.withDefaults()
	}
	s.Backends = backends
	return s
}

func (b Backend) withDefaults() Backend {
	b.Timeout = cmp.Or(b.Timeout, defaultTimeout)
	b.Retries = cmp.Or(b.Retries, defaultRetries)
	if len(b.Methods) == 0 {
		b.Methods = []string{"POST"}
	}
	return b
}

// BufferLimit is how many bytes of a body a guarded route holds, in each
// direction: 4 x MaxBody, and no less than the largest answer of 16 MiB.
func (s Spec) BufferLimit() int64 { return max(4*s.WithDefaults().MaxBody, answerLimit) }

// DrainTime is longer than any exchange: the filter holds the request, and the
// backend works on it.
func (s Spec) DrainTime() time.Duration {
	s = s.WithDefaults()
	longest := s.MaxMessageTimeout + time.Minute
	for _, b := range s.Backends {
		longest = max(longest, s.idle(b))
	}
	return longest
}

// idle is longer than an exchange with the backend can be without a byte.
func (s Spec) idle(b Backend) time.Duration { return s.MaxMessageTimeout + b.Timeout + time.Minute }

// Hosts gives for the name of each backend's cluster (attribute
// xds.cluster_name) the host that its requests are sent on to: lower case,
// without the default port.
func (s Spec) Hosts() (map[string]string, error) {
	hosts := make(map[string]string, len(s.Backends))
	for _, b := range s.Backends {
		t, err := parseTarget(b.URL)
		if err != nil {
			return nil, fmt.Errorf("backend %q: %w", b.Name, err)
		}
		hosts[b.Name] = t.authority
	}
	return hosts, nil
}

// check reports every mistake in s at once.
func (s Spec) check() error {
	var errs []error
	paths := []struct{ name, path string }{{"socket", s.Socket}, {"state directory", s.StateDir}, {"admin", s.Admin}}
	if s.Remote.Address != "" {
		paths = paths[1:]
	}
	for _, p := range paths {
		if !filepath.IsAbs(p.path) {
			errs = append(errs, fmt.Errorf("%s: %q is not an absolute path", p.name, p.path))
		}
	}
	if 4*s.MaxBody > 1<<31 {
		errs = append(errs, fmt.Errorf("max_body: %d bytes are more than the 512 MiB that Envoy can hold four times", s.MaxBody))
	}
	if s.MessageTimeout > mostMessageTime || s.Wait > mostMessageTime-10*time.Second {
		errs = append(errs, fmt.Errorf("message_timeout %v, wait %v: Envoy waits an hour for a message at most", s.MessageTimeout, s.Wait))
	}
	seen := map[string]string{}
	for _, b := range s.Backends {
		if err := b.check(seen); err != nil {
			errs = append(errs, fmt.Errorf("backend %q: %w", b.Name, err))
		}
	}
	return errors.Join(errs...)
}

// check adds to seen the name and the address that b takes.
func (b Backend) check(seen map[string]string) error {
	if b.Name == "" || b.Name == FilterCluster {
		return fmt.Errorf("the name is empty or %q, which is the filter's own", FilterCluster)
	}
	if _, err := parseTarget(b.URL); err != nil {
		return err
	}
	for _, m := range b.Methods {
		if strings.Trim(m, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" || m == "" {
			return fmt.Errorf("methods: %q is no method in capitals", m)
		}
	}
	taken := []string{"name " + b.Name}
	for _, listen := range []string{b.Listen, b.Inner} {
		if listen == "" && listen == b.Inner {
			continue
		}
		port, err := listenPort(listen)
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		if port != "0" {
			taken = append(taken, "listen "+listen)
		}
	}
	for _, t := range taken {
		if other, ok := seen[t]; ok {
			return fmt.Errorf("%s is taken by backend %q", t, other)
		}
		seen[t] = b.Name
	}
	return nil
}

// listenPort returns the port of an address that Envoy can listen on.
func listenPort(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	if net.ParseIP(host) == nil {
		return "", fmt.Errorf("%q is no IP address", host)
	}
	if n, err := net.LookupPort("tcp", port); err != nil || n < 0 {
		return "", fmt.Errorf("%q is no port", port)
	}
	return port, nil
}

// A target is where a backend is.
type target struct {
	tls       bool
	host      string // a name or an IP address, without brackets
	port      uint32
	authority string // lower case, without the default port: the Host of what is sent
	prefix    string // ends without a slash; empty when the URL has no path
}

func (t target) ip() bool { return net.ParseIP(t.host) != nil }

func parseTarget(raw string) (target, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return target{}, fmt.Errorf("url: %w", err)
	}
	defaultPort := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	switch {
	case defaultPort == "":
		return target{}, fmt.Errorf("url: %q has the scheme %q, want http or https", u.Redacted(), u.Scheme)
	case u.Hostname() == "":
		return target{}, fmt.Errorf("url: %q names no host", u.Redacted())
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return target{}, fmt.Errorf("url: %q has more than scheme, host, port and path", u.Redacted())
	}
	port, err := net.LookupPort("tcp", cmp.Or(u.Port(), defaultPort))
	if err != nil {
		return target{}, fmt.Errorf("url: %w", err)
	}
	return target{
		tls:       u.Scheme == "https",
		host:      strings.ToLower(u.Hostname()),
		port:      uint32(port),
		authority: strings.TrimSuffix(strings.ToLower(u.Host), ":"+defaultPort),
		prefix:    strings.TrimRight(u.EscapedPath(), "/"),
	}, nil
}
