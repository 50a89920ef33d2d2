package config

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"oneticket/dedup"
)

// A readRule is a rule with where its settings came from.
type readRule struct {
	rule *Rule
	from layers // the rule's own block, then the preset's
}

// checkRule finds what a rule cannot be, when all of its settings are right,
// and keeps it for the warnings.
func (l *loader) checkRule(r *Rule, from layers) {
	l.read = append(l.read, readRule{r, from})
	l.checkNullFields(from)
	if r.answer.namesNative() && r.policy.Memory != dedup.Folds {
		l.fail(from.at("ticket"), "ticket.id names the token of a backend that does not fold",
			`Only memory = { kind = "folds" } gives it the same token each time; elsewhere the answer says which ticket it is.`)
	}
	if len(r.identity) > 0 && !l.diags.HasErrors() && !readsRequest(r.identity) {
		l.fail(from.at("identity"), "identity reads nothing of the request",
			"All requests would be one fault, and get one ticket. At least one field that is not optional(...) names body, headers, path or query.")
	}
	if r.key != nil && !callsKeyFunction(r.key) {
		l.fail(from.at("key"), "key calls no key function",
			"It is one of request_key(), client_key(value, namespace), webhook_key(type, id) and job_key(type, data), or a choice of them; fields that say which fault are an identity.")
	}
}

// checkNullFields: a field that is null would fall out of the identity, and
// make it broader than it looks.
func (l *loader) checkNullFields(from layers) {
	v, _ := from.get("identity")
	object, ok := v.expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return
	}
	for _, item := range object.Items {
		if isNullWord(item.ValueExpr) {
			l.fail(item.ValueExpr.Range(), "a field of identity that is always missing", "Found null. Take the field out, or name what it is read from.")
		}
	}
}

// readsRequest reports whether some required field depends on the request.
func readsRequest(identity []identityField) bool {
	for i := range identity {
		f := &identity[i]
		if f.value == nil { // reported already
			return true
		}
		if !f.optional && (len(f.value.reads) > 0 || callsKeyFunction(f.value)) {
			return true
		}
	}
	return false
}

func callsKeyFunction(e *expression) bool {
	for name := range keyFunctions() {
		if e.calls[name] {
			return true
		}
	}
	return false
}

// own is the value that the rule's own block has.
func (r readRule) own(name string) (value, bool) {
	v, ok := r.from.blocks[0].set[name]
	return v, ok
}
