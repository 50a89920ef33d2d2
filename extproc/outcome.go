package extproc

import (
	"strings"

	"oneticket/dedup"
)

// An Ending is what the proxy and the rule say of the end of a create that was
// let go.
type Ending struct {
	Details  string // response.code_details; empty when the proxy did not say
	Flags    uint64 // response.flags
	Attempts int    // upstream.request_attempt_count; Unsaid when the proxy did not say

	Status     int
	RetryAfter bool // the answer has a Retry-After
	Complete   bool // the whole answer was there
	Says       dedup.Says

	SafeRetries bool // see Rule
}

// Unsaid is the number of attempts of a proxy that does not tell it.
const Unsaid = -1

// The bits of response.flags. After those of notSent nothing has left for the
// backend; any of maybeSent takes that word back.
const (
	flagUH  = 1 << 1  // no healthy upstream
	flagUT  = 1 << 2  // timeout
	flagLR  = 1 << 3  // local reset
	flagUR  = 1 << 4  // remote reset
	flagUF  = 1 << 5  // connection failure
	flagUC  = 1 << 6  // connection termination
	flagUO  = 1 << 7  // overflow
	flagNR  = 1 << 8  // no route
	flagSI  = 1 << 16 // idle timeout
	flagDPE = 1 << 18 // downstream protocol error
	flagUPE = 1 << 23 // upstream protocol error
	flagNC  = 1 << 24 // no cluster
	flagDF  = 1 << 26 // DNS failure

	notSent   = flagUH | flagUF | flagUO | flagNR | flagNC | flagDF
	maybeSent = flagUT | flagLR | flagUC | flagSI | flagDPE | flagUPE
)

// Outcome says what is known of the create. Created wins over everything; what
// is not surely something else is unknown.
func (e Ending) Outcome() dedup.OutcomeKind {
	switch {
	case e.local():
		if e.neverSent() {
			return dedup.OutcomeNeverSent
		}
	case !e.Complete:
	case e.Says == dedup.SaysCreated:
		return dedup.OutcomeCreated
	case e.Says == dedup.SaysRemembered:
		return dedup.OutcomeRemembered
	case e.Says == dedup.SaysExists, e.Says == dedup.SaysUnclear && e.Status == 409:
		return dedup.OutcomeExists
	case e.refused() && e.Details != "" && e.oneAttempt():
		return dedup.OutcomeRefused
	}
	return dedup.OutcomeUnknown
}

// local reports whether the proxy wrote the answer itself.
func (e Ending) local() bool { return e.Details != "" && e.Details != viaUpstream }

const viaUpstream = "via_upstream"

// oneAttempt reports whether what is known of the last attempt is all there
// is to know.
func (e Ending) oneAttempt() bool { return e.Attempts != Unsaid && (e.Attempts <= 1 || e.SafeRetries) }

func (e Ending) neverSent() bool {
	if !e.oneAttempt() || e.Flags&maybeSent != 0 {
		return false
	}
	switch {
	case strings.Contains(e.Details, "remote_refused_stream_reset"):
		return true
	case e.Flags&flagUR != 0:
		return false
	case e.Flags&notSent != 0:
		return true
	default:
		return e.Details == "request_payload_too_large" || e.Details == "direct_response"
	}
}

// refused reports whether the answer says that nothing was made.
func (e Ending) refused() bool {
	if e.Says == dedup.SaysRefused {
		return true
	}
	switch s := e.Status; {
	case s == 408, s == 409, s == 423, s == 425, s == 499:
		return false
	case s == 503:
		return e.RetryAfter
	default:
		return s >= 300 && s < 500
	}
}
