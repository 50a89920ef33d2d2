package dedup

import (
	"context"
	"strings"
)

// A Merge is a ticket that is open beside the one of its record.
type Merge struct {
	Ref       Ref
	Duplicate Ticket
	// Survivor is the ticket that stays; empty: whichever the record holds. A
	// record that holds another one by then has moved on, and nothing is merged.
	Survivor Ticket
}

// MergeResult is what became of a Merge.
type MergeResult string

// The results of a merge. The last is that of one try alone.
const (
	Merged          MergeResult = "merged"      // closed or linked, as the desk does it
	MergeNeedless   MergeResult = "needless"    // it is not open, or is the record's own by now
	MergeNoSurvivor MergeResult = "no_survivor" // the record has no open ticket, or another one: closing this one could close the last
	MergeRefused    MergeResult = "refused"     // the backend does not do it, or does not show us a ticket; or the record's token is its client's, who may have used it for another fault
	MergeGivenUp    MergeResult = "given_up"    // after all tries
	MergeDropped    MergeResult = "dropped"     // too many wait already
	MergeAgain      MergeResult = "again"       // it cannot be told yet, or the backend did not answer
)

// A MergeDesk asks one backend on nobody's behalf, with credentials of ours. It
// bounds each call in time.
type MergeDesk interface {
	Read(ctx context.Context, ticket Ticket) ReadResult
	// Merge closes the duplicate, or links it, and names the survivor in it.
	Merge(ctx context.Context, survivor, duplicate Ticket) UpdateKind
}

// A MergeRule is how the doubles of one rule are merged.
type MergeRule struct {
	Desk    MergeDesk
	Closes  bool   // Merge leaves the duplicate closed
	Backend string // as in Fault
	Policy  *Policy
}

// merge is one try. Both tickets are read, and the record is looked at once
// more after that, so that what is closed is never the last open ticket of its
// fault. It can be repeated: a duplicate that is closed needs nothing.
func (e *Engine) merge(ctx context.Context, m Merge, rule MergeRule) (Ticket, MergeResult) {
	survivor, result := e.survivor(ctx, m)
	if result != "" {
		return survivor, result
	}
	if result := readBoth(ctx, rule.Desk, survivor, m.Duplicate); result != "" {
		return survivor, result
	}
	m.Survivor = survivor
	if _, result := e.survivor(ctx, m); result != "" {
		return survivor, result
	}
	switch rule.Desk.Merge(ctx, survivor, m.Duplicate) {
	case UpdateApplied:
		if rule.Closes {
			// Whoever comes to write that ticket writes it closed.
			_ = e.CloseTicket(ctx, TicketScope(rule.Backend), m.Duplicate.ID, rule.Policy)
		}
		return survivor, Merged
	case UpdateRefused, UpdateGone:
		return survivor, MergeRefused
	default:
		return survivor, MergeAgain
	}
}

// survivor is the open ticket of the record, or why there is none to merge into.
// Replicas that are cut off from each other would merge in opposite directions.
func (e *Engine) survivor(ctx context.Context, m Merge) (Ticket, MergeResult) {
	found, err := e.store.Get(ctx, m.Ref)
	if err != nil || found.Provisional {
		return Ticket{}, MergeAgain
	}
	return Survivor(found.Record, m)
}

// Survivor is the ticket of rec that m is merged into; with a result there is
// none, or none yet.
func Survivor(rec Record, m Merge) (Ticket, MergeResult) {
	switch {
	case rec.V > Format || rec.Observed:
		return Ticket{}, MergeNoSurvivor
	case rec.State == Claimed, rec.State == Doubtful:
		return Ticket{}, MergeAgain // its ticket may be the duplicate itself
	case rec.Ticket.ID == m.Duplicate.ID:
		return rec.Ticket, MergeNeedless
	case rec.State == Closed && (rec.InDoubt || rec.Update != nil):
		return Ticket{}, MergeAgain
	case !m.Ref.made(rec.Token):
		return rec.Ticket, MergeRefused
	case rec.State != Open, rec.Ticket.ID == "", m.Survivor.ID != "" && m.Survivor.ID != rec.Ticket.ID:
		return Ticket{}, MergeNoSurvivor
	}
	return rec.Ticket, ""
}

// made reports whether the token is made of the key. What a look-up by a client's
// own token finds may be the ticket of another fault.
func (r Ref) made(token string) bool {
	return token == "" || strings.HasPrefix(token, string(r.Key))
}

// readBoth says why they cannot be merged: nothing, when both are open.
func readBoth(ctx context.Context, desk MergeDesk, survivor, duplicate Ticket) MergeResult {
	switch read := desk.Read(ctx, duplicate); {
	case !read.Answered:
		return MergeAgain
	case read.Gone: // some say so to those who may not see it
		return MergeRefused
	case !read.Open:
		return MergeNeedless
	}
	switch read := desk.Read(ctx, survivor); {
	case !read.Answered:
		return MergeAgain
	case read.Gone:
		return MergeRefused
	case !read.Open:
		return MergeNoSurvivor
	}
	return ""
}
