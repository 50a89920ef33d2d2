package admin

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"oneticket/dedup"
)

// firstRequests is how many requests a rule may leave without a key before it
// counts as wrong: one that keys none of them keys none at all.
const firstRequests = 20

// A Keyless is a rule that has keyed none of its first requests: it guards
// nothing, and looks as if it did.
type Keyless struct {
	Rule     string
	Requests int    // without a key
	Why      string // the most frequent of dedup's Why constants
	Field    string // of the identity: the one that was missing most often; "" = none
}

// Do is what the operator should do about it.
func (k Keyless) Do() string {
	switch k.Why {
	case dedup.WhyMissing:
		return "compare the rule's expressions with a body that the automation sends: the names and the nesting of members have to be equal"
	case dedup.WhyNoBody:
		return "narrow match: requests without a body are no creates"
	case dedup.WhyUnparsed, dedup.WhyCharset, dedup.WhyCoding:
		return "look at a request: its body is not what its Content-Type or Content-Encoding says, or is of a kind that is not read"
	case dedup.WhyBulk:
		return "say by ticket.items where the answer has what became of the items of for_each"
	case dedup.WhyTooLarge:
		return "raise max_body in the block limits"
	case dedup.WhyBodyMode:
		return "let the proxy send bodies BUFFERED"
	}
	return "look at oneticket_unkeyed_total by reason"
}

// keyless watches the first requests of each rule. On the path of a request it
// takes no lock: a map is read, a number goes up.
type keyless struct {
	rules  sync.Map // name -> *firstKeys
	report atomic.Pointer[func(Keyless)]
}

// firstKeys is what is known of one rule.
type firstKeys struct {
	keyed    atomic.Bool
	unkeyed  atomic.Int64
	reported atomic.Bool
	whys     sync.Map // why -> *atomic.Int64
	fields   sync.Map // field -> *atomic.Int64
}

func (k *keyless) of(rule string) *firstKeys {
	if found, ok := k.rules.Load(rule); ok {
		return found.(*firstKeys)
	}
	found, _ := k.rules.LoadOrStore(rule, &firstKeys{})
	return found.(*firstKeys)
}

func increment(counts *sync.Map, name string) {
	n, ok := counts.Load(name)
	if !ok {
		n, _ = counts.LoadOrStore(name, &atomic.Int64{})
	}
	n.(*atomic.Int64).Add(1)
}

func most(counts *sync.Map) string {
	type count struct {
		name string
		n    int64
	}
	var all []count
	counts.Range(func(name, n any) bool {
		all = append(all, count{name.(string), n.(*atomic.Int64).Load()})
		return true
	})
	if len(all) == 0 {
		return ""
	}
	return slices.MaxFunc(all, func(a, b count) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(b.name, a.name)) }).name
}

// hasKey: one key is enough, the rule reads its requests.
func (k *keyless) hasKey(rule string) {
	if f := k.of(rule); !f.keyed.Load() {
		f.keyed.Store(true)
	}
}

// hasNone counts a request without a key, and reports the rule at the last of
// the first ones.
func (k *keyless) hasNone(rule, why string) {
	if !isUnread(why) {
		return
	}
	f := k.of(rule)
	if f.keyed.Load() || f.reported.Load() {
		return
	}
	increment(&f.whys, why)
	if f.unkeyed.Add(1) < firstRequests || !f.reported.CompareAndSwap(false, true) {
		return
	}
	if report := k.report.Load(); report != nil {
		(*report)(f.describe(rule))
	}
}

func (f *firstKeys) describe(rule string) Keyless {
	out := Keyless{Rule: rule, Requests: firstRequests, Why: most(&f.whys)}
	if out.Why == dedup.WhyMissing {
		out.Field = most(&f.fields)
	}
	return out
}

// isUnread reports whether the reason is one of the request: the store's and
// our own say nothing of the rule.
func isUnread(why string) bool {
	switch why {
	case dedup.WhyStoreDown, dedup.WhyNewer, dedup.WhyInternal, dedup.WhyBudget:
		return false
	}
	return true
}

// OnKeyless is called once for each rule that has keyed none of its first
// requests.
func (m *Metrics) OnKeyless(report func(Keyless)) { m.keyless.report.Store(&report) }

// MissingField notes which field of the identity a request lacked. It comes
// before Unkeyed of the same request.
func (m *Metrics) MissingField(rule, field string) {
	if f := m.keyless.of(rule); !f.keyed.Load() && !f.reported.Load() {
		increment(&f.fields, field)
	}
}

// NewRules begins to watch the rules anew: those of before may have been
// mended.
func (m *Metrics) NewRules() { m.keyless.rules.Clear() }

// Keyless are the rules that have keyed nothing, by name, until they do.
func (m *Metrics) Keyless() []Keyless {
	var all []Keyless
	m.keyless.rules.Range(func(rule, f any) bool {
		if keys := f.(*firstKeys); keys.reported.Load() && !keys.keyed.Load() {
			all = append(all, keys.describe(rule.(string)))
		}
		return true
	})
	slices.SortFunc(all, func(a, b Keyless) int { return cmp.Compare(a.Rule, b.Rule) })
	return all
}
