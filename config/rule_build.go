package config

import (
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"oneticket/dedup"
)

func (l *loader) buildRules() {
	for _, b := range l.rules {
		backend := l.ruleBackend(b)
		if backend == nil {
			continue
		}
		l.used[backend.name] = true
		if rule := l.buildRule(b, backend, l.rulePreset(b, backend)); !b.twice {
			l.config.Rules = append(l.config.Rules, rule)
		}
	}
	for i := range l.backends {
		b := &l.backends[i]
		if l.used[b.name] || b.preset == nil {
			continue
		}
		own := ruleBlock{b.name, false, values{name: fmt.Sprintf("rule %q", b.name), at: b.at, set: map[string]value{}}}
		rule := l.buildRule(own, b, b.preset)
		rule.Generated = true
		l.config.Rules = append(l.config.Rules, rule)
	}
	l.checkGeneratedNames()
}

// checkGeneratedNames: records are kept apart by rule, so a name is one rule's.
func (l *loader) checkGeneratedNames() {
	seen := map[string]bool{}
	for _, r := range l.config.Rules {
		if seen[r.Name] {
			l.fail(l.backendBlock(r.Backend.Name).at, fmt.Sprintf("backend %q needs a rule of its own", r.Name),
				fmt.Sprintf("The rule %q is another backend's, so there can be none of that name for this one.", r.Name))
		}
		seen[r.Name] = true
	}
}

func (l *loader) backendBlock(name string) *backendBlock {
	for i := range l.backends {
		if l.backends[i].name == name {
			return &l.backends[i]
		}
	}
	return nil
}

func (l *loader) ruleBackend(b ruleBlock) *backendBlock {
	v, given := b.set["backend"]
	if !given {
		return nil // reported as missing already
	}
	if found := l.backendBlock(v.text); found != nil {
		return found
	}
	if l.torn {
		return nil // it may stand where the syntax is broken
	}
	var names []string
	for i := range l.backends {
		names = append(names, l.backends[i].name)
	}
	l.fail(v.at, fmt.Sprintf("unknown backend %q", v.text), known("backend", names)+nearest(v.text, names))
	return nil
}

func (l *loader) rulePreset(b ruleBlock, backend *backendBlock) *preset {
	if v, given := b.set["preset"]; given {
		return l.preset(v.text, v.at)
	}
	return backend.preset
}

func (l *loader) buildRule(b ruleBlock, backend *backendBlock, p *preset) *Rule {
	from := layers{block: "rule", blocks: []values{b.values}}
	r := &Rule{Name: b.name, Backend: backend.built, lastBase: new(atomic.Pointer[string])}
	if p == nil {
		return r // reported already
	}
	from.blocks = append(from.blocks, p.values)
	r.Preset = p.name
	c := &compiler{roots: requestRoots, getenv: l.getenv, diags: &l.diags, severities: l.severities(from)}
	r.match = l.match(from, c)
	l.readIdentity(r, from, c)
	l.readFingerprint(r, from, c)
	r.scope, r.class, r.witness = l.expression(from, "scope", c), l.expression(from, "class", c), l.expression(from, "witness", c)
	r.Each = l.each(from)
	l.checkEach(r, from)
	r.answer = l.answer(from, &compiler{roots: answerRoots, getenv: l.getenv, diags: &l.diags})
	l.readToken(r, from)
	r.calls, r.resolves = l.outsideCalls(from, c), l.resolves(from, c)
	l.readCredential(r, from, c)
	r.rejects = l.expression(from, "rejects_field", c.seeing(rejectsRoots))
	l.fillRule(r, from)
	l.buildPolicies(r, from)
	l.checkRule(r, from)
	r.collectWants()
	return r
}

func (l *loader) fillRule(r *Rule, from layers) {
	c := l.config
	r.Action, r.RejectMissing = from.text("action"), from.text("on_missing") == "reject"
	r.OnUpdate, r.OnUpdateFailed = from.text("on_update"), from.text("on_update_failed")
	r.OnCleared, r.OnSuspect, r.Merge = from.text("on_cleared"), from.text("on_suspect"), from.text("merge")
	rate, _ := from.get("update_rate")
	r.UpdateRate, r.HealWithin = rate.rate, from.length("heal_within")
	r.ReplayHeaders, r.DropHeaders = lowered(from.list("replay_headers")), lowered(from.list("drop_headers"))
	r.Wait, r.MaxWaiters, r.BusyStatus = c.InFlight.Wait, c.InFlight.MaxWaiters, c.InFlight.Busy
	r.MaxBody, r.MaxAnswer = c.Limits.MaxBody, c.Limits.MaxResponse
	if r.Resend = int(from.number("resend")); r.RetryMode && !from.has("resend") {
		r.Resend = 0
	}
}

// expression compiles a setting; nil when nobody sets it, or sets it to null.
func (l *loader) expression(from layers, name string, c *compiler) *expression {
	v, set := from.get(name)
	if !set || isNullWord(v.expr) {
		return nil
	}
	return c.compile(v.expr)
}

func (l *loader) severities(from layers) *severityMap {
	v, set := from.get("severity")
	if !set || isNullWord(v.expr) {
		return nil
	}
	m, diags := newSeverityMap(v.expr, l.constants)
	l.add(diags)
	return m
}

var validField = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func (l *loader) readIdentity(r *Rule, from layers, c *compiler) {
	hasIdentity := from.has("identity")
	r.key = l.expression(from, "key", c)
	if hasIdentity && r.key != nil {
		l.fail(from.at("key"), "identity and key", "A rule has one of them: identity says which fault, key is a key function.")
	}
	if !hasIdentity {
		r.RetryMode = true
		return
	}
	s := shape{l: l, setting: "identity", members: map[string]hclsyntax.Expression{}}
	v, _ := from.get("identity")
	if _, ok := v.expr.(*hclsyntax.ObjectConsExpr); !ok {
		l.fail(v.at, "identity is an object", "It names the fields that say which fault: identity = { host = body.host }.")
		return
	}
	s.overlay(v.expr, nil)
	required := false
	for _, name := range s.order {
		if !validField.MatchString(name) {
			l.fail(s.members[name].Range(), "this is no name of a field", fmt.Sprintf("Found %q; allowed are letters, digits, \"_\" and \"-\".", name))
		}
		field := identityField{name: name, optional: isCallOf(s.members[name], "optional"), value: c.compile(s.members[name])}
		required = required || !field.optional
		r.identity = append(r.identity, field)
	}
	if !required {
		l.fail(v.at, "identity has no field that is required", "Requests that lack every field would all be one fault. At least one field is not optional(...).")
	}
}

func isCallOf(e hclsyntax.Expression, name string) bool {
	call, ok := e.(*hclsyntax.FunctionCallExpr)
	return ok && call.Name == name
}

// readFingerprint: in retry mode a preset's fingerprint is not used; an equal
// request has an equal severity.
func (l *loader) readFingerprint(r *Rule, from layers, c *compiler) {
	s := l.shape(from, "fingerprint", "severity", "cleared")
	severity, cleared := s.expression("severity", c), s.expression("cleared", c)
	if r.key != nil || !r.RetryMode {
		r.severity, r.cleared = severity, cleared
		return
	}
	for name, why := range map[string]string{"fingerprint": "nothing is updated", "ttl": "a key lives for the window"} {
		if v, own := from.blocks[0].set[name]; own && r.key == nil {
			l.diags = append(l.diags, warning(v.at, name+" without identity", "A rule without an identity works in retry mode, where "+why+"."))
		}
	}
}

func (l *loader) readToken(r *Rule, from layers) {
	s := l.shape(from, "token", tokenMembers...)
	r.TokenHeader = "idempotency-key"
	if e, given := s.members["header"]; given {
		r.TokenHeader = strings.ToLower(s.text("header"))
		if strings.ContainsAny(r.TokenHeader, " :\r\n\t") {
			l.fail(e.Range(), "this is no name of a header", fmt.Sprintf("Found %q.", r.TokenHeader))
		}
	}
	l.readTokenForm(r, s)
	if v, ok := s.scalar("max", Setting{Kind: Count, Least: "16", Most: "65536"}); ok {
		r.TokenMax = int(v.number)
	}
	if v, ok := s.scalar("volatile", Setting{Kind: Flag}); ok {
		r.TokenVolatile = v.flag
	}
}

// collectWants gathers the places of bodies that the rule's expressions name.
func (r *Rule) collectWants() {
	request := []*expression{r.match.when, r.match.clears, r.scope, r.key, r.severity, r.cleared, r.class, r.witness}
	for _, field := range r.identity {
		request = append(request, field.value)
	}
	request = append(append(request, r.principal), r.calls.expressions()...)
	paths := append(bodyPaths(request), r.credential.paths()...)
	for _, field := range [][]string{r.TokenField, r.TokenList} {
		if field != nil {
			paths = append(append(paths, stepsOf(field)), r.Each.inElements(stepsOf(field))...)
		}
	}
	paths = append(paths, r.Each.elementPaths(request)...)
	r.want = dedup.NewWant(paths...)
	a := &r.answer
	answers := []*expression{a.when, a.id, a.location, a.refused, a.remembered, r.rejects}
	r.wantAnswer = dedup.NewWant(append(bodyPaths(answers), r.Each.itemPaths(answers)...)...)
}

// bodyPaths are the places of a body that the expressions name; each.value of a
// request that is one create is its body.
func bodyPaths(all []*expression) [][]dedup.Step {
	return append(rootPaths(all, "body"), rootPaths(all, eachName)...)
}

func lowered(names []string) []string {
	var out []string
	for _, name := range names {
		out = append(out, strings.ToLower(name))
	}
	return out
}
