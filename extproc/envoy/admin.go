package envoy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// statPrefix is under which Envoy counts the requests of all backends.
const statPrefix = "backends"

// pollEvery is how often Envoy is asked whether something has come true.
const pollEvery = 25 * time.Millisecond

var errStopped = errors.New("envoy was stopped")

// An admin asks Envoy's own admin interface.
type admin struct {
	socket string
	client http.Client
}

func newAdmin(socket string) *admin {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}
	return &admin{socket: socket, client: http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// call returns the body of a 200.
func (a *admin) call(ctx context.Context, method, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://envoy"+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("envoy admin %s: %w", path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("envoy admin %s: %s: %.100s", path, resp.Status, body)
	}
	return body, nil
}

// addresses returns where each listener really listens.
func (a *admin) addresses(ctx context.Context) (map[string]string, error) {
	body, err := a.call(ctx, http.MethodGet, "/listeners?format=json")
	if err != nil {
		return nil, err
	}
	var found struct {
		Listeners []struct {
			Name    string `json:"name"`
			Address struct {
				Socket struct {
					Address string `json:"address"`
					Port    int    `json:"port_value"`
				} `json:"socket_address"`
			} `json:"local_address"`
		} `json:"listener_statuses"`
	}
	if err := json.Unmarshal(body, &found); err != nil {
		return nil, fmt.Errorf("envoy admin /listeners: %w", err)
	}
	addresses := make(map[string]string, len(found.Listeners))
	for _, l := range found.Listeners {
		addresses[l.Name] = net.JoinHostPort(l.Address.Socket.Address, strconv.Itoa(l.Address.Socket.Port))
	}
	return addresses, nil
}

// number reads one counter or gauge by its full name.
func (a *admin) number(ctx context.Context, name string) (uint64, error) {
	body, err := a.call(ctx, http.MethodGet, "/stats?filter="+url.QueryEscape("^"+regexp.QuoteMeta(name)+"$"))
	if err != nil {
		return 0, err
	}
	value, ok := strings.CutPrefix(strings.TrimSpace(string(body)), name+": ")
	if !ok {
		return 0, fmt.Errorf("envoy has no counter %s", name)
	}
	return strconv.ParseUint(value, 10, 64)
}

// Counter returns one of Envoy's own counters or gauges, such as
// "cluster.jira.upstream_cx_connect_fail".
func (c *Child) Counter(ctx context.Context, name string) (uint64, error) {
	return c.admin.number(ctx, name)
}

// Ready waits until Envoy takes requests on all listeners that it was told of;
// after an update too. One that was started with DynamicBootstrap has to be
// told: that it refused its listeners is for Control.Wait to say. The error is
// that of Err when Envoy ended instead, else that of ctx.
func (c *Child) Ready(ctx context.Context) error {
	return c.until(ctx, "ready", func() bool {
		_, err := c.admin.call(ctx, http.MethodGet, "/ready")
		return err == nil && c.settled(ctx)
	})
}

// settling tells whether something waits for its first look-up, routes or workers.
const settling = "^(listener_manager.total_listeners_warming|cluster_manager.warming_clusters|listener_manager.workers_started)$"

func (c *Child) settled(ctx context.Context) bool {
	body, err := c.admin.call(ctx, http.MethodGet, "/stats?filter="+url.QueryEscape(settling))
	said := string(body)
	return err == nil && strings.Contains(said, "total_listeners_warming: 0\n") &&
		strings.Contains(said, "warming_clusters: 0\n") && strings.Contains(said, "workers_started: 1\n")
}

// Addresses returns for each backend the address that stands in for it, with
// the real port where the Spec had port 0. Call it after Ready.
func (c *Child) Addresses(ctx context.Context) (map[string]string, error) {
	return c.admin.addresses(ctx)
}

// ReopenLogs makes Envoy open its log files anew, by their names: what it
// writes soon after goes to files that were put there. See BypassTail.
func (c *Child) ReopenLogs(ctx context.Context) error {
	_, err := c.admin.call(ctx, http.MethodPost, "/reopen_logs")
	return err
}

// Drain makes Envoy take no new connection, answer what it has with
// "Connection: close", and waits until no request is left or ctx ends.
func (c *Child) Drain(ctx context.Context) error {
	c.tail.ends.Store(true)
	for _, path := range []string{"/healthcheck/fail", "/drain_listeners"} {
		if _, err := c.admin.call(ctx, http.MethodPost, path); err != nil {
			return err
		}
	}
	return c.until(ctx, "drain", func() bool {
		n, err := c.admin.number(ctx, "http."+statPrefix+".downstream_rq_active")
		return err == nil && n == 0
	})
}

func (c *Child) until(ctx context.Context, what string, holds func() bool) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !holds() {
		select {
		case <-c.done:
			return cmp.Or(c.err, errStopped)
		case <-ctx.Done():
			return fmt.Errorf("envoy %s: %w", what, context.Cause(ctx))
		case <-tick.C:
		}
	}
	return nil
}
