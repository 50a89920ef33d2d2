package config

import (
	"time"

	"oneticket/dedup"
)

// A Config is one whole configuration, checked and compiled. It is immutable.
type Config struct {
	Hash  string   // of the files and the presets in use; the same text has the same hash
	Files []string // that it was read from

	StateDir string // a relative one is from the working directory; so are all paths
	Admin    string
	Socket   string // "" = a UNIX socket in StateDir
	TLS      map[string]string
	Watch    bool

	Store      Store
	Backends   []*Backend // in the order of the file
	Rules      []*Rule    // in the order of the file, those of backends without a rule of their own last
	InFlight   InFlight
	Limits     Limits
	DeadLetter DeadLetter
	Principals Principals
	Envoy      Envoy
}

// Store says where records are kept.
type Store struct {
	Kind     string // "sqlite", "redis" or "postgres"
	Path     string // sqlite; "" = in StateDir
	URL      string
	Sentinel map[string]string
	Cluster  []string
	TLS      map[string]string
	Timeout  time.Duration
}

// InFlight is about duplicates of a create in progress.
type InFlight struct {
	Wait       time.Duration
	Lease      time.Duration // 0 = the backend's timeout and ten seconds
	Busy       int
	MaxWaiters int
}

// Limits bound what is read, in bytes.
type Limits struct {
	MaxBody     int64
	MaxResponse int64
}

// DeadLetter bounds what is kept of creates that never became tickets.
type DeadLetter struct {
	MaxCount int64
	MaxBytes int64
	MaxAge   time.Duration
	Replay   bool
}

// Principals is about who gets stored answers.
type Principals struct{ TTL time.Duration }

// Envoy is what run writes into the proxy's configuration, and what serve
// believes of a proxy that somebody else runs.
type Envoy struct {
	MessageTimeout    time.Duration
	MaxMessageTimeout time.Duration // 0 = it takes no wish for more
	BufferLimit       int64         // 0 = four times Limits.MaxBody
	RouteTimeout      time.Duration // 0 = the backend's timeout
	SafeRetries       bool          // its routes send again only what was never sent
}

// Backend returns the backend with the name, or nil.
func (c *Config) Backend(name string) *Backend {
	for _, b := range c.Backends {
		if b.Name == name {
			return b
		}
	}
	return nil
}

// Rule returns the rule with the name, or nil.
func (c *Config) Rule(name string) *Rule {
	for _, r := range c.Rules {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// Match returns the first rule that matches the request by its head, or nil.
func (c *Config) Match(r *dedup.Request) *Rule {
	for _, rule := range c.Rules {
		if rule.Matches(r) {
			return rule
		}
	}
	return nil
}
