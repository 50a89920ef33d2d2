package extproc

import (
	"time"

	"oneticket/dedup"
)

// Action is what the filter does with the requests of a rule.
type Action string

const (
	Enforce Action = "enforce" // decides and acts
	Observe Action = "observe" // decides and counts; adds nothing, waits for nothing, answers nothing
	Off     Action = "off"     // requests pass, uncounted but for `pass`
)

// A Rule is all that the stream needs to know of a rule of the configuration:
// data, and the compiled expressions as functions. It is immutable.
type Rule struct {
	Name    string
	Backend string
	Action  Action

	Match  func(*dedup.Request) bool                           // by method, host, path, query and headers; called before the body is there
	Fault  func(*dedup.Request) (dedup.Fault, error)           // the error is a *dedup.Unkeyed, or dedup.ErrNoMatch when the body says that this is no create
	Judge  func(*dedup.Request, *dedup.Answer) dedup.Judgement // what a backend's answer says
	Policy func(class string) *dedup.Policy

	Want       *dedup.Want // the places of a request's body that Fault reads; nil = all
	WantAnswer *dedup.Want // the places of an answer's body that Judge reads; nil = all

	Each *Each // how a request is taken apart that holds several creates; nil: each request is one

	Principal       func(*dedup.Request) string   // the stable part of the sender's credential; nil: the Authorization header
	Credential      func(*dedup.Request) []string // all that makes it; nil: the headers that CredentialHeader names
	CredentialQuery func(name string) bool        // the query parameters that calls repeat; nil: none
	// Presents reports whether every call that the rule makes presents the whole
	// credential of the request, so that an answer to it says something of all of
	// it; nil: where that is all in headers that calls repeat.
	Presents         func(*dedup.Request) bool
	CredentialHeader func(name string) bool // lower case; the headers beside the usual ones that are part of a credential; nil: none

	RejectMissing bool             // on_missing = "reject": 422 instead of sending on
	TokenHeader   string           // the header that carries the token to the backend, lower case; "" = none
	TokenField    []string         // path of the member of the body that carries it, set if absent; nil = none
	TokenList     []string         // path of the list that it is added to; nil = none
	TokenItem     *dedup.TokenItem // the object of that list which has it; nil: it is an item itself
	// Native is the token as it stands in the field or the list; false: they
	// cannot hold it. nil: as it is.
	Native func(token string) (string, bool)
	// RejectsField reports whether the backend refused a create because of the
	// token in the field or the list. nil: it never says so.
	RejectsField  func(*dedup.Answer) bool
	Field         *FieldSwitch // of all rules with that field of the backend; nil: it stays on
	TokenVolatile bool         // what the client itself sets in the header or the field differs on every try, and is replaced
	ReplayHeaders []string     // lower case; kept in a stored answer although the defaults drop them
	DropHeaders   []string     // lower case; dropped beside the defaults

	Wait       time.Duration // how long a duplicate waits for the first
	MaxWaiters int           // of one replica, over all keys
	BusyStatus int           // what it is answered after that
	Timeout    time.Duration // of the backend

	// SafeRetries: the route, if it retries at all, retries only what was
	// never sent, so that several attempts are as good as one.
	SafeRetries bool

	MaxBody   int64
	MaxAnswer int64 // limits.max_response: a larger answer leaves id, status and location

	Asks     Asks
	Resolves Resolves

	HealWithin      time.Duration // how long the client of a lost answer waits for the look-up; 0: no healing
	Resend          int           // how often a create that made no ticket is sent again by us
	OnUpdateForward bool          // the client's own request is the update
	OnClearedAnswer bool          // a clear that no record can take is answered, and not sent on
}

// Asks are how a rule writes outside calls, and how it reads their answers.
// What is nil it does not have. A call is false where there is nothing that it
// could ask or say.
type Asks struct {
	LookUp func(req *dedup.Request, token string) (dedup.Call, bool)
	Found  func(a *dedup.Answer, token string) dedup.LookUpResult

	Read       func(*dedup.Request, dedup.Ticket) (dedup.Call, bool)
	ReadAnswer func(*dedup.Answer) dedup.ReadResult

	Update  func(req *dedup.Request, t dedup.Ticket, token string, f dedup.Fault, reason dedup.Reason) (dedup.Call, bool)
	Updated func(*dedup.Answer, dedup.Fault, dedup.Reason) dedup.UpdateOutcome
	// Blind says that the answer to an update does not tell whether the ticket
	// was closed: it is read before, or a new fault would end in an old ticket.
	Blind bool
}

// Resolves are how a rule sees, in requests of clients that are no creates,
// that tickets are closed. Head is nil where it cannot.
type Resolves struct {
	Head   func(*dedup.Request) bool                    // by the header: the request may close a ticket, or reads one
	Closed func(*dedup.Request, *dedup.Answer) []string // the ids of those that are closed now
	Want   *dedup.Want                                  // of the request's body
	Answer *dedup.Want                                  // of the answer's
}

// Rules is an ordered, checked set of rules of one configuration.
type Rules struct {
	Config string  // hash of the configuration
	Rules  []*Rule // the first that matches decides
	// Hosts gives, for the name of a cluster of the proxy (attribute
	// xds.cluster_name), the host that requests to it are sent on to: lower
	// case, without the default port.
	Hosts map[string]string
}
