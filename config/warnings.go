package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// warn tells what is legal and dangerous in a configuration without mistakes:
// where, why, and what to do.
func (l *loader) warn() {
	for i, r := range l.read {
		if r.rule.Action != "off" {
			l.warnOfIdentity(r)
			l.warnOfFields(r)
			l.warnOfTimes(r)
			l.warnOfClasses(r)
			l.warnOfDowngrade(r)
			l.warnOfMerge(r)
		}
		for _, earlier := range l.read[:i] {
			if l.warnOfPair(earlier, r) {
				break
			}
		}
	}
	l.warnOfUnproven()
	l.warnOfWait()
	l.warnOfPlaces()
	l.warnOfUnconnected()
}

// caution adds a warning where the setting stands in the rule, or at the rule.
func (l *loader) caution(r readRule, setting, summary, detail string) {
	at := r.from.blocks[0].at
	if v, own := r.own(setting); own {
		at = v.at
	}
	l.diags = append(l.diags, warning(at, summary, detail))
}

func (l *loader) warnOfIdentity(r readRule) {
	if len(r.rule.identity) == 0 {
		return
	}
	if len(r.rule.identity) == 1 && r.rule.scope == nil {
		l.caution(r, "identity", "identity of one field",
			fmt.Sprintf("All faults with the same %s share one ticket. Add what tells two faults of it apart, such as the kind of fault; where the field names one fault by itself, all is well: say so by scope = host.", r.rule.identity[0].name))
	}
	for i := range r.rule.identity {
		f := &r.rule.identity[i]
		if !f.optional && f.value.calls["optional"] {
			l.diags = append(l.diags, warning(f.value.at, "optional() has no effect inside an expression",
				fmt.Sprintf("The field %s is required. Write it around the whole: %s = optional(...).", f.name, f.name)))
		}
	}
}

func (l *loader) warnOfTimes(r readRule) {
	p := r.rule.policy
	if v, own := r.own("max_age"); own && v.length == 0 && !r.rule.Calls().Read && !r.rule.RetryMode {
		l.caution(r, "max_age", "max_age without end where tickets cannot be read",
			"A ticket that somebody closes by hand swallows every later fault of its key, for ever. Set max_age to the longest time that a fault may stay open, such as \"24h\".")
	}
	if v, own := r.own("verify_every"); own && v.length > 0 && !r.rule.Calls().Read {
		l.caution(r, "verify_every", "verify_every has no effect",
			fmt.Sprintf("The preset %q cannot read a ticket. That one is closed is not noticed; only max_age bounds how long it swallows faults.", r.rule.Preset))
	}
	if _, own := r.own("ttl"); own && !r.rule.RetryMode && p.MaxAge > 0 {
		for _, class := range classes(r.rule) {
			if ttl := r.rule.policies[class].TTL; ttl > p.MaxAge {
				l.caution(r, "ttl", fmt.Sprintf("ttl of class %s is longer than max_age", class),
					fmt.Sprintf("No open fault lives longer than max_age: %s becomes %s. Raise max_age, or lower ttl.", short(ttl), short(p.MaxAge)))
				break
			}
		}
	}
	l.warnOfRemember(r)
	if v, own := r.own("settle"); own && v.length < p.Settle {
		l.caution(r, "settle", "settle is shorter than the preset allows",
			fmt.Sprintf("%s holds: so long a create may still land at this backend.", short(p.Settle)))
	}
	if v, own := r.own("window"); own && r.rule.RetryMode && v.length > longWindow {
		l.caution(r, "window", "a long window without identity",
			fmt.Sprintf("The same body after %s may be a new fault, and would be answered with the old ticket. Name the fault by an identity, or keep window below %s.", short(longWindow), short(longWindow)))
	}
}

// longWindow is after which the same body is more likely a new fault than a
// retry.
const longWindow = time.Hour

// warnOfRemember: a record never goes before what it is there for.
func (l *loader) warnOfRemember(r readRule) {
	v, own := r.own("remember")
	if !own {
		return
	}
	if held := r.rule.policy.Remember; v.length < held {
		l.caution(r, "remember", "remember is shorter than what has to be remembered",
			fmt.Sprintf("%s holds: the longest of window, reopen_within and the backend's own memory.", short(held)))
		return
	}
	if r.rule.RetryMode {
		return
	}
	for _, class := range classes(r.rule) {
		if ttl := r.rule.policies[class].TTL; ttl > v.length {
			l.caution(r, "remember", "remember is shorter than ttl",
				fmt.Sprintf("A closed fault is forgotten after %s, before an open one of class %s expires (%s): a late answer or close of it then finds no record. Raise it to %s or more.", short(v.length), class, short(ttl), short(ttl)))
			return
		}
	}
}

func classes(r *Rule) []string {
	var all []string
	for class := range r.policies {
		all = append(all, class)
	}
	slices.Sort(all)
	return all
}

// warnOfClasses: class and the map of ttl are of use together.
func (l *loader) warnOfClasses(r readRule) {
	ttl, ownTTL := r.own("ttl")
	_, ownClass := r.own("class")
	_, isMap := ttl.expr.(*hclsyntax.ObjectConsExpr)
	if r.rule.RetryMode && r.rule.key == nil {
		return
	}
	named := slices.DeleteFunc(classes(r.rule), func(c string) bool { return c == DefaultClass || c == clientKeyName })
	switch {
	case ownTTL && isMap && len(named) > 0 && r.rule.class == nil && !r.from.has("class"):
		l.caution(r, "ttl", "ttl has classes, and the rule no class",
			fmt.Sprintf("Every fault has the class default. Set class to what tells %s apart, such as class = body.tier.", listed(named)))
	case ownClass && r.rule.class != nil && len(named) == 0:
		l.caution(r, "class", "class has no effect", `No ttl differs by class: write ttl = { default = "1h", NAME = "10m" }.`)
	}
}

func (l *loader) warnOfDowngrade(r readRule) {
	if r.rule.RetryMode {
		return
	}
	if v, own := r.own("downgrade"); own && v.text == "ignore" && (r.rule.severity == nil || !r.rule.severity.calls["severity"] || len(r.rule.policy.Severities) == 0) {
		l.caution(r, "downgrade", "downgrade has no effect",
			"No severity is known to be less than another. Write fingerprint = { severity = severity(body...) }, and a severity map with the worst first.")
	}
}

// warnOfPair: two rules for one backend that get in each other's way. It
// reports whether they do.
func (l *loader) warnOfPair(earlier, later readRule) bool {
	a, b := earlier.rule, later.rule
	if a.Backend != b.Backend || a.Action == "off" || b.Action == "off" {
		return false
	}
	if l.covers(earlier, later) {
		l.caution(later, "match", fmt.Sprintf("rule %q never matches", b.Name),
			fmt.Sprintf("Rules are asked in their order, and the rule %q takes every request that this one could. Put the narrower rule first, or narrow that one by match.", a.Name))
		return true
	}
	if len(a.identity) > 0 && l.sameIdentity(earlier, later) {
		l.caution(later, "identity", "two rules with one identity",
			fmt.Sprintf("The rule %q has the same identity on the same backend, and records are kept apart by rule: a fault that both see gets two tickets. Make one rule of them (match takes several methods and a pattern of paths), or name in each what only it sees.", a.Name))
		return true
	}
	return false
}

// covers reports whether every request that matches b matches a. It compares
// what is written: two ways to write one thing are not seen.
func (l *loader) covers(a, b readRule) bool {
	m, n := a.rule.match, b.rule.match
	for _, method := range n.methods {
		if !slices.Contains(m.methods, method) {
			return false
		}
	}
	samePath := m.path == nil || n.path != nil && m.path.String() == n.path.String()
	sameWhen := m.when == nil || n.when != nil && l.textOf(m.when) == l.textOf(n.when)
	return samePath && sameWhen && includes(n.query, m.query) && includes(n.headers, m.headers)
}

// includes reports whether each pattern of part stands in all.
func includes(all, part []fieldPattern) bool {
	for _, p := range part {
		if !slices.ContainsFunc(all, func(q fieldPattern) bool { return q.name == p.name && q.value.String() == p.value.String() }) {
			return false
		}
	}
	return true
}

func (l *loader) sameIdentity(a, b readRule) bool {
	if len(a.rule.identity) != len(b.rule.identity) || l.textOf(a.rule.scope) != l.textOf(b.rule.scope) {
		return false
	}
	for _, f := range a.rule.identity {
		same := func(g identityField) bool {
			return f.name == g.name && l.textOf(f.value) == l.textOf(g.value)
		}
		if !slices.ContainsFunc(b.rule.identity, same) {
			return false
		}
	}
	return true
}

// textOf is an expression as it is written, without blanks.
func (l *loader) textOf(e *expression) string {
	if e == nil {
		return ""
	}
	text := l.files[e.at.Filename]
	from, to := min(e.at.Start.Byte, len(text)), min(e.at.End.Byte, len(text))
	return strings.Join(strings.Fields(string(text[from:to])), "")
}

// warnOfWait: the proxy does not let a request wait for longer than it itself
// waits for the filter.
func (l *loader) warnOfWait() {
	flight, proxy := l.only("in_flight"), l.config.Envoy
	most := max(proxy.MaxMessageTimeout, proxy.MessageTimeout)
	if !flight.has("wait") || l.config.InFlight.Wait < most {
		return
	}
	l.diags = append(l.diags, warning(flight.at("wait"), "wait is not shorter than max_message_timeout",
		fmt.Sprintf("The proxy waits for the filter for %s at most, and a duplicate then gets %d. Raise max_message_timeout in the block envoy, or lower wait.", short(most), l.config.InFlight.Busy)))
}
