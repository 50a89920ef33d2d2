package extproc

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"oneticket/dedup"
)

// A phase is what one message of the proxy is about.
type phase uint8

const (
	requestHeaders phase = iota
	requestBody
	requestTrailers
	responseHeaders
	responseBody
	responseTrailers
)

// An event is one message of the proxy as a value.
type event struct {
	phase      phase
	head       head   // of the two header phases
	body       []byte // of the two body phases
	end        bool   // nothing of this direction follows
	attributes attributes
	mode       mode // how bodies are sent; in the first event only
}

// A reply is what one event is answered with.
type reply struct {
	note    note
	rest    rest
	set     []dedup.HeaderField // in place of headers of the same name
	remove  []string            // names of headers
	body    []byte              // in place of the body, if replace is set
	replace bool
	answer  *dedup.Response // given to the client; the exchange ends with it
	echo    *event          // the chunk that goes on, in the one mode that wants it back
}

// rest is what the proxy shall still send of an exchange; it can be said only
// in answer to the request's headers.
type rest uint8

const (
	restAll     rest = iota // as it is configured
	restHeader              // the header of the answer: it gets one of ours
	restNothing             // the stream ends with this reply
)

// step is how far an exchange has come.
type step uint8

const (
	atStart      step = iota // nothing has come
	atBody                   // the request's body is what counts
	atAnswer                 // the request was let go
	atAnswerBody             // the answer's body is what counts
	atEnd                    // nothing more can be learned
)

// An exchange is one request and its answer. It is used by one goroutine.
type exchange struct {
	server  *Server
	rules   *Rules
	peer    string              // the host of the proxy
	ask     func(time.Duration) // asks the proxy for more time, once a phase
	mode    mode
	step    step
	note    note
	tell    bool // the client of this request sees the decision
	head    head
	request dedup.Request
	rule    *Rule   // that decides
	matched []*Rule // by the header; the body may say that one is not it

	asked     attributes      // of the request
	bearer    *bearer         // who sent it, once somebody asked; see who
	desk      *desk           // asks the backend on its behalf; nil: nobody is asked
	counter   *counter        // the way there
	stay      *stay           // of the proxy, at the message that is being answered
	sending   sending         // the create that was let go
	rejected  bool            // it was refused because of our token in the backend's own field
	wrote     bool            // with our token in the backend's own field
	answering *stay           // of the proxy, at the message that the answer came with
	instead   *dedup.Response // the answer to the same create without that, see bare
	canLookUp bool            // its token can be looked up
	remembers bool            // its answer may be an older one, and is read before it is believed
	following *followUp       // what goes on with that when it has no ticket
	flight    *flight         // led by this one
	landed    int64           // flights.landed, before it was decided
	resolving *resolving      // of a request that is no create
	replaying *replaying      // of a dead letter
	joining   *joining        // of a request that was sent on to see whether its sender may know the ticket
	followed  *followed       // of a create whose outcome the access log may say
	exchange  string          // names this one in the access log
	hold      *dedup.Hold     // of a create that is not settled
	bulk      *bulk           // the creates of a request that holds several
	hasty     bool            // it waits for nobody
	letGo     bool            // the reply that lets it go was handed to the proxy
	answered  head
	ending    attributes
	started   time.Time // when the event came that is being decided
}

// on takes one event and says what it is answered with. An event that does not
// fit goes on as it is: the proxy may leave phases out, or be configured in
// another way than we know.
func (x *exchange) on(ctx context.Context, e event) reply {
	x.started = x.server.o.Now()
	if e.phase == requestHeaders && x.step == atStart && x.replays(&e) {
		return x.replay(e)
	}
	return x.take(ctx, e)
}

func (x *exchange) take(ctx context.Context, e event) reply {
	switch {
	case e.phase == requestHeaders && x.step == atStart:
		return x.onRequest(e)
	case e.phase == requestBody && x.step == atBody && x.resolving != nil:
		return x.onResolveBody(e.body)
	case e.phase == requestBody && x.step == atBody:
		return x.guarded(x.onRequestBody(ctx, e))
	case e.phase == responseHeaders && x.step <= atAnswer:
		return x.onAnswer(ctx, e)
	case e.phase == responseBody && x.step == atAnswerBody:
		return x.onAnswerBody(ctx, e)
	}
	r := reply{note: x.note}
	if x.mode.wantsBack(e.phase) {
		r.echo = &e
	}
	return r
}

// onRequest finds the rules that the header matches.
func (x *exchange) onRequest(e event) reply {
	x.head, x.mode, x.asked = e.head, e.mode, e.attributes
	if x.replaying == nil && x.server.o.Calls.own(&x.head) {
		return x.ownCall()
	}
	x.request = e.head.request(x.rules, e.attributes)
	cluster := e.attributes.text("xds.cluster_name")
	acting := x.match(cluster)
	switch {
	case len(x.matched) == 0:
		if one := x.resolves(); one != nil {
			return x.onResolve(one, e, resolves)
		}
		return x.notOurs()
	case !x.mode.served():
		x.server.degraded.note(x.mode, x.started)
		x.step = atEnd
		if acting == nil {
			return x.off(x.matched[0])
		}
		r := x.pass(acting, dedup.WhyBodyMode)
		x.step = atEnd // whatever follows is not what we would take it for
		return r
	case acting == nil:
		if one := x.resolves(); one != nil {
			return x.onResolve(one, e, ruleOff)
		}
		return x.off(x.matched[0])
	case e.end, x.head.contentLength() == 0:
		return x.passAtHeader(acting, dedup.WhyNoBody)
	case x.head.contentLength() > x.bodyLimit():
		return x.passAtHeader(acting, dedup.WhyTooLarge)
	}
	x.step = atBody
	// Told at once: a client may go before the proxy has read the decision.
	x.exchange = rand.Text()
	x.note = note{kind: dedup.Pass, rule: acting.Name}
	undecided := x.note
	undecided.undecided = true
	return reply{note: undecided}
}

// match collects the rules that the header matches, and returns the first that
// is not off. Where the proxy names the cluster of a backend, the rules of other
// backends are not asked: two backends may be one host.
func (x *exchange) match(cluster string) (acting *Rule) {
	_, known := x.rules.Hosts[cluster]
	for _, r := range x.rules.Rules {
		if known && r.Backend != cluster || !r.Match(&x.request) {
			continue
		}
		x.matched = append(x.matched, r)
		if acting == nil && r.Action != Off {
			acting = r
		}
	}
	return acting
}

func (x *exchange) bodyLimit() (limit int64) {
	for _, r := range x.matched {
		limit = max(limit, r.maxBody())
	}
	return limit
}

// defaultMaxBody is limits.max_body where a rule says nothing.
const defaultMaxBody = 4 << 20

func (r *Rule) maxBody() int64 {
	if r.MaxBody <= 0 {
		return defaultMaxBody
	}
	return r.MaxBody
}

// onRequestBody reads the fault and decides. In the mode that we serve the
// proxy sends the whole body as one event; its end is open only when trailers
// follow.
func (x *exchange) onRequestBody(ctx context.Context, e event) reply {
	if !e.end && !x.mode.said {
		r := x.pass(x.matched[0], dedup.WhyBodyMode)
		x.server.degraded.note(x.mode, x.started)
		return r
	}
	rule, fault, err := x.read(e.body)
	var unkeyed *dedup.Unkeyed
	switch {
	case rule == nil:
		return x.mayResolve(e.body, x.notOurs())
	case rule.Action == Off:
		return x.mayResolve(e.body, x.off(rule))
	case err == nil && x.bulk != nil:
		return x.decideBulk(ctx, rule)
	case err == nil:
		fault.Unfolded = fault.Unfolded || fault.ClientToken == "" && x.head.signed()
		return x.unmatched(x.decide(ctx, rule, fault, e.body), e.body)
	case !errors.As(err, &unkeyed):
		x.server.o.Log.Error("a rule failed on a request, which is sent on untouched", "rule", rule.Name, "error", err)
		return x.pass(rule, dedup.WhyInternal)
	case unkeyed.Field != "" && rule.RejectMissing && rule.Action == Enforce:
		return x.reject(rule, unkeyed)
	default:
		return x.mayResolve(e.body, x.pass(rule, unkeyed.Why))
	}
}

// give answers the client.
func (x *exchange) give(response *dedup.Response) reply {
	x.step = atEnd
	response.Header = append(response.Header, x.note.field())
	return reply{note: x.note, answer: response}
}

// decided notes and counts a decision.
func (x *exchange) decided(rule *Rule, n note) {
	n.rule = rule.Name
	x.rule, x.note = rule, n
	x.tell = rule.Action == Enforce
	x.server.o.Metrics.Decision(rule.Name, n.kind, n.reason, x.server.o.Now().Sub(x.started))
	x.server.logDecision(n, rule.Action)
}
