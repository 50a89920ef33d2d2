package doctor

import (
	"context"
	"fmt"
	"time"
)

// The checks of the way; they come first, and in this order.
var (
	wayListener = check{name: "listener",
		why: "nothing can be said of an Envoy that does not answer",
		set: "the URL of a create, as the automation would send it through this Envoy"}
	wayRoute = check{name: "route",
		why: "requests with a mark must not reach a real ticket system; nothing more was sent",
		set: "for the time of the test, the endpoint of the backend's cluster to the address of --backend-listen; and --host to the Host by which the Envoy knows the backend, where that of URL leads elsewhere"}
	wayFilter = check{name: "filter",
		why: "creates pass unguarded",
		set: "the filter on for the route of this URL (typed_per_filter_config), and a cluster that leads to the setting socket"}
	wayHeaders = check{name: "header mode",
		why: "without the headers of both sides there is no path, no credential and no status; headers are sent on before the filter decides",
		set: "request_header_mode and response_header_mode of processing_mode to SEND"}
	wayBodies = check{name: "body mode",
		why: "with any other mode the filter guards nothing: it has to see a body whole before it is sent on",
		set: "request_body_mode and response_body_mode of processing_mode to BUFFERED, without observability_mode"}
)

// tries is how often a filter that has just begun to listen is looked for.
const tries = 3

// way looks whether a request gets anywhere at all; false: nothing else can be
// looked at.
func (e *examination) way(ctx context.Context) ([]Finding, bool) {
	harmless := e.findWay(ctx)
	if harmless.seen.err != nil {
		return []Finding{wayListener.bad("%s does not answer: %v", e.URL.Redacted(), harmless.seen)}, false
	}
	found := []Finding{good(wayListener.name, "%s answers", e.URL.Host)}
	if harmless.reached() == 0 {
		return append(found, wayRoute.bad("the request did not reach %s; the client saw %v", e.Backend.Addr(), harmless.seen)), false
	}
	found = append(found, good(wayRoute.name, "leads to %s", e.Backend.Addr()))
	if harmless.streamed() == 0 {
		return append(found, wayFilter.bad("the request reached the backend, and the filter on %s was not asked", e.Filter.Addr())), false
	}
	found = append(found, good(wayFilter.name, "is asked on %s", e.Filter.Addr()))
	for range tries { // one that Envoy gave up on, on a busy machine, says nothing of its modes
		e.first = e.ask(ctx, plan{})
		if _, whole := e.first.first(responseBody); whole > 0 {
			break
		}
	}
	return append(found, e.headerMode(), e.bodyMode()), true
}

func (e *examination) findWay(ctx context.Context) *probe {
	for i := 1; ; i++ {
		p := e.ask(ctx, plan{text: true})
		if p.streamed() > 0 || i == tries {
			return p
		}
		select {
		case <-time.After(time.Second): // an Envoy that met no filter is slow to try again
		case <-ctx.Done():
			return p
		}
	}
}

func (p *probe) streamed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.streams
}

func (e *examination) headerMode() Finding {
	_, asked := e.first.first(requestHeaders)
	_, answered := e.first.first(responseHeaders)
	switch {
	case asked == 0:
		return wayHeaders.bad("request headers are not sent (SKIP)")
	case answered == 0:
		return wayHeaders.bad("response headers are not sent (SKIP)")
	}
	return good(wayHeaders.name, "SEND both ways")
}

func (e *examination) bodyMode() Finding {
	if why := needBodies.missing(e.first); why != "" {
		return wayBodies.bad("%s", why)
	}
	return good(wayBodies.name, "BUFFERED both ways")
}

// A need is what a check needs of the modes to mean anything.
type need uint

const (
	needHeaders need = 1 << iota
	needBodies
)

// missing says what of the need is not there; empty when all is.
func (n need) missing(first *probe) string {
	_, heads := first.first(requestHeaders)
	_, backHeads := first.first(responseHeaders)
	_, bodies := first.first(requestBody)
	_, backBodies := first.first(responseBody)
	first.mu.Lock()
	defer first.mu.Unlock()
	mode := first.mode
	switch {
	case n&needHeaders != 0 && (heads == 0 || backHeads == 0):
		return "headers are not sent"
	case n&needBodies == 0:
		return ""
	case first.watching:
		return "observability_mode: nobody waits for the filter"
	case mode != nil && !(buffered(mode.GetRequestBodyMode()) && buffered(mode.GetResponseBodyMode())):
		return fmt.Sprintf("the request's body is %v, the response's %v", mode.GetRequestBodyMode(), mode.GetResponseBodyMode())
	case bodies != 1 || backBodies != 1:
		return fmt.Sprintf("a small body came in %d parts, its answer in %d", bodies, backBodies)
	}
	return ""
}
