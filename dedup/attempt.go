package dedup

import (
	"slices"
	"time"
)

// maxAttempts bounds Record.Attempts. A ticket system that is ill for a day,
// and can be asked nothing, makes a new one of them every settle.
const maxAttempts = 16

// withAttempt is the attempts and one more. Beyond maxAttempts the two oldest
// become one, which says of both what decisions look at: the first send, the
// last end, and a doubt of either. It is nobody's any more, so that no late
// word of one of them takes back the other.
func withAttempt(attempts []Attempt, a Attempt) []Attempt {
	all := append(slices.Clone(attempts), a)
	if len(all) <= maxAttempts {
		return all
	}
	first, second := all[0], all[1]
	both := second
	both.Holder = ""
	both.SentAt = earliest(first.SentAt, second.SentAt)
	both.EndedAt = latest(first.EndedAt, second.EndedAt)
	both.Sent = first.Sent && second.Sent
	if first.Fingerprint != second.Fingerprint {
		both.Fingerprint = Unknown
	}
	return slices.Replace(all, 0, 2, both)
}

// attempt is the running claim as an unresolved send that ended at the time.
func (r *Record) attempt(ended time.Time) Attempt {
	return Attempt{
		Number: r.Sends, Holder: r.Holder, Fingerprint: r.Fingerprint, Token: r.Token,
		SentAt: r.ClaimedAt, EndedAt: ended, Sent: r.Sent,
	}
}

// lastEnded is when the last unresolved send ended.
func (r *Record) lastEnded() time.Time {
	var last time.Time
	for _, a := range r.Attempts {
		last = latest(last, a.EndedAt)
	}
	return last
}

// firstSent is when the token was first sent, of the sends that are unresolved.
func (r *Record) firstSent() time.Time {
	first := r.ClaimedAt
	for _, a := range r.Attempts {
		if a.SentAt.Before(first) {
			first = a.SentAt
		}
	}
	return first
}

// sentFingerprint is the fingerprint that all sends had; Unknown when they
// differ, when one of them is not known, and when there is none.
func sentFingerprint(attempts []Attempt) Fingerprint {
	for i, a := range attempts {
		if a.Fingerprint != attempts[0].Fingerprint {
			return Unknown
		}
		if i == len(attempts)-1 {
			return a.Fingerprint
		}
	}
	return Unknown
}

func withoutHolder(attempts []Attempt, holder string) []Attempt {
	return slices.DeleteFunc(slices.Clone(attempts), func(a Attempt) bool { return a.Holder == holder })
}
