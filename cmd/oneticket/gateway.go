package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"oneticket/cmd/oneticket/admin"
	"oneticket/config"
	"oneticket/extproc"
	"oneticket/extproc/envoy"
)

// A gateway is the Envoy that stands in for the backends.
type gateway struct {
	p         *process
	spec      envoy.Spec
	dir       *stateDir
	readiness *readiness
	now       *inForce
	control   *envoy.Control
	child     *envoy.Child
	metrics   *admin.Metrics
	bypass    *bypassLog
	calls     *extproc.Caller
	letters   *letterBox
	log       *slog.Logger
}

// newSpec says what the configuration wants of Envoy.
func newSpec(p *process, cfg *config.Config, dir *stateDir) (envoy.Spec, error) {
	path, err := socketPath(p, cfg.Socket, dir)
	if err != nil {
		return envoy.Spec{}, err
	}
	adminPath, _, err := envoy.SocketPath(dir.path, "envoy.sock")
	if err != nil {
		return envoy.Spec{}, err
	}
	spec := envoy.Spec{
		Socket: path, Admin: adminPath, StateDir: dir.path,
		Wait: cfg.InFlight.Wait, MaxWaiters: cfg.InFlight.MaxWaiters, MaxBody: cfg.Limits.MaxBody,
		AccessLogService: true,
		MessageTimeout:   cfg.Envoy.MessageTimeout, MaxMessageTimeout: cfg.Envoy.MaxMessageTimeout,
	}
	for _, b := range cfg.Backends {
		listen := b.Listen
		if listen == "" {
			listen = "127.0.0.1:0"
		}
		cert, err := certificateOf(p, b)
		if err != nil {
			return envoy.Spec{}, err
		}
		spec.Backends = append(spec.Backends, envoy.Backend{
			Name: b.Name, URL: b.URL.String(), Listen: listen, TLS: cert, Inner: innerListen(p, b),
			Methods: methodsOf(cfg, b), Timeout: b.Timeout, FailureClosed: b.FailClosed,
			HidesPath: cfg.HidesPath(b),
		})
	}
	return spec.WithDefaults(), nil
}

// methodsOf are those of all rules of the backend.
func methodsOf(cfg *config.Config, b *config.Backend) []string {
	var methods []string
	seen := map[string]bool{}
	for _, r := range cfg.Rules {
		if r.Backend != b {
			continue
		}
		for _, m := range append(r.Methods(), r.ResolveMethods()...) {
			if !seen[m] {
				seen[m] = true
				methods = append(methods, m)
			}
		}
	}
	return methods
}

func newGateway(p *process, spec envoy.Spec, dir *stateDir, r *readiness, now *inForce, control *envoy.Control, calls *extproc.Caller, letters *letterBox, m *admin.Metrics, log *slog.Logger) *gateway {
	return &gateway{p: p, spec: spec, dir: dir, readiness: r, now: now, control: control, calls: calls, letters: letters, metrics: m, log: log}
}

// readyWithin is less than startTimeout, whose end would not say what did not
// start.
const readyWithin = 45 * time.Second

// start runs Envoy, waits until it answers, and says what is where.
func (g *gateway) start(ctx context.Context) error {
	if err := probeListens(ctx, g.p.config); err != nil {
		return err
	}
	path, err := envoy.Find(g.p.envoy)
	if err != nil {
		return err
	}
	version, err := envoy.Version(ctx, path)
	if err != nil {
		return err
	}
	warning, err := envoy.Supported(version)
	if err != nil {
		return err
	}
	if warning != "" {
		g.log.Warn(warning)
	}
	if err := g.validate(ctx, path); err != nil {
		return err
	}
	if err := g.control.Set(ctx, g.spec); err != nil {
		return err
	}
	bootstrap, err := envoy.DynamicBootstrap(g.spec)
	if err != nil {
		return err
	}
	g.child, err = envoy.Start(envoy.Options{
		Path: path, Bootstrap: bootstrap, StateDir: g.dir.path, Log: g.log, DrainTime: g.spec.DrainTime(),
	})
	if err != nil {
		return err
	}
	g.p.goes(g.watch)
	g.bypass = readBypassLog(g.dir.path, g.child.ReopenLogs, g.now, g.metrics, g.log)
	ready, cancel := context.WithTimeoutCause(ctx, readyWithin, fmt.Errorf("%s does not take requests after %v", path, readyWithin))
	defer cancel()
	if err := g.control.Wait(ready); err != nil {
		return err
	}
	if err := g.child.Ready(ready); err != nil {
		return err
	}
	return g.announce(ctx, path, version)
}

// validate asks Envoy itself about the whole of its configuration, which it
// gets in parts later.
func (g *gateway) validate(ctx context.Context, path string) error {
	whole, err := envoy.Bootstrap(g.spec)
	if err != nil {
		return err
	}
	return envoy.Validate(ctx, path, whole)
}

// watch ends the process with Envoy, and says why it ended.
func (g *gateway) watch() error {
	<-g.child.Done()
	return g.child.Err()
}

func (g *gateway) announce(ctx context.Context, path, version string) error {
	addresses, err := g.child.Addresses(ctx)
	if err != nil {
		return err
	}
	g.sendBy(g.p.config, addresses)
	for _, b := range g.spec.Backends {
		fmt.Fprintf(g.p.say, "%-12s %s://%s  (stands in for %s; %s)\n", b.Name, schemeOf(g.p.config.Backend(b.Name)), addresses[b.Name], b.URL, actions(g.p.config, b.Name))
	}
	fmt.Fprintf(g.p.say, "%-12s %s\n", "store", g.readiness.store)
	fmt.Fprintf(g.p.say, "%-12s http://%s  (/metrics /live /ready)\n", "admin", g.readiness.admin)
	fmt.Fprintf(g.p.say, "%-12s %s  (%s)\n", "envoy", version, path)
	fmt.Fprintf(g.p.say, "%-12s %s\n", "ready", g.dir.path)
	g.readiness.set()
	return nil
}

// drainProxy is how long requests that are under way may take to end.
const drainProxy = 25 * time.Second

func (g *gateway) stop(ctx context.Context) error {
	if g.child == nil {
		return nil
	}
	g.readiness.unset()
	draining, cancel := context.WithTimeout(ctx, drainProxy)
	defer cancel()
	select {
	case <-g.child.Done(): // there is nothing to drain: the filter says what became of each create
	default:
		g.drain(draining)
	}
	err := g.child.Stop(ctx)
	g.bypass.close()
	return err
}

func (g *gateway) drain(ctx context.Context) {
	if err := g.child.Drain(ctx); err != nil {
		g.log.Warn("not every request ended in time: creates that are under way are in doubt", "error", err)
	}
}

// useOutlets sends calls of our own by the listeners that there are now.
func (g *gateway) useOutlets(ctx context.Context, cfg *config.Config) error {
	addresses, err := g.child.Addresses(ctx)
	if err != nil {
		return err
	}
	g.sendBy(cfg, addresses)
	return nil
}

// sendBy makes the listeners at these addresses the ways of our own calls and
// of dead letters.
func (g *gateway) sendBy(cfg *config.Config, addresses map[string]string) {
	ways := outlets(cfg, addresses)
	g.letters.use(ways)
	g.calls.Use(ways)
}
