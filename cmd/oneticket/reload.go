package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"oneticket/cmd/oneticket/admin"
	"oneticket/config"
	"oneticket/extproc"
	"oneticket/extproc/envoy"
)

// A reloader puts a changed configuration into force. It is read and checked
// whole; what is bad in any way changes nothing.
type reloader struct {
	p       *process
	dir     *stateDir
	book    *ruleBook
	gateway *gateway // nil: the proxy is somebody else's
	calls   *extproc.Caller
	letters *letterBox
	merger  *merger
	now     *inForce
	metrics *admin.Metrics
	log     *slog.Logger

	mu      sync.Mutex // one reload at a time
	current *config.Config
	failed  string // why the last one changed nothing; empty when it did
}

func newReloader(p *process, cfg *config.Config, dir *stateDir, book *ruleBook, g *gateway, calls *extproc.Caller, letters *letterBox, merger *merger, now *inForce, m *admin.Metrics, log *slog.Logger) *reloader {
	return &reloader{p: p, dir: dir, book: book, gateway: g, calls: calls, letters: letters, merger: merger, now: now, metrics: m, log: log, current: cfg}
}

// reloadWithin is what a reload may take, of which the proxy takes most.
const reloadWithin = 45 * time.Second

// reload reads the configuration again. The error says why nothing changed.
func (r *reloader) reload(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	// What has begun is brought to its end, also when nobody waits for it any
	// more: half of a change would be in force.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reloadWithin)
	defer cancel()
	next, err := r.load()
	if err == nil && next.Hash == r.current.Hash {
		r.stays()
		return nil
	}
	if err == nil {
		err = r.apply(ctx, next)
	}
	if err == nil {
		r.now.use(next)
	}
	r.metrics.Reloaded(err == nil)
	if err != nil {
		r.failed = err.Error()
		r.log.Error("the configuration was not reloaded: the last good one stays in force", "error", err)
		return err
	}
	r.failed = ""
	r.current = next
	r.merger.use(next)
	r.log.Info("configuration reloaded", "hash", next.Hash)
	return nil
}

// stays is for files that say what is in force already.
func (r *reloader) stays() {
	what := "configuration unchanged"
	if r.failed != "" {
		what = "configuration in force again: the files say what they said before they were broken"
	}
	r.failed = ""
	r.log.Info(what, "hash", r.current.Hash)
}

func (r *reloader) load() (*config.Config, error) {
	load := config.LoadForRun
	if r.p.serves {
		load = config.Load
	}
	cfg, diags := load(r.p.configPath)
	if diags.HasErrors() {
		return nil, errors.New(diags.String())
	}
	if changed := needRestart(r.current, cfg); len(changed) > 0 {
		return nil, fmt.Errorf("%s cannot be changed while oneticket runs: start it again", strings.Join(changed, ", "))
	}
	return cfg, nil
}

// needRestart names the settings that are in force from the start to the end
// of the process and differ.
func needRestart(was, is *config.Config) (names []string) {
	for _, s := range []struct {
		name    string
		was, is any
	}{
		{"state_dir", was.StateDir, is.StateDir},
		{"admin", was.Admin, is.Admin},
		{"socket", was.Socket, is.Socket},
		{"tls", was.TLS, is.TLS},
		{"store", was.Store, is.Store},
		{"envoy", was.Envoy, is.Envoy},
		{"limits.max_body", was.Limits.MaxBody, is.Limits.MaxBody},
		{"in_flight.max_waiters", was.InFlight.MaxWaiters, is.InFlight.MaxWaiters},
	} {
		if !reflect.DeepEqual(s.was, s.is) {
			names = append(names, s.name)
		}
	}
	return names
}

// apply swaps the rules and changes the proxy. A request is decided under one
// configuration from beginning to end. While the proxy changes over, the rules
// of backends that are going still guard what comes through their listeners.
func (r *reloader) apply(ctx context.Context, next *config.Config) error {
	spec, err := newSpec(r.p, next, r.dir)
	if err != nil {
		return err
	}
	px, err := newProxy(r.p, next, spec)
	if err != nil {
		return err
	}
	rules, err := streamRules(next, spec, px, r.metrics)
	if err != nil {
		return err
	}
	r.letters.follow(next)
	if r.gateway == nil {
		r.calls.Use(directOutlets(next))
		r.letters.use(listeners(next))
		r.book.use(rules)
		return nil
	}
	was := r.book.inForce()
	r.book.use(withDeparting(rules, was))
	if err := r.gateway.change(ctx, spec); err != nil {
		r.book.use(was)
		r.letters.follow(r.current)
		return err
	}
	r.book.use(rules)
	return r.gateway.useOutlets(ctx, next)
}

// withDeparting adds to the rules those of backends that they no longer have.
func withDeparting(rules, was *extproc.Rules) *extproc.Rules {
	both := *rules
	both.Rules = slices.Clone(rules.Rules)
	both.Hosts = map[string]string{}
	for cluster, host := range rules.Hosts {
		both.Hosts[cluster] = host
	}
	for _, old := range was.Rules {
		if _, stays := rules.Hosts[old.Backend]; !stays {
			both.Rules = append(both.Rules, old)
			both.Hosts[old.Backend] = was.Hosts[old.Backend]
		}
	}
	return &both
}

// degraded says that the file and what is in force are not the same.
func (r *reloader) degraded() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == "" {
		return nil
	}
	return []string{"the changed configuration is not in force: " + r.failed}
}

// watchFile is how often a file is looked at that is to be reloaded when it changes.
const watchFile = 2 * time.Second

// run reloads at each SIGHUP, and with watch = true when the file has changed,
// until ctx ends.
func (r *reloader) run(ctx context.Context) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	tick := time.NewTicker(watchFile)
	defer tick.Stop()
	seen := r.files()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
		case <-tick.C:
			now := r.files()
			if !r.watching() || now == seen {
				continue
			}
			seen = now
		}
		_ = r.reload(ctx) // the log and /ready say what came of it
	}
}

func (r *reloader) watching() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current.Watch
}

// files tells one state of the configuration's files from another.
func (r *reloader) files() string {
	r.mu.Lock()
	names := r.current.Files
	r.mu.Unlock()
	var b strings.Builder
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			fmt.Fprintln(&b, name, info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// change puts another Spec into force in the running Envoy.
func (g *gateway) change(ctx context.Context, spec envoy.Spec) error {
	if err := g.control.Set(ctx, spec); err != nil {
		return err
	}
	if err := g.child.Ready(ctx); err != nil {
		return err
	}
	g.spec = spec
	return nil
}
