package config

import (
	"regexp"
	"slices"
	"strings"

	"oneticket/dedup"
)

// A tokenForm is what the token looks like in the backend's own field.
type tokenForm struct {
	prefix  string
	pattern *regexp.Regexp // of what the field takes, and of what can be asked for; nil = everything
	shared  bool           // clients use the field for things of their own, which are no token
}

var tokenMembers = []string{"header", "field", "form", "item", "value", "element", "prefix", "pattern", "max", "shared", "volatile"}

// readTokenForm reads form: "set" makes the token the field's value where the
// client has set none, "append" one more item of its list, "item" the value of
// one object of its list.
func (l *loader) readTokenForm(r *Rule, s shape) {
	form, _ := s.scalar("form", Setting{Kind: Choice, Choices: []string{"set", "append", "item"}})
	switch field := s.text("field"); {
	case field == "":
	case form.text == "append":
		r.TokenList = strings.Split(field, ".")
	case form.text == "item":
		r.TokenList = strings.Split(field, ".")
		r.TokenItem = l.tokenItem(s)
	default:
		r.TokenField = strings.Split(field, ".")
	}
	r.form = tokenForm{prefix: s.text("prefix"), shared: s.flag("shared")}
	if text := s.text("pattern"); text != "" {
		r.form.pattern = l.wholePattern(s.members["pattern"], text, "")
	}
}

// NativeToken is the token as it stands in the backend's own field; false when
// the field cannot hold it, or nobody could ask for it there. It is then not
// written.
func (r *Rule) NativeToken(token string) (string, bool) {
	native := r.form.prefix + token
	switch {
	case token == "", !isPlain(native),
		r.TokenMax > 0 && len(native) > r.TokenMax,
		r.form.pattern != nil && !r.form.pattern.MatchString(native):
		return "", false
	}
	return native, true
}

// isPlain reports whether s is printable ASCII: what a header can carry too, and
// what stays itself beside any other text, where a combining mark would not.
func isPlain(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' })
}

// fieldToken is the token that the client itself has set in the field.
func (r *Rule) fieldToken(req *dedup.Request) (string, bool) {
	if r.TokenField == nil && r.TokenItem == nil || r.form.shared {
		return "", false
	}
	return r.fieldText(req)
}

func (r *Rule) fieldText(req *dedup.Request) (string, bool) {
	if i := r.TokenItem; i != nil {
		found := i.Of(memberAt(eachValue(req), r.TokenList))
		if len(found) != 1 {
			return "", false
		}
		return found[0].Member(i.Value).Text()
	}
	return memberAt(eachValue(req), r.TokenField).Text()
}

// carried reports whether the create can have carried the token where a
// look-up finds it: its body has a place for it, and nothing else stands there.
func (r *Rule) carried(req *dedup.Request, native string) bool {
	field := slices.Concat(r.TokenField, r.TokenList)
	if req == nil || len(field) == 0 {
		return true
	}
	if memberAt(eachValue(req), field[:len(field)-1]).Kind != dedup.ObjectValue {
		return false
	}
	own := memberAt(eachValue(req), field)
	if r.TokenItem != nil {
		return r.carriedByItem(own, native)
	}
	switch _, isText := own.Text(); {
	case own.Kind == dedup.MissingValue, own.Kind == dedup.NullValue:
		return true
	case r.TokenList != nil:
		return own.Kind == dedup.ListValue
	case isText:
		text, _ := own.Text()
		return text == native || r.TokenVolatile
	}
	return own.Kind == dedup.StringValue // a blank, which is set
}

// unfolded reports whether the backend folds by a field in which the create
// cannot carry its token.
func (r *Rule) unfolded(req *dedup.Request, f *dedup.Fault) bool {
	if r.policy == nil || r.policy.Memory != dedup.Folds || r.TokenField == nil && r.TokenList == nil {
		return false
	}
	if _, own := r.fieldToken(req); own && !r.TokenVolatile {
		return false
	}
	native, ok := r.NativeToken(string(f.Ref.Key))
	return !ok || !r.carried(req, native)
}

// RejectsField reports whether the backend refused the create because of the
// token in its own field. The same create without it may be taken; it then
// cannot be looked up.
func (r *Rule) RejectsField(a *dedup.Answer) bool {
	return r.rejects != nil && r.rejects.truth(&input{answer: a})
}
