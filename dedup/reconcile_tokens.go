package dedup

import "slices"

// own is the ticket of the shared record after the reconciliation.
func (rec *Reconciliation) own(shared Record) string {
	if rec.Next != nil {
		return rec.Next.Ticket.ID
	}
	return shared.Ticket.ID
}

// hasSend reports whether the record knows of a send of the other: it was moved
// here before.
func (r *Record) hasSend(other Record) bool {
	if r.State == None || r.Token != other.Token {
		return false
	}
	if r.State == Claimed && slices.ContainsFunc(other.Attempts, func(b Attempt) bool { return r.Holder == b.Holder }) {
		return true
	}
	return slices.ContainsFunc(r.Attempts, func(a Attempt) bool {
		return a.Holder != "" && slices.ContainsFunc(other.Attempts, func(b Attempt) bool { return a.Holder == b.Holder })
	})
}

func onlyOpen(found []FoundTicket) []FoundTicket {
	return slices.DeleteFunc(slices.Clone(found), func(t FoundTicket) bool { return !t.Open })
}

// others are the found tickets but those with the ids.
func others(found []FoundTicket, ids ...string) []Ticket {
	var all []Ticket
	for _, t := range found {
		if !slices.Contains(ids, t.Ticket.ID) {
			all = append(all, t.Ticket)
		}
	}
	return all
}

// tokens are the local record's, unless the shared one speaks of the same.
func tokens(local, shared Record) []string {
	all := attemptTokens(local, shared)
	if local.Token != shared.Token && !slices.Contains(all, local.Token) {
		all = append(all, local.Token)
	}
	return all
}

// attemptTokens are those of the local sends without an outcome.
func attemptTokens(local, shared Record) []string {
	var all []string
	for _, a := range local.Attempts {
		if a.Token != shared.Token && !slices.Contains(all, a.Token) {
			all = append(all, a.Token)
		}
	}
	return all
}
