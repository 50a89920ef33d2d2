package config

import "oneticket/dedup"

// What the expressions of a merge may name: there is no request of a client.
var mergeRoots = []string{"base", "host", "survivor", "ticket"}

var mergeMembers = append([]string{"success", "when", "refused"}, callMembers...)

// readMerges reads how a double is merged: closed, or linked to the ticket that
// stays.
func (l *loader) readMerges(from layers, c *compiler, k *calls) {
	for _, one := range []struct {
		name string
		to   **update
	}{{"merge_close", &k.mergeClose}, {"merge_link", &k.mergeLink}} {
		if !hasCall(from, one.name) {
			continue
		}
		s, over := l.shape(from, one.name, mergeMembers...), c.seeing(answerRoots)
		*one.to = &update{
			call:    l.call(s, c.seeing(mergeRoots), "POST", nil),
			success: s.statusMember("success", "2xx"),
			when:    s.expression("when", over), refused: s.expression("refused", over),
		}
	}
}

// merge is the call that the rule's merge asks for; nil where it has none.
func (r *Rule) merge() *update {
	switch r.Merge {
	case "close":
		return r.calls.mergeClose
	case "link":
		return r.calls.mergeLink
	}
	return nil
}

// Merges reports whether doubles can be merged: the rule wants it and says how,
// tickets can be read, and there are credentials that are nobody's else.
func (r *Rule) Merges() bool {
	return r.merge() != nil && r.calls.read != nil && len(r.Backend.Credentials) > 0
}

// MergeCall is the request that merges the ticket into the one that stays. It is
// false where the rule has none.
func (r *Rule) MergeCall(survivor, ticket dedup.Ticket) (dedup.Call, bool) {
	u := r.merge()
	if u == nil || survivor.ID == "" || ticket.ID == "" {
		return dedup.Call{}, false
	}
	return u.call.make(r.callInput(nil, map[string]dedup.Value{"survivor": ticketValue(survivor), "ticket": ticketValue(ticket)}))
}

// MergeAnswer says what became of a MergeCall by its answer. Both tickets were
// there when they were read, so a 404 is about the call.
func (r *Rule) MergeAnswer(a *dedup.Answer) dedup.UpdateKind {
	u := r.merge()
	switch {
	case a == nil || u == nil:
		return dedup.UpdateUnknown
	case u.success.has(a.Status):
		return u.succeeded(&input{answer: a}, dedup.Fingerprint{}).Kind
	}
	return updateFailure(a)
}
