package doctor

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	"oneticket/extproc/envoy"
)

// A check is one thing that the filter relies on.
type check struct {
	name  string
	why   string // it matters
	set   string // to this when it is wrong
	needs need
	look  func(context.Context, *examination, check) Finding
}

// checks are made at one time; they are listed in this order.
var checks = []check{
	{name: "mode override", needs: needHeaders | needBodies, look: lookModeOverride,
		why: "a body over max_body is to be let stream past; without it, it is buffered, or refused with 413",
		set: "allow_mode_override: true, and no allowed_override_modes"},
	{name: "buffer for requests", needs: needBodies, look: lookRequestBuffer,
		why: "a create as large as max_body is refused by Envoy, with 413",
		set: "per_connection_buffer_limit_bytes of the listener to what \"oneticket envoy\" prints"},
	{name: "buffer for answers", needs: needBodies, look: lookAnswerBuffer,
		why: "an answer that does not fit becomes a 500 although there is a ticket",
		set: "per_connection_buffer_limit_bytes of the listener to what \"oneticket envoy\" prints"},
	{name: "attributes", look: lookAttributes,
		why: "without them what Envoy answers itself cannot be told from what the ticket system answers, nor a create that was not sent from one that was: each such create is in doubt",
		set: "request_attributes and response_attributes to what \"oneticket envoy\" prints"},
	{name: "access log", look: lookAccessLog,
		why: "it has the last word on a create whose client went away or whose answer broke off",
		set: "the access_log entry \"outcome\" that \"oneticket envoy\" prints, with buffer_size_bytes: 0"},
	{name: "metadata", look: lookMetadata,
		why: "without it Envoy's logs do not know what was decided, the bypass log names every create, and entries of the access log find their create by chance",
		set: "metadata_options.receiving_namespaces.untyped to [" + envoy.MetadataNamespace + "]"},
	{name: "message_timeout", look: lookMessageTimeout,
		why: "Envoy gives up before the filter answers, and the create passes unguarded or fails",
		set: "message_timeout of the filter to what \"oneticket envoy\" prints, or message_timeout in the envoy block to what Envoy has"},
	{name: "max_message_timeout", look: lookMaxMessageTimeout,
		why: "a duplicate that waits for the first create is let through as a second one, or fails",
		set: "max_message_timeout of the filter to what \"oneticket envoy\" prints, or max_message_timeout in the envoy block to what Envoy has (\"0s\" for none)"},
	{name: "restart", look: lookRestart,
		why: "while the filter restarts, creates pass unguarded or are refused",
		set: "retry_policy of the filter's grpc_service to what \"oneticket envoy\" prints"},
	{name: "retries", look: lookRetries,
		why: "a create that was sent is sent again: a second ticket, unless the ticket system honours the token",
		set: "retry_on of the route to connect-failure,refused-stream,reset-before-request, or no retries, here and on every hop behind it"},
	{name: "retries that a client asks for", look: lookClientRetries,
		why: "a client can make Envoy send a create again: a second ticket",
		set: "early_header_mutation_extensions to what \"oneticket envoy\" prints: x-envoy-* is taken off"},
	{name: "answers of the filter", needs: needHeaders, look: lookAnswer,
		why: "a duplicate cannot be answered with the ticket that there is",
		set: "disable_immediate_response: false"},
	{name: "changes by the filter", needs: needHeaders | needBodies, look: lookRewrite,
		why: "the token does not reach the ticket system",
		set: "mutation_rules to the default: none"},
	{name: "failure mode", look: lookFailureMode,
		why: "what becomes of creates while the filter is dead is not what the backend's failure_mode says",
		set: "failure_mode_allow of the filter, or of the route's overrides, to true for \"open\" and false for \"closed\", with status_on_error 503; or failure_mode in the backend to what Envoy has"},
}

func lookModeOverride(ctx context.Context, e *examination, c check) Finding {
	p := e.ask(ctx, plan{letPast: true})
	if _, n := p.first(requestBody); n > 0 {
		return c.bad("the filter asked for no body, and got it")
	}
	return good(c.name, "is obeyed")
}

func lookRequestBuffer(ctx context.Context, e *examination, c check) Finding {
	p := e.ask(ctx, plan{size: e.MaxBody})
	if m, n := p.first(requestBody); n != 1 || m.size != e.MaxBody || p.reached() == 0 {
		return c.bad("a body of %d bytes did not pass: the client saw %v", e.MaxBody, p.seen)
	}
	return good(c.name, "%d bytes pass", e.MaxBody)
}

func lookAnswerBuffer(ctx context.Context, e *examination, c check) Finding {
	p := e.ask(ctx, plan{answering: e.MaxBody})
	if _, n := p.first(responseBody); n != 1 || p.seen.status != http.StatusCreated || p.seen.size < e.MaxBody {
		return c.bad("an answer of %d bytes did not pass: the client saw %v", e.MaxBody, p.seen)
	}
	return good(c.name, "%d bytes pass", e.MaxBody)
}

// maybeAbsent are attributes that a good Envoy may have no value for.
var maybeAbsent = []string{"request.id", "xds.route_name", "upstream.transport_failure_reason"}

func lookAttributes(_ context.Context, e *examination, c check) Finding {
	e.first.mu.Lock()
	defer e.first.mu.Unlock()
	missing := append(absent(envoy.RequestAttributes, e.first.asked), absent(envoy.ResponseAttributes, e.first.answered)...)
	if len(missing) > 0 {
		return c.bad("not sent: %s", strings.Join(missing, ", "))
	}
	return good(c.name, "all are sent")
}

func absent(names []string, told *structpb.Struct) (missing []string) {
	for _, name := range names {
		if told.GetFields()[name] == nil && !slices.Contains(maybeAbsent, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

func lookAccessLog(ctx context.Context, e *examination, c check) Finding {
	if !e.first.awaitEntry(ctx) {
		return c.bad("no entry came within %v", settleLog)
	}
	if e.first.logged().GetCommonProperties().GetUpstreamWireBytesSent() == 0 {
		return c.bad("an entry came, and says that nothing was sent")
	}
	return good(c.name, "entries come")
}

func lookMetadata(ctx context.Context, e *examination, c check) Finding {
	if !e.first.awaitEntry(ctx) {
		return skipped(c.name, "it shows in the access log, and no entry came")
	}
	kept := e.first.logged().GetCommonProperties().GetMetadata().GetFilterMetadata()[envoy.MetadataNamespace]
	if kept.GetFields()["mark"].GetStringValue() != e.first.mark {
		return c.bad("what the filter sets in the namespace %q is dropped", envoy.MetadataNamespace)
	}
	return good(c.name, "is kept")
}

// longestHold bounds what one check may take.
const longestHold = 20 * time.Second

func lookMessageTimeout(ctx context.Context, e *examination, c check) Finding {
	// So late the filter answers at the latest.
	late := min(e.MessageTimeout-min(time.Second, e.MessageTimeout/4), longestHold)
	p := e.ask(ctx, plan{hold: late})
	if !p.waited {
		return c.bad("Envoy gave up after %v; %v is believed", p.gaveUp.Round(10*time.Millisecond), e.MessageTimeout)
	}
	return good(c.name, "Envoy waits for %v; %v is believed", late, e.MessageTimeout)
}

func lookMaxMessageTimeout(ctx context.Context, e *examination, c check) Finding {
	over := e.MessageTimeout + time.Second
	switch {
	case e.MaxMessageTimeout == 0:
		return good(c.name, "none is believed, and none is used")
	case over > longestHold || over >= e.MaxMessageTimeout:
		return skipped(c.name, fmt.Sprintf("a message_timeout of %v cannot be sat out", e.MessageTimeout))
	}
	p := e.ask(ctx, plan{ask: e.MaxMessageTimeout, hold: over})
	if !p.waited {
		return c.bad("asked for %v, Envoy gave up after %v", e.MaxMessageTimeout, p.gaveUp.Round(10*time.Millisecond))
	}
	return good(c.name, "asked for %v, Envoy waits for %v and more", e.MaxMessageTimeout, over)
}

func lookRestart(ctx context.Context, e *examination, c check) Finding {
	p := e.ask(ctx, plan{refuse: 1})
	if p.streamed() < 2 {
		if e.MessageTimeout > time.Second && !e.ask(ctx, plan{hold: time.Second}).waited {
			return skipped(c.name, "message_timeout is too short for a second try")
		}
		return c.bad("a filter that was away is not asked again; the client saw %v", p.seen)
	}
	return good(c.name, "a filter that was away is asked again")
}

// failures are answers that some Envoys and meshes send a request again for.
var failures = []plan{
	{hangUp: true},
	{status: http.StatusServiceUnavailable}, {status: http.StatusInternalServerError}, {status: http.StatusBadGateway},
	{status: http.StatusGatewayTimeout}, {status: http.StatusConflict}, {status: http.StatusTooManyRequests},
}

func lookRetries(ctx context.Context, e *examination, c check) Finding {
	sent := make([]string, len(failures))
	var all sync.WaitGroup
	for i, f := range failures {
		all.Go(func() {
			if n := e.ask(ctx, f).reached(); n > 1 {
				sent[i] = fmt.Sprintf("%s was sent %d times", f.failure(), n)
			}
		})
	}
	all.Wait()
	if found := slices.DeleteFunc(sent, func(s string) bool { return s == "" }); len(found) > 0 {
		return c.bad("a create that ended with %s", strings.Join(found, ", one with "))
	}
	if !e.SafeRetries {
		return good(c.name, `a create that was sent is not sent again; retries = "safe" in the envoy block would say so`)
	}
	return good(c.name, "a create that was sent is not sent again")
}

func (p plan) failure() string {
	if p.hangUp {
		return "a closed connection"
	}
	return fmt.Sprint(p.status)
}

func lookClientRetries(ctx context.Context, e *examination, c check) Finding {
	p := e.ask(ctx, plan{status: http.StatusServiceUnavailable, headers: map[string]string{
		"x-envoy-retry-on": "5xx", "x-envoy-max-retries": "2",
		"x-forwarded-for": "10.0.0.1", // Envoy heeds what comes from inside
	}})
	if unasked := e.ask(ctx, plan{status: http.StatusServiceUnavailable}); unasked.reached() > 1 {
		return skipped(c.name, "the route retries without being asked")
	}
	if n := p.reached(); n > 1 {
		return c.bad("x-envoy-retry-on of the client made Envoy send a create %d times", n)
	}
	return good(c.name, "are not heeded")
}

func lookAnswer(ctx context.Context, e *examination, c check) Finding {
	p := e.ask(ctx, plan{answer: true})
	if p.seen.status != 299 || p.seen.header.Get(setHeader) != p.mark || p.reached() > 0 {
		return c.bad("the filter answered 299, the client saw %v", p.seen)
	}
	return good(c.name, "reach the client, and nothing reaches the backend")
}

func lookRewrite(ctx context.Context, e *examination, c check) Finding {
	p := e.ask(ctx, plan{rewrite: true})
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case len(p.attempts) == 0:
		return c.bad("a changed request did not reach the backend: the client saw %v", p.seen)
	case p.attempts[0].header.Get(setHeader) != p.mark:
		return c.bad("a header that the filter set did not reach the backend")
	case string(p.attempts[0].body) != replacedBody:
		return c.bad("a body that the filter replaced did not reach the backend")
	}
	return good(c.name, "reach the backend")
}

func lookFailureMode(ctx context.Context, e *examination, c check) Finding {
	p := e.ask(ctx, plan{fail: true})
	passed := p.reached() > 0
	switch {
	case passed && e.FailClosed:
		return c.bad(`open: the create passed; failure_mode = "closed" is believed`)
	case passed:
		return good(c.name, "open: creates pass unguarded while the filter is dead")
	case !e.FailClosed:
		return c.bad(`closed: the client saw %v; failure_mode = "open" is believed`, p.seen)
	case p.seen.status != http.StatusServiceUnavailable:
		return c.bad("closed, with %v, which many clients do not try again", p.seen)
	}
	return good(c.name, "closed: the client sees 503")
}
