package config

import (
	"strconv"

	"oneticket/dedup"
)

// A count is how the backend is asked how many open tickets carry one of our
// keys.
type count struct {
	call  *call
	when  *expression // over the answer; nil = every 2xx
	total *expression // over the answer
}

// countRoots: there is no request at hand.
var countRoots = []string{"host", "base"}

func (l *loader) count(from layers, c *compiler) *count {
	if !hasCall(from, "count") {
		return nil
	}
	s := l.shape(from, "count", append([]string{"total", "when"}, callMembers...)...)
	over := c.seeing(answerRoots)
	out := &count{call: l.call(s, c.seeing(countRoots), "GET", nil), when: s.expression("when", over)}
	out.call.whole = true
	out.total = s.required("total", over, "It is the number in the answer: total = body.count.")
	return out
}

// CountCall is the request that asks the backend how many open tickets carry
// one of our keys. It is false where the rule has none.
func (r *Rule) CountCall() (dedup.Call, bool) {
	if r.calls.count == nil {
		return dedup.Call{}, false
	}
	return r.calls.count.call.make(r.callInput(nil, map[string]dedup.Value{}))
}

// Counted reads the answer to CountCall; false where it does not say.
func (r *Rule) Counted(a *dedup.Answer) (int64, bool) {
	k := r.calls.count
	if k == nil || a == nil || a.Status < 200 || a.Status > 299 {
		return 0, false
	}
	in := &input{answer: a}
	if k.when != nil && !k.when.truth(in) {
		return 0, false
	}
	text, _ := k.total.text(in)
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0
}
