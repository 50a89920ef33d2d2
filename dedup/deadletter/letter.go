package deadletter

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"oneticket/dedup"
)

// Why says how the create ended that a letter keeps.
type Why string

const (
	NeverSent Why = "never_sent" // nothing of it has left for the backend
	Unknown   Why = "unknown"    // it may have become a ticket
	Refused   Why = "refused"    // for now: 429, or 503 with Retry-After
)

// A Letter is a create that has not become a ticket, as far as is known. What
// may be a secret is not in it, see Clean.
type Letter struct {
	ID      string // given by the Box: digits, growing with every letter
	Ref     dedup.Ref
	Backend string
	Episode int64 // in which the create was claimed, and the only one in which it may be replayed
	Token   string

	Why    Why
	Status int  // of the last answer; 0 = there was none
	Doubt  bool // some try of it ended as Unknown, whatever the last one did
	Doubts int  // how many did, less those that were never sent after all

	Bare bool // the create carried no token by which it could be looked up

	Method string
	Path   string              // as it was sent: escaped, with its query
	Header []dedup.HeaderField // harmless ones only, names in lower case
	Body   []byte              // as it came, in its content coding, but for what is redacted
	Length int                 // of Body in bytes; also where a list leaves Body out

	// Redacted names what stood in the request and is not kept:
	// "header.NAME", "query.NAME", "body.PATH", or "body" for all of it.
	Redacted []string

	First     time.Time // the first time that this create was put
	At        time.Time // the last time; the age of a letter counts from here
	Tries     int       // how often it was put: a client that repeats it makes no second letter
	Replays   int       // how often a Replayer has sent it
	LastTry   time.Time
	LastError string // in words, never with a body or a credential in it
}

// HeaderValue returns the first header with the lower-case name.
func (l *Letter) HeaderValue(name string) (string, bool) {
	i := slices.IndexFunc(l.Header, func(f dedup.HeaderField) bool { return f.Name == name })
	if i < 0 {
		return "", false
	}
	return l.Header[i].Value, true
}

// idOf writes numbers so that they sort as text.
func idOf(n int64) string { return fmt.Sprintf("%08d", n) }

// numberOf reads an id, also without its leading zeros.
func numberOf(id string) (int64, bool) {
	n, err := strconv.ParseInt(id, 10, 64)
	return n, err == nil && n > 0
}

// wire is a Letter as JSON: in the file (without its body), at the admin
// address, and for --json.
type wire struct {
	ID        string      `json:"id,omitempty"`
	Rule      string      `json:"rule"`
	Scope     string      `json:"scope"`
	Key       string      `json:"key"`
	Backend   string      `json:"backend"`
	Episode   int64       `json:"episode"`
	Token     string      `json:"token"`
	Why       Why         `json:"why"`
	Status    int         `json:"status,omitempty"`
	Doubt     bool        `json:"doubt,omitempty"`
	Bare      bool        `json:"bare,omitempty"`
	Doubts    int         `json:"doubts,omitempty"`
	Method    string      `json:"method"`
	Path      string      `json:"path"`
	Header    [][2]string `json:"header,omitempty"`
	Body      []byte      `json:"body_base64,omitempty"`
	Length    int         `json:"length"`
	Redacted  []string    `json:"redacted,omitempty"`
	First     time.Time   `json:"first"`
	At        time.Time   `json:"at"`
	Tries     int         `json:"tries"`
	Replays   int         `json:"replays,omitempty"`
	LastTry   time.Time   `json:"last_try,omitzero"`
	LastError string      `json:"last_error,omitempty"`
}

// MarshalJSON writes the letter flat; its body is base64.
func (l Letter) MarshalJSON() ([]byte, error) {
	w := wire{
		ID: l.ID, Rule: l.Ref.Rule, Scope: l.Ref.Scope, Key: string(l.Ref.Key), Backend: l.Backend,
		Episode: l.Episode, Token: l.Token, Why: l.Why, Status: l.Status, Doubt: l.Doubt, Doubts: l.Doubts,
		Bare:   l.Bare,
		Method: l.Method, Path: l.Path, Body: l.Body, Length: l.Length, Redacted: l.Redacted,
		First: l.First, At: l.At, Tries: l.Tries, Replays: l.Replays, LastTry: l.LastTry, LastError: l.LastError,
	}
	for _, f := range l.Header {
		w.Header = append(w.Header, [2]string{f.Name, f.Value})
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *Letter) UnmarshalJSON(text []byte) error {
	var w wire
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	*l = Letter{
		ID: w.ID, Ref: dedup.Ref{Rule: w.Rule, Scope: w.Scope, Key: dedup.Key(w.Key)}, Backend: w.Backend,
		Episode: w.Episode, Token: w.Token, Why: w.Why, Status: w.Status, Doubt: w.Doubt, Doubts: w.Doubts,
		Bare:   w.Bare,
		Method: w.Method, Path: w.Path, Body: w.Body, Length: w.Length, Redacted: w.Redacted,
		First: w.First, At: w.At, Tries: w.Tries, Replays: w.Replays, LastTry: w.LastTry, LastError: w.LastError,
	}
	for _, f := range w.Header {
		l.Header = append(l.Header, dedup.HeaderField{Name: f[0], Value: f[1]})
	}
	return nil
}
