package dedup

import "errors"

// A Request is what a rule reads. It is a plain value: no connection, no
// proxy, no credential is kept beyond it.
type Request struct {
	Method string
	Host   string        // the host the request is sent on to: lower case, no default port
	Path   string        // percent-decoded once, without the query
	Query  []HeaderField // decoded, in order
	Header []HeaderField // names in lower case, in order
	Body   Value         // missing when there is none or it could not be read
	Raw    []byte        // the body as text (decoded from its content coding), for request_key on what is not JSON
	Each   *Value        // of a request that holds several creates: the one that is meant, whose text is Raw; nil: the request is one create
}

// HeaderValue returns the first header with the lower-case name.
func (r *Request) HeaderValue(name string) (string, bool) { return firstField(r.Header, name) }

func firstField(fields []HeaderField, name string) (string, bool) {
	for _, f := range fields {
		if f.Name == name {
			return f.Value, true
		}
	}
	return "", false
}

// An Answer is a backend's answer to a create, as a rule reads it.
type Answer struct {
	Status int
	Header []HeaderField // names in lower case, in order
	Body   Value
	Raw    []byte // the body as text
	Item   *Value // what it says of one of several creates; nil: the body says it
}

// A Fault is what a rule reads in a request: which fault, and how bad it is.
type Fault struct {
	Ref         Ref
	Backend     string // keeps the ticket ids of different backends apart
	Identity    string // the canonical form
	Fingerprint Fingerprint
	Class       string
	ClientToken string // the key that the client itself has set in the header or the native field; it stays, and is the token
	Witness     string // the normalised title; empty when the rule has none
	Unfolded    bool   // the create cannot carry the token, so that a backend that folds would not know it again
}

// Unkeyed is the error of a rule that finds no key in a request. Such a
// request is sent on untouched and counted by Why.
type Unkeyed struct {
	Why   string // one of the Why constants
	Field string // the identity field that is missing, where one is
}

// The reasons for which a request has no key, as `oneticket_unkeyed_total{why}` counts them.
const (
	WhyMissing   = "missing"    // an identity field is missing
	WhyNoBody    = "no_body"    // the request has no body
	WhyUnparsed  = "unparsed"   // the body does not parse
	WhyCharset   = "charset"    // the body's charset is not known
	WhyCoding    = "coding"     // the body's content coding is not known or is broken
	WhyTooLarge  = "too_large"  // the body is over max_body
	WhyBudget    = "budget"     // decoding took longer than its budget
	WhyBodyMode  = "body_mode"  // the proxy sends bodies in a mode that the filter does not serve
	WhyStoreDown = "store_down" // no store could decide
	WhyBulk      = "bulk"       // it holds several creates, and cannot be taken apart
	WhyNewer     = "newer"      // the record is of a newer format
	WhyInternal  = "internal"   // a fault of ours
)

func (u *Unkeyed) Error() string {
	if u.Field != "" {
		return "no key: " + u.Why + ": " + u.Field
	}
	return "no key: " + u.Why
}

// ErrNoMatch: the body says that this request is no create of the rule.
var ErrNoMatch = errors.New("no create of this rule")

// A Judgement is what a rule reads in a backend's answer to a create.
type Judgement struct {
	Says   Says
	Ticket Ticket // with SaysCreated: empty only if the rule's answers name no ticket
}

// Says is what an answer says of the create. The rule judges by status, header
// and body alone; what the proxy knows of the exchange (attempts, resets)
// comes on top, see Outcome.
type Says string

const (
	SaysCreated    Says = "created"    // the status is in the preset's set, and a ticket id is there or none is needed
	SaysRefused    Says = "refused"    // nothing was made
	SaysExists     Says = "exists"     // there is one already
	SaysRemembered Says = "remembered" // the backend marks the answer as one that it gave before
	SaysUnclear    Says = "unclear"    // all else
)
