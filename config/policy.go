package config

import (
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"oneticket/dedup"
)

// clientKeyLife is how long a client's own key lives.
const clientKeyLife = 24 * time.Hour

// buildPolicies makes the policy of each class that the rule's ttl names.
func (l *loader) buildPolicies(r *Rule, from layers) {
	ttl := l.ttl(from)
	base := l.basePolicy(r, from)
	forClass := func(life time.Duration) *dedup.Policy {
		p := base
		p.TTL = life
		if r.RetryMode {
			// A window is counted from the create: a client that repeats
			// itself for ever must not keep it open.
			p.MaxAge = life
			p.Remember = max(p.Remember, life)
		}
		if p.NoTicket {
			// Nobody can see whether there is a ticket, so not for long.
			p.TTL = min(p.TTL, from.length("window"))
			p.MaxAge = p.TTL
		}
		return &p
	}
	life := ttl[DefaultClass]
	if r.RetryMode && !(r.key != nil && from.blocks[0].has("ttl")) {
		life = from.length("window")
	}
	r.policy = forClass(life)
	r.policies = map[string]*dedup.Policy{DefaultClass: r.policy}
	for class, life := range ttl {
		if class != DefaultClass {
			r.policies[class] = forClass(life)
		}
	}
	if r.key != nil && r.key.calls[clientKeyName] && r.policies[clientKeyName] == nil {
		r.policies[clientKeyName] = forClass(clientKeyLife)
	}
}

func (v values) has(name string) bool { _, ok := v.set[name]; return ok }

func (l *loader) basePolicy(r *Rule, from layers) dedup.Policy {
	p := dedup.Policy{
		MaxAge: from.length("max_age"), ReopenWithin: from.length("reopen_within"),
		Settle: l.settle(from), Lease: l.config.InFlight.Lease, NoTicket: r.answer.noTicket,
		UpdateRate: dedup.UpdateRate(r.UpdateRate), OnUpdateSuppress: r.OnUpdate == "suppress",
		SuspectForward:  from.text("on_suspect") == "forward",
		DowngradeIgnore: from.text("downgrade") == "ignore", Observe: r.Action == "observe",
	}
	if p.Lease == 0 {
		p.Lease = r.Backend.Timeout + 10*time.Second
	}
	l.readMemory(from, &p)
	// A record outlives whatever could still bring an old answer back.
	p.Remember = max(from.length("remember"), from.length("window"), p.ReopenWithin, p.MemoryFor)
	if v, set := from.get("on_refire"); set {
		p.OnRefireForward = v.text == "forward"
	} else {
		p.OnRefireForward = p.Memory == dedup.Folds
	}
	// The default holds where the preset can read a ticket.
	if from.has("verify_every") {
		p.VerifyEvery = from.length("verify_every")
	}
	p.Severities = l.ranks(from)
	return p
}

// settle is never less than what the preset knows of the backend's index.
func (l *loader) settle(from layers) time.Duration {
	own, preset := defaults["rule.settle"], from.blocks[1].set["settle"]
	if v, set := from.blocks[0].set["settle"]; set {
		own = v
	}
	return max(own.length, preset.length)
}

func (l *loader) ranks(from layers) map[string]int {
	v, set := from.get("severity")
	if !set || isNullWord(v.expr) {
		return nil
	}
	m, _ := newSeverityMap(v.expr, l.constants) // its mistakes were reported with the rule
	if m == nil {
		return nil
	}
	return m.ranks
}

// memoryKinds are what a backend may do with a token that it has seen.
var memoryKinds = []string{"folds", "remembers", "none"}

func (l *loader) readMemory(from layers, p *dedup.Policy) {
	s := l.shape(from, "memory", "kind", "for")
	kind, ok := s.scalar("kind", Setting{Kind: Choice, Choices: memoryKinds})
	if ok && kind.text != "none" {
		p.Memory = dedup.Memory(kind.text)
	}
	if v, ok := s.scalar("for", Setting{Kind: Duration, Most: "3650d"}); ok {
		p.MemoryFor = v.length
	}
}

// ttl reads ttl = "1h", or { default = "1h", core = "6h" }, by class.
func (l *loader) ttl(from layers) map[string]time.Duration {
	v, set := from.get("ttl")
	out := map[string]time.Duration{DefaultClass: defaults["rule.ttl"].length}
	if !set {
		return out
	}
	as := *v.setting
	as.Kind = Duration
	if _, isMap := v.expr.(*hclsyntax.ObjectConsExpr); !isMap {
		if read, ok := l.readValue(&as, v.expr); ok {
			out[DefaultClass] = read.length
		}
		return out
	}
	s := shape{l: l, setting: "ttl", members: map[string]hclsyntax.Expression{}}
	s.overlay(v.expr, nil)
	for _, class := range slices.Compact(slices.Sorted(slices.Values(s.order))) {
		if read, ok := s.scalar(class, as); ok {
			out[class] = read.length
		}
	}
	return out
}
