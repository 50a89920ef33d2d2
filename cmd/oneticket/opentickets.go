package main

import (
	"context"

	"oneticket/config"
	"oneticket/dedup"
)

// askAll asks every backend that has credentials of its own how many open
// tickets carry one of our keys. One that does not say shows nothing.
func (c *census) askAll(ctx context.Context) {
	cfg := c.now.config()
	for name := range c.quiet {
		if cfg.Backend(name) == nil {
			c.metrics.NoOpenTickets(name)
			delete(c.quiet, name)
		}
	}
	for _, b := range cfg.Backends {
		n, asked, ok := c.askOne(ctx, cfg, b)
		switch {
		case ctx.Err() != nil:
			return
		case ok:
			c.metrics.OpenTickets(b.Name, n)
		default:
			c.metrics.NoOpenTickets(b.Name)
		}
		if asked && !ok && !c.quiet[b.Name] {
			c.log.Warn("the backend does not say how many tickets it has open: oneticket_open_tickets lacks it",
				"backend", b.Name, "do", "look whether its credentials may read tickets")
		}
		c.quiet[b.Name] = asked && !ok
	}
}

// askOne adds up what the rules of the backend ask for; rules that ask for the
// same are asked once.
func (c *census) askOne(ctx context.Context, cfg *config.Config, b *config.Backend) (total int64, asked, ok bool) {
	if len(b.Credentials) == 0 {
		return 0, false, false
	}
	done := map[string]bool{}
	for _, r := range cfg.Rules {
		call, has := dedup.Call{}, false
		if r.Backend.Name == b.Name {
			call, has = r.CountCall()
		}
		name := call.Method + " " + call.Path + " " + string(call.Body)
		if !has || done[name] {
			continue
		}
		done[name], asked = true, true
		result := c.calls.Call(ctx, b.Name, call, credentialsOf(b.Credentials))
		n, says := r.Counted(&result.Answer)
		if result.Err != nil || !says {
			return 0, true, false
		}
		total += n
	}
	return total, asked, asked
}
