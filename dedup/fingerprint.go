package dedup

// NoSeverity is the severity of a request that names none: from it any
// severity is a change, to it none is.
const NoSeverity = "-"

// A Fingerprint is the material state of a fault: what is worth an update.
// The zero value is the unknown fingerprint, which equals none.
type Fingerprint struct {
	Severity string // NoSeverity when the request names none; empty only in Unknown
	Cleared  bool
}

// Unknown is the fingerprint of a ticket whose material state is not known.
var Unknown = Fingerprint{}

// Known reports whether f says anything.
func (f Fingerprint) Known() bool { return f.Severity != "" || f.Cleared }

// Changes reports whether a request with the fingerprint next asks for a
// change of a ticket that has f.
func (f Fingerprint) Changes(next Fingerprint) bool {
	switch {
	case next.Cleared != f.Cleared:
		return true
	case next.Cleared || next.Severity == NoSeverity:
		return false
	default:
		return f.Severity != next.Severity
	}
}
