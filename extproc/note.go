package extproc

import (
	"strings"
	"unicode"

	"oneticket/dedup"
)

// The headers by which a client sees what was done with its request.
const (
	decisionHeader = "oneticket-decision"
	replayedHeader = "idempotent-replayed"
)

// Reasons of a pass that have no other word.
const (
	noMatch  = "no_match" // no rule is for this request
	ruleOff  = "off"
	ownCall  = "own_call" // an outside call of ours
	resolves = "resolve"  // it may close a ticket, or shows one
	replayed = "replayed" // a dead letter that must not go out any more
	tooLarge = dedup.WhyTooLarge
)

// rejectKind is the decision of a rule with on_missing = "reject".
const rejectKind dedup.Kind = "reject"

// A note is what every answer to the proxy carries as metadata, and every
// answer to a client of an enforced rule as a header.
type note struct {
	kind      dedup.Kind
	reason    string
	key       dedup.Key
	rule      string
	undecided bool   // the body is still to come
	exchange  string // of a create: see followed; no header shows it
}

// header is the value of Oneticket-Decision.
func (n note) header() string {
	var b strings.Builder
	b.WriteString(string(n.kind))
	if n.reason != "" {
		b.WriteString("; reason=" + n.reason)
	}
	if n.key != "" {
		b.WriteString(`; key="` + quotable(string(n.key)) + `"`)
	}
	return b.String()
}

// shownKey is how much of a key the header shows; ours are shorter, but a rule
// may make keys of its own.
const shownKey = 256

// quotable is the key without what a header cannot carry: the proxy refuses
// the whole answer for one such character.
func quotable(key string) string {
	key = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, key[:min(len(key), shownKey)])
	return escaper.Replace(key)
}

var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func (n note) field() dedup.HeaderField {
	return dedup.HeaderField{Name: decisionHeader, Value: n.header()}
}

// details is what the proxy's access log shows of an answer of ours.
func (n note) details() string {
	if n.reason != "" {
		return "oneticket_" + n.reason
	}
	return "oneticket_" + string(n.kind)
}
