package config

import (
	"fmt"
	"slices"
	"strings"
)

// fillProcess fills what is not about a backend or a rule.
func (l *loader) fillProcess() {
	c := l.config
	top := l.only("")
	c.StateDir, c.Admin, c.Socket = l.path(top, "state_dir"), top.text("admin"), l.socketPlace(top)
	c.TLS, c.Watch = l.pathTable(top, "tls", "cert", "key", "ca"), top.flag("watch")
	l.checkAddress(top, "admin")
	l.checkSocket(top)
	l.fillStore()

	flight := l.only("in_flight")
	c.InFlight = InFlight{Wait: flight.length("wait"), Lease: flight.length("lease"),
		Busy: int(flight.number("busy")), MaxWaiters: int(flight.number("max_waiters"))}
	limits := l.only("limits")
	c.Limits = Limits{MaxBody: limits.number("max_body"), MaxResponse: limits.number("max_response")}
	letters := l.only("dead_letter")
	c.DeadLetter = DeadLetter{MaxCount: letters.number("max_count"), MaxBytes: letters.number("max_bytes"),
		MaxAge: letters.length("max_age"), Replay: letters.text("replay") == "auto"}
	c.Principals = Principals{TTL: l.only("principals").length("ttl")}
	l.fillEnvoy()
}

func (l *loader) only(block string) layers { return one(block, l.blocks[block]) }

func (l *loader) fillStore() {
	from, s := l.only("store"), &l.config.Store
	if s.Kind == "" {
		s.Kind = "sqlite"
	}
	s.Path, s.URL = l.path(from, "path"), from.text("url")
	s.Sentinel, s.Cluster, s.TLS = from.table("sentinel"), from.list("cluster"), l.pathTable(from, "tls", "ca", "cert", "key")
	s.Timeout = from.length("timeout")
	if s.Kind == "redis" && s.URL == "" && len(s.Sentinel) == 0 && len(s.Cluster) == 0 {
		l.failRedis(from)
	}
	l.checkStoreURL(from)
}

// storeSchemes are how the address of a store begins.
var storeSchemes = map[string][]string{"redis": {"redis://", "rediss://", "unix://"}, "postgres": {"postgres://", "postgresql://"}}

// checkStoreURL points at the block and quotes nothing: what is no address
// cannot be masked, and may hold a password.
func (l *loader) checkStoreURL(from layers) {
	s := &l.config.Store
	begins := func(scheme string) bool { return strings.HasPrefix(s.URL, scheme) }
	if schemes := storeSchemes[s.Kind]; s.URL != "" && schemes != nil && !slices.ContainsFunc(schemes, begins) {
		l.fail(from.blocks[0].at, fmt.Sprintf("url of store %q is no address", s.Kind),
			"Allowed is what begins with "+strings.Join(schemes, ", ")+".")
	}
}

// failRedis: one that has an address which cannot be read was reported.
func (l *loader) failRedis(from layers) {
	block := l.blocks["store"]
	if !block.tried["url"] && !block.tried["sentinel"] && !block.tried["cluster"] {
		l.fail(from.at("url"), `store "redis" has no address`, `It needs one of url, sentinel and cluster: url = "redis://HOST:6379".`)
	}
}

func (l *loader) fillEnvoy() {
	from := l.only("envoy")
	e := Envoy{MessageTimeout: from.length("message_timeout"), MaxMessageTimeout: from.length("max_message_timeout"),
		BufferLimit: from.number("buffer_limit"), RouteTimeout: from.length("route_timeout"), SafeRetries: from.text("retries") == "safe"}
	if from.has("message_timeout") && !from.has("max_message_timeout") {
		// Who says how long the proxy waits and not how long it may be asked to
		// speaks of one that has no max_message_timeout.
		e.MaxMessageTimeout = 0
	}
	l.config.Envoy = e
	if e.MaxMessageTimeout != 0 && e.MaxMessageTimeout < e.MessageTimeout {
		l.fail(from.at("max_message_timeout"), "max_message_timeout is below message_timeout",
			"Found "+short(e.MaxMessageTimeout)+"; allowed is "+short(e.MessageTimeout)+" or more.")
	}
	if e.BufferLimit != 0 && e.BufferLimit < l.config.Limits.MaxBody {
		l.fail(from.at("buffer_limit"), "buffer_limit is below max_body", "The proxy would refuse creates that the filter takes.")
	}
}
