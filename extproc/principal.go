package extproc

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"oneticket/dedup"
)

// A bearer is who sent a request, as keyed hashes.
type bearer struct {
	local  string       // of the whole credential, with the key of this process: equal for equal ones
	shared dedup.Bearer // with the secret of the store; empty while that is out of reach
}

// principals know who may be given a stored answer.
type principals struct {
	key    callerKey
	secret secret
	ttl    time.Duration
	now    func() time.Time
	seen   accepted
}

func (p *principals) use(o Options) {
	p.key, p.ttl, p.now = newCallerKey(), o.PrincipalTTL, o.Now
	p.secret.own = p.key[:]
	p.secret.keeper, _ = o.Decider.(keeper)
}

// of hashes what the rule finds of the sender in the request. Backends are
// kept apart: what one accepts says nothing of another.
func (p *principals) of(ctx context.Context, r *Rule, req *dedup.Request) bearer {
	parts := r.credential(req)
	b := bearer{local: hashOf(p.key[:], "credential", r.Backend, parts...)}
	if key := p.secret.get(ctx, p.now()); key != nil {
		b.shared = r.bearer(key, req, parts)
	}
	return b
}

func (r *Rule) bearer(key []byte, req *dedup.Request, credential []string) dedup.Bearer {
	return dedup.Bearer{
		Principal:  hashOf(key, "principal", r.Backend, r.principal(req)),
		Credential: hashOf(key, "credential", r.Backend, credential...),
	}
}

// known reports whether the bearer may be given what the record holds: the
// backend has accepted the whole credential of late, and the principal created
// the ticket or could read it.
func (p *principals) known(b bearer, rec *dedup.Record) bool {
	if b.shared == (dedup.Bearer{}) || !rec.Knows(b.shared) {
		return false
	}
	at, refused := p.seen.of(b.local)
	if elsewhere := rec.AcceptedAt(b.shared); elsewhere.After(at) {
		at, refused = elsewhere, false
	}
	return !refused && !at.IsZero() && p.now().Sub(at) < p.ttl
}

// answered notes what an answer of the backend says of the credential: every
// 2xx that it was accepted, a 401 that it is not any more.
func (p *principals) answered(b bearer, status int) {
	switch {
	case status >= 200 && status < 300:
		p.seen.note(b.local, p.now(), false)
	case status == http.StatusUnauthorized:
		p.seen.note(b.local, p.now(), true)
	}
}

func hashOf(key []byte, what, backend string, parts ...string) string {
	text := appendPart(appendPart(make([]byte, 0, 256), what), backend)
	for _, part := range parts {
		text = appendPart(text, part)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// credential is all that makes the sender's credential.
func (r *Rule) credential(req *dedup.Request) []string {
	if r.Credential != nil {
		return r.Credential(req)
	}
	fields := kept(req.Header, r.tellsCredential)
	slices.SortStableFunc(fields, func(a, b dedup.HeaderField) int { return strings.Compare(a.Name, b.Name) })
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = f.Name + ": " + f.Value
	}
	return parts
}

// presents reports whether calls with these credentials present all that makes
// the sender's.
func (r *Rule) presents(req *dedup.Request, as Credentials) bool {
	if _, proxied := req.HeaderValue("proxy-authorization"); r.Presents != nil {
		return !proxied && r.Presents(req)
	}
	presented := dedup.Request{Header: as.fields}
	return slices.Equal(r.credential(req), r.credential(&presented))
}

// principal is the stable part of it: where the rule does not say, the
// Authorization header, else the anonymous one.
func (r *Rule) principal(req *dedup.Request) string {
	if r.Principal != nil {
		return r.Principal(req)
	}
	value, _ := req.HeaderValue("authorization")
	return value
}

// tellsCredential reports whether a header is part of a credential.
func (r *Rule) tellsCredential(name string) bool {
	switch {
	case r.CredentialHeader != nil && r.CredentialHeader(name):
		return true
	case name == "content-type", name == "content-encoding", name == "accept", strings.Contains(name, "idempotency"):
		return false
	default:
		return tellsCaller(name)
	}
}

// who is the sender of this exchange's request, by the rule that decides.
func (x *exchange) who(ctx context.Context) bearer { return x.whoOf(ctx, x.rule) }

func (x *exchange) whoOf(ctx context.Context, rule *Rule) bearer {
	if x.bearer == nil {
		b := x.server.principals.of(ctx, rule, &x.request)
		x.bearer = &b
	}
	return *x.bearer
}

// noteAnswer notes what the answer says of the sender's credential.
func (x *exchange) noteAnswer(ctx context.Context) {
	if x.rule != nil && x.rule.Action == Enforce && !x.ended().local() {
		x.server.principals.answered(x.who(ctx), x.answered.status)
	}
}

// A keeper has the secret that replicas share: the engine.
type keeper interface {
	Secret(context.Context) ([]byte, error)
}

// A secret is the store's, kept for a while: one that is made anew, after a
// store was lost, is noticed.
type secret struct {
	keeper keeper // nil: there is no store, and the key of the process is as good
	own    []byte

	known atomic.Pointer[knownSecret] // read without a lock
	mu    sync.Mutex                  // of who asks
	asked time.Time
}

// A knownSecret is what the store has said.
type knownSecret struct {
	value []byte
	until time.Time // then it is asked again
}

const (
	secretFor    = time.Minute
	secretAgain  = time.Second // after a store that did not answer
	secretWithin = time.Second
)

// get returns nil while the store has never answered. All who ask at first
// wait for one answer, so that requests of one instant have equal hashes.
func (s *secret) get(ctx context.Context, now time.Time) []byte {
	if s.keeper == nil {
		return s.own
	}
	known := s.known.Load()
	switch {
	case known == nil:
		return s.first(ctx, now)
	case !now.Before(known.until) && s.known.CompareAndSwap(known, &knownSecret{known.value, now.Add(secretFor)}):
		go s.renew(context.WithoutCancel(ctx), now)
	}
	return known.value
}

func (s *secret) first(ctx context.Context, now time.Time) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.known.Load(); known != nil {
		return known.value
	}
	if !s.asked.IsZero() && now.Sub(s.asked) < secretAgain {
		return nil
	}
	s.asked = now
	return s.renew(ctx, now)
}

// ask must not be cut short by one client that goes.
func (s *secret) ask(ctx context.Context) []byte {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), secretWithin)
	defer cancel()
	value, err := s.keeper.Secret(ctx)
	if err != nil {
		return nil
	}
	return value
}

// renew asks for it; what was known stays where there is no answer.
func (s *secret) renew(ctx context.Context, now time.Time) []byte {
	value := s.ask(ctx)
	if value != nil {
		s.known.Store(&knownSecret{value, now.Add(secretFor)})
	}
	return value
}
