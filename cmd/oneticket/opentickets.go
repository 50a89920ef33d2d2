package main

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"oneticket/config"
	"oneticket/dedup"
	"oneticket/extproc"
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
		call, as := presenting(call, b.Credentials)
		result := c.calls.Call(ctx, b.Name, call, as)
		n, says := r.Counted(&result.Answer)
		if result.Err != nil || !says {
			return 0, true, false
		}
		total += n
	}
	return total, asked, asked
}

// presenting puts the credentials of the configuration in their places, as
// those of a replay: headers, and parameters as "query.NAME".
func presenting(call dedup.Call, credentials map[string]string) (dedup.Call, extproc.Credentials) {
	var fields []dedup.HeaderField
	for _, name := range slices.Sorted(maps.Keys(credentials)) {
		value := credentials[name]
		parameter, inQuery := strings.CutPrefix(name, "query.")
		switch {
		case inQuery && strings.Contains(call.Path, "?"):
			call.Path += "&" + url.QueryEscape(parameter) + "=" + url.QueryEscape(value)
		case inQuery:
			call.Path += "?" + url.QueryEscape(parameter) + "=" + url.QueryEscape(value)
		case !strings.HasPrefix(name, "body."):
			fields = append(fields, dedup.HeaderField{Name: strings.ToLower(name), Value: value})
		}
	}
	return call, extproc.CredentialsOf(fields...)
}
