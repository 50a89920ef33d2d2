package extproc

import (
	"slices"
	"strings"
	"sync/atomic"

	"oneticket/dedup"
)

// A FieldSwitch is on until a backend has refused a create because of our token
// in a field of its own. From then on the field is left alone, for as long as
// the configuration is in force: what is made so cannot be looked up.
type FieldSwitch struct{ off atomic.Bool }

// Off reports whether the field is left alone.
func (f *FieldSwitch) Off() bool { return f != nil && f.off.Load() }

// FieldMetrics is what a Metrics may have beside: a create was refused because
// of our token in the backend's own field.
type FieldMetrics interface{ FieldRejected(backend string) }

// rejects reports whether the answer is a refusal because of the field; refused
// is what it says of one create of several.
func (r *Rule) rejects(answer dedup.Answer, refused []byte) bool {
	if r.RejectsField == nil || r.Field == nil {
		return false
	}
	if refused != nil {
		item := dedup.Value{}
		if b, err := decodeJSON(refused); err == nil {
			item, _ = b.Value(nil) // what cannot be read names no field
		}
		answer.Item = &item
	}
	return r.RejectsField(&answer)
}

// without is the rule that leaves the field alone.
func (r *Rule) without() *Rule {
	one := *r
	one.Field = &FieldSwitch{}
	one.Field.off.Store(true)
	return &one
}

// blamed reports whether the field was to blame for a refusal, by the outcome of
// the same create without it: one that is refused for the same reason has named
// something of its client's own.
func (r *Rule) blamed(o dedup.Outcome, answer dedup.Answer, refused []byte) bool {
	return o.Kind != dedup.OutcomeRefused || !r.rejects(answer, refused)
}

// switchOff leaves the field alone from now on.
func (s *Server) switchOff(rule *Rule) {
	if m, ok := s.o.Metrics.(FieldMetrics); ok {
		m.FieldRejected(rule.Backend)
	}
	if rule.Field != nil && rule.Field.off.CompareAndSwap(false, true) {
		s.o.Log.Warn("the backend refuses our token in its own field: creates go without it from now on, and a lost answer cannot be looked up",
			"backend", rule.Backend, "rule", rule.Name, "field", rule.FieldName())
	}
}

// FieldName is the field of the backend that carries the token, for a person.
func (r *Rule) FieldName() string {
	return strings.Join(append(slices.Clone(r.TokenField), r.TokenList...), ".")
}
