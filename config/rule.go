package config

import (
	"slices"
	"sync/atomic"
	"time"

	"oneticket/dedup"
)

// A Rule says which requests open a ticket on a backend, and how to read the
// fault in them. It is immutable but for OnUnknownSeverity and what it knows of
// the last request.
type Rule struct {
	Name      string
	Backend   *Backend
	Preset    string
	Generated bool   // of a backend that no rule names
	Action    string // "enforce", "observe" or "off"
	RetryMode bool   // there is no identity: the key is the request's, and lives for the window

	RejectMissing bool
	TokenHeader   string           // lower case; "" = none
	TokenField    []string         // where the request carries NativeToken, set if absent; nil = none
	TokenList     []string         // the list that it is appended to; nil = none
	TokenItem     *dedup.TokenItem // the object of that list which carries it; nil = it is an item itself
	TokenVolatile bool             // the client's own token differs on every try: it is none, and is replaced
	TokenMax      int              // characters that the field holds; 0 is without limit
	ReplayHeaders []string         // lower case
	DropHeaders   []string         // lower case

	Wait       time.Duration
	MaxWaiters int
	BusyStatus int
	MaxBody    int64
	MaxAnswer  int64

	OnUpdate       string
	OnUpdateFailed string
	OnCleared      string
	OnSuspect      string
	Merge          string
	UpdateRate     PerTime
	HealWithin     time.Duration // 0 = no healing
	Resend         int           // tries

	Each *Each // how a request is taken apart that holds several creates; nil: each request is one

	// OnUnknownSeverity is called for each request whose severity the map
	// lacks. Whoever counts them sets it before the rule is used.
	OnUnknownSeverity func(rule string)

	match      match
	scope      *expression // nil = the host
	identity   []identityField
	key        *expression // nil = identity, or request_key() in retry mode
	severity   *expression
	cleared    *expression
	class      *expression
	witness    *expression
	answer     answer
	form       tokenForm
	calls      calls
	lastBase   *atomic.Pointer[string] // see base
	resolves   []resolve
	principal  *expression // nil = by the usual schemes
	credential credential
	rejects    *expression              // over the answer; nil = never
	policies   map[string]*dedup.Policy // by class
	policy     *dedup.Policy            // of every other
	want       *dedup.Want
	wantAnswer *dedup.Want
}

// An identityField is one field of the identity.
type identityField struct {
	name     string
	value    *expression
	optional bool
}

// DefaultClass is the class of a fault that names none, or none that the
// rule's ttl knows: what clients send must not become the label of a metric.
const DefaultClass = "default"

// Matches reports whether the request may be a create of the rule, by its
// host, method, path, query and headers. The body may still say that it is
// none, see Fault.
func (r *Rule) Matches(req *dedup.Request) bool {
	return r.Backend.serves(req.Host) && r.match.head(req)
}

// Fault reads the fault. The error is dedup.ErrNoMatch when the body says that
// this is no create, or a *dedup.Unkeyed.
func (r *Rule) Fault(req *dedup.Request) (dedup.Fault, error) {
	in := &input{request: req}
	if !r.matchesBody(in) {
		return dedup.Fault{}, dedup.ErrNoMatch
	}
	f := dedup.Fault{Ref: dedup.Ref{Rule: r.Name, Scope: req.Host}, Class: DefaultClass, Fingerprint: dedup.Fingerprint{Severity: dedup.NoSeverity}}
	if r.scope != nil {
		scope, ok := r.scope.text(in)
		if !ok {
			return dedup.Fault{}, &dedup.Unkeyed{Why: dedup.WhyMissing, Field: "scope"}
		}
		f.Ref.Scope = scope
	}
	if err := r.readKey(in, &f); err != nil {
		return dedup.Fault{}, err
	}
	if err := r.readFingerprint(in, &f); err != nil {
		return dedup.Fault{}, err
	}
	r.readClass(in, &f)
	f.ClientToken = r.clientToken(req)
	f.Unfolded = r.unfolded(req, &f)
	if r.witness != nil {
		title, _ := r.witness.text(in)
		f.Witness = dedup.NormalTitle(title)
	}
	return f, nil
}

func (r *Rule) readKey(in *input, f *dedup.Fault) error {
	switch {
	case r.key != nil:
		text, ok := r.key.text(in)
		if !ok {
			return &dedup.Unkeyed{Why: dedup.WhyMissing, Field: "key"}
		}
		f.Ref.Key = dedup.Key(text)
	case r.RetryMode:
		key, ok := requestKeyOf(in.request, dedup.RequestKeyOptions{})
		if !ok {
			return &dedup.Unkeyed{Why: dedup.WhyNoBody}
		}
		f.Ref.Key = key
	default:
		var fields [8]dedup.Field // most identities are smaller, and then cost no allocation
		found := fields[:0]
		for i := range r.identity {
			field := &r.identity[i]
			text, ok := field.value.text(in)
			switch {
			case ok:
				found = append(found, dedup.Field{Name: field.name, Value: text})
			case !field.optional:
				return &dedup.Unkeyed{Why: dedup.WhyMissing, Field: field.name}
			}
		}
		f.Identity = dedup.Canonical(found)
		f.Ref.Key = dedup.KeyOf(f.Identity)
	}
	return nil
}

func (r *Rule) readFingerprint(in *input, f *dedup.Fault) error {
	if r.severity != nil {
		if text, ok := r.severity.text(in); ok {
			f.Fingerprint.Severity = text
		}
	}
	if in.unknownSeverity {
		if r.OnUnknownSeverity != nil {
			r.OnUnknownSeverity(r.Name)
		}
		if r.RejectMissing {
			return &dedup.Unkeyed{Why: dedup.WhyMissing, Field: "severity"}
		}
	}
	f.Fingerprint.Cleared = r.cleared != nil && r.cleared.truth(in)
	return nil
}

// readClass: a client's own key lives longer than a request's, so a rule that
// takes either tells them apart by class.
func (r *Rule) readClass(in *input, f *dedup.Fault) {
	class := ""
	if r.class != nil {
		class, _ = r.class.text(in)
	} else if in.keyOf == clientKeyName {
		class = clientKeyName
	}
	if _, known := r.policies[class]; known {
		f.Class = class
	}
}

// clientToken is the key that the client has set itself: in the backend's own
// field, by which it can be looked up, else in the header.
func (r *Rule) clientToken(req *dedup.Request) string {
	if r.TokenVolatile {
		return ""
	}
	if text, ok := r.fieldToken(req); ok {
		return text
	}
	if r.TokenHeader == "" || req.Each != nil { // a header is of the whole request
		return ""
	}
	text, _ := oneField(req.Header, r.TokenHeader).Text()
	return text
}

// Policy is how the rule wants the faults of a class treated.
func (r *Rule) Policy(class string) *dedup.Policy {
	if p, ok := r.policies[class]; ok {
		return p
	}
	return r.policy
}

// Methods are those of the requests that the rule is about.
func (r *Rule) Methods() []string { return slices.Clone(r.match.methods) }

// Wants are the places of a request's body that the rule reads.
func (r *Rule) Wants() *dedup.Want { return r.want }

// AnswerWants are the places of an answer's body that the rule reads.
func (r *Rule) AnswerWants() *dedup.Want { return r.wantAnswer }
