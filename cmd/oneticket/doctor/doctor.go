package doctor

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
)

// Options say where things are, and what the filter would believe.
type Options struct {
	URL     *url.URL     // of a create, as a client of the Envoy would send it
	Host    string       // the Host of requests; "" = that of URL
	Method  string       // "" = POST
	Filter  net.Listener // the filter's socket
	Server  []grpc.ServerOption
	Backend net.Listener // where the Envoy's route leads for the time being

	MessageTimeout    time.Duration
	MaxMessageTimeout time.Duration // 0 = none
	MaxBody           int           // bytes
	FailClosed        bool
	SafeRetries       bool
}

// bound ends everything: no check takes so long when all is well.
const bound = 55 * time.Second

// Run looks at everything, and closes both listeners. The findings are in the
// order in which they are worth reading; the error is that it could not look.
func Run(ctx context.Context, o Options) ([]Finding, error) {
	if o.Method == "" {
		o.Method = http.MethodPost
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bound, fmt.Errorf("the Envoy took longer than %v", bound))
	defer cancel()
	d := &desk{probes: map[string]*probe{}}
	server := grpc.NewServer(o.Server...)
	extprocv3.RegisterExternalProcessorServer(server, &filter{desk: d})
	accesslogv3.RegisterAccessLogServiceServer(server, &accessLog{desk: d})
	backend := &http.Server{Handler: d, ReadHeaderTimeout: 10 * time.Second}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(o.Filter) })   // until it is stopped
	serving.Go(func() { _ = backend.Serve(o.Backend) }) // likewise
	defer serving.Wait()
	defer backend.Close()
	defer server.Stop()
	e := &examination{Options: o, desk: d, client: &http.Client{Transport: &http.Transport{
		// Each request has a connection of its own: one that the Envoy closes
		// must not hit another.
		DisableKeepAlives: true,
	}}}
	return e.run(ctx), nil
}

// An examination is one run.
type examination struct {
	Options
	desk   *desk
	client *http.Client

	first *probe // all other probes are judged in the light of it
}

// ask sends one marked request and waits for its answer.
func (e *examination) ask(ctx context.Context, p plan) *probe {
	x := newProbe(p)
	e.desk.add(x)
	x.send(ctx, e.client, e.Options)
	return x
}

// run begins with a request that no ticket system takes for a create: the
// route may lead to the real one still.
func (e *examination) run(ctx context.Context) []Finding {
	way, good := e.way(ctx)
	if !good {
		return way
	}
	found := make([][]Finding, len(checks))
	var all sync.WaitGroup
	for i, c := range checks {
		all.Go(func() {
			if why := c.needs.missing(e.first); why != "" {
				found[i] = []Finding{skipped(c.name, why)}
				return
			}
			found[i] = []Finding{c.look(ctx, e, c)}
		})
	}
	all.Wait()
	for _, f := range found {
		way = append(way, f...)
	}
	return way
}

// settleLog is how long an entry of the access log may take.
const settleLog = 3 * time.Second

// entry waits for the probe's entry.
func (p *probe) awaitEntry(ctx context.Context) bool {
	deadline := time.NewTimer(settleLog)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for p.logged() == nil {
		select {
		case <-tick.C:
		case <-deadline.C:
			return p.logged() != nil
		case <-ctx.Done():
			return p.logged() != nil
		}
	}
	return true
}
