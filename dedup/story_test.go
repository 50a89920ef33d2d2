package dedup_test

import (
	"fmt"
	"strings"
	"testing"
)

// A story is a schedule that loses or doubles an incident when one rule is
// left out. Told with the shipped functions, every promise holds.
//
// Its steps are words: "q0 arrives, q0 proceeds, q0 taken, q0 settles". Any
// verb that is not an event is the request's own next step. A step that the
// shipped code does not come to (it is busy where the broken code creates) is
// passed over. Nothing is under way after the last one: then time passes, and
// a client that fires once more must get a true success.
type story struct {
	on       string // the ticket system
	onClosed onClosed
	webhook  bool
	expires  bool
	verifies bool
	reopens  bool
	requests string
	steps    string
	breaks   func(*rules) // leaves the rule out
	promise  string       // that does not hold then
}

var storyEvents = map[string]actionKind{
	"arrives": arrive, "arrives-at-R1": arriveOther, "taken": taken, "refused": isRefused, "times-out": timesOut, "loses-its-answer": answerLost,
	"loses-the-store's-reply": proceedLost, "closed": personClose, "webhook": webhookComes, "dies": replicaDies, "waits-no-longer": giveUp,
}

func (s story) setting() *setting {
	sys := systemNamed(s.on)
	cfg := &setting{
		name: "story", system: sys, onClosed: s.onClosed, webhook: s.webhook,
		policy: policyOf(sys, s.expires, s.verifies, s.reopens), requests: requestsOf(s.requests),
	}
	for f := range cfg.faults {
		cfg.faults[f] = 9
	}
	return cfg
}

// tell runs the story and returns the promise that did not hold, and the
// steps as they happened.
func (s story) tell(r rules) (broken, told string) {
	w := newWorld(s.setting(), r)
	var b strings.Builder
	for step := range strings.SplitSeq(s.steps, ",") {
		a, ok := w.parse(strings.Fields(step))
		if !ok || w.broken != "" {
			continue
		}
		name := w.name(a)
		w.do(a)
		fmt.Fprintf(&b, "t=%-4d %-42s record: %s\n", w.now, name, w.brief())
	}
	if w.broken == "" {
		w.rest()
		w.checkAtRest()
	}
	return w.broken, b.String()
}

// parse reads one step, and says whether it can happen now.
func (w *world) parse(words []string) (action, bool) {
	if words[0] == "time" {
		return w.possible(action{kind: passes})
	}
	var of int
	fmt.Sscanf(words[0][1:], "%d", &of)
	kind, event := storyEvents[words[1]]
	if !event {
		kind = proceed
	}
	return w.possible(action{kind, of})
}

func (w *world) possible(a action) (action, bool) {
	for _, can := range w.enabled(nil) {
		if can == a {
			return a, true
		}
	}
	return a, false
}

// holds tells the story twice: every promise holds with the shipped rules, and
// one does not without the rule.
func (s story) holds(t *testing.T) {
	t.Helper()
	if broken, told := s.tell(shipped()); broken != "" {
		t.Errorf("the shipped rules: %s\n%s", broken, told)
	}
	without := shipped()
	s.breaks(&without)
	broken, told := s.tell(without)
	if !strings.Contains(broken, s.promise) {
		t.Errorf("without the rule: broken %q, want %q\n%s", broken, s.promise, told)
	}
}

// opened is how request i opens a ticket without trouble.
func opened(i int) string {
	return strings.ReplaceAll("q0 arrives, q0 claims, q0 sends, q0 taken, q0 answered, q0 settles", "q0", fmt.Sprintf("q%d", i))
}
