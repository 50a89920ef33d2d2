package envoy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// A Bypass is a request on a guarded route that passed unguarded: the filter did
// not decide, and bytes of it were sent. If it was a create, a double is
// possible; which method and path are creates, the rules say.
type Bypass struct {
	Backend string    `json:"cluster"`
	Time    time.Time `json:"time"` // when the request came
	Method  string    `json:"method"`
	Path    string    `json:"path"` // without the query; empty where it may hold a credential
	Status  int       `json:"status"`
	Sent    int64     `json:"sent"` // bytes to the backend, of all attempts
	Details string    `json:"details"`
}

// parseBypass reads one line of the bypass log. An Envoy that is killed while
// it writes leaves a piece of a line, and the next one goes on behind it: what
// comes last is the entry.
func parseBypass(line []byte) (Bypass, error) {
	var b Bypass
	err := json.Unmarshal(line, &b)
	for rest := line; err != nil; {
		i := bytes.Index(rest[min(1, len(rest)):], []byte(`{"`))
		if i < 0 {
			return Bypass{}, fmt.Errorf("bypass log: %.100q: %w", line, err)
		}
		rest = rest[1+i:]
		b = Bypass{}
		if json.Unmarshal(rest, &b) == nil {
			return b, nil
		}
	}
	return b, nil
}
