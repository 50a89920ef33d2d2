package main

import (
	"context"
	"log/slog"
	"net/http"

	"oneticket/cmd/oneticket/admin"
	"oneticket/config"
	"oneticket/dedup"
)

// A closeDesk takes the closes that ticket systems tell of by POST /v1/close.
type closeDesk struct {
	engine  *dedup.Engine
	metrics *admin.Metrics
	log     *slog.Logger
	now     *inForce
}

func newCloseDesk(now *inForce, engine *dedup.Engine, m *admin.Metrics, log *slog.Logger) *closeDesk {
	return &closeDesk{engine: engine, metrics: m, log: log, now: now}
}

func (d *closeDesk) handler() http.Handler {
	return admin.NewCloseHandler(admin.Closes{Secrets: d.secrets, Close: d.close, Metrics: d.metrics, Log: d.log})
}

// secrets are those of all backends, by name; empty where no close is taken.
func (d *closeDesk) secrets() map[string]string {
	all := map[string]string{}
	for _, b := range d.now.config().Backends {
		all[b.Name] = b.CloseSecret
	}
	return all
}

func (d *closeDesk) close(ctx context.Context, backend, ticket string) (dedup.Closing, error) {
	cfg := d.now.config()
	return d.engine.CloseNamed(ctx, dedup.TicketScope(backend), ticket, func(rule string) *dedup.Policy {
		return closePolicy(cfg, backend, rule)
	})
}

// closePolicy is that of the rule; of the backend's rule that remembers longest
// where the rule is not known.
func closePolicy(cfg *config.Config, backend, rule string) *dedup.Policy {
	if r := cfg.Rule(rule); r != nil {
		return r.Policy("")
	}
	longest := &dedup.Policy{}
	for _, r := range cfg.Rules {
		if p := r.Policy(""); r.Backend.Name == backend && p.Remember >= longest.Remember {
			longest = p
		}
	}
	return longest
}
