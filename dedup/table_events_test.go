package dedup_test

import (
	"strings"

	"oneticket/dedup"
)

// fires is a claim of somebody else than the holder.
func fires(name, severity string) stateEvent {
	return stateEvent{name, func(p *dedup.Policy, r stateRow) string {
		return tellDecision(dedup.Decide(r.rec, claimWith(p, "h2", severity), r.now))
	}}
}

// createEvents are outcomes of the holder's own create, but "late": of another
// one in the same episode.
func createEvents() []stateEvent {
	outcome := func(name, holder string, o dedup.Outcome) stateEvent {
		return stateEvent{name, func(p *dedup.Policy, r stateRow) string {
			return tellSettlement(dedup.Settle(r.rec, sendOf(r.rec, holder), o, p, r.now))
		}}
	}
	other := dedup.Ticket{ID: "T2"}
	return []stateEvent{
		outcome("created", theHolder, dedup.Outcome{Kind: dedup.OutcomeCreated, Ticket: other}),
		outcome("created late", "h0", dedup.Outcome{Kind: dedup.OutcomeCreated, Ticket: other}),
		outcome("refused, never sent", theHolder, dedup.Outcome{Kind: dedup.OutcomeRefused}),
		outcome("unknown, exists", theHolder, dedup.Outcome{Kind: dedup.OutcomeUnknown}),
		outcome("remembered", theHolder, dedup.Outcome{Kind: dedup.OutcomeRemembered, Ticket: other}),
		{"its ticket is closed", func(p *dedup.Policy, r stateRow) string {
			o := dedup.Outcome{Kind: dedup.OutcomeRemembered, Ticket: other}
			return tellSettlement(dedup.AfterRememberedRead(r.rec, sendOf(r.rec, theHolder), o, dedup.ReadResult{Answered: true}, p, r.now))
		}},
	}
}

func updateEvents() []stateEvent {
	outcome := func(name string, o dedup.UpdateOutcome) stateEvent {
		return stateEvent{name, func(p *dedup.Policy, r stateRow) string {
			return tellSettlement(dedup.SettleUpdate(r.rec, changeOf(r.rec, r.now), o, p, r.now))
		}}
	}
	return []stateEvent{
		outcome("applied", dedup.UpdateOutcome{Kind: dedup.UpdateApplied}),
		outcome("gone", dedup.UpdateOutcome{Kind: dedup.UpdateGone}),
		outcome("refused, open", dedup.UpdateOutcome{Kind: dedup.UpdateRefused, Ticket: dedup.ReadResult{Answered: true, Open: true}}),
		outcome("refused, closed", dedup.UpdateOutcome{Kind: dedup.UpdateRefused, Ticket: dedup.ReadResult{Answered: true}}),
		outcome("refused, unread", dedup.UpdateOutcome{Kind: dedup.UpdateRefused}),
		outcome("not sent", dedup.UpdateOutcome{Kind: dedup.UpdateNotSent}),
		outcome("unknown", dedup.UpdateOutcome{Kind: dedup.UpdateUnknown}),
	}
}

func closeEvents() []stateEvent {
	event := func(name, ticket string) stateEvent {
		return stateEvent{name, func(p *dedup.Policy, r stateRow) string {
			next := dedup.CloseTicket(r.rec, ticket, p, r.now)
			if next == nil {
				return "-"
			}
			return "> " + tellState(*next)
		}}
	}
	return []stateEvent{event("its ticket", "T1"), event("another", "T9")}
}

func lookUpEvents() []stateEvent {
	event := func(name string, result dedup.LookUpResult) stateEvent {
		return stateEvent{name, func(p *dedup.Policy, r stateRow) string {
			for i := range result.Tickets {
				result.Tickets[i].Created = r.now
			}
			return tellDecision(dedup.AfterLookUp(r.rec, claimWith(p, theHolder, "A"), result, r.now))
		}}
	}
	found := func(open bool) dedup.LookUpResult {
		return dedup.LookUpResult{Answered: true, Tickets: []dedup.FoundTicket{{Ticket: dedup.Ticket{ID: "T2"}, Open: open}}}
	}
	return []stateEvent{
		event("found open", found(true)), event("found closed", found(false)),
		event("absent", dedup.LookUpResult{Answered: true}), event("no answer", dedup.LookUpResult{}),
		event("no turn yet", dedup.LookUpResult{Later: true}),
	}
}

func readEvents() []stateEvent {
	event := func(name string, result dedup.ReadResult) stateEvent {
		return stateEvent{name, func(p *dedup.Policy, r stateRow) string {
			return tellDecision(dedup.AfterRead(r.rec, claimWith(p, "h2", "A"), result, r.now))
		}}
	}
	return []stateEvent{
		event("open", dedup.ReadResult{Answered: true, Open: true}), event("closed", dedup.ReadResult{Answered: true}),
		event("gone", dedup.ReadResult{Answered: true, Gone: true}), event("no answer", dedup.ReadResult{}),
	}
}

// tellDecision is a cell: the decision, its reason, and the state then.
func tellDecision(d dedup.Decision) string {
	words := []string{string(d.Kind)}
	if r := string(d.Reason); r != "" && r != string(d.Kind) {
		words = append(words, r)
	}
	if len(d.Duplicates) > 0 || d.Uncertain != "" {
		words = append(words, "+double")
	}
	if d.DeadLetter {
		words = append(words, "+dead")
	}
	if d.Next != nil {
		words = append(words, "> "+tellState(*d.Next))
	}
	return strings.Join(words, " ")
}

func tellSettlement(st dedup.Settlement) string {
	var words []string
	for _, w := range []struct {
		is   bool
		word string
	}{
		{st.Success, "ok"},
		{st.Again, "again"},
		{st.Failed, "failed"},
		{st.Read, "read"},
		{len(st.Duplicates) > 0, "+double"},
		{st.DeadLetter, "+dead"},
	} {
		if w.is {
			words = append(words, w.word)
		}
	}
	if st.Next != nil {
		words = append(words, "> "+tellState(*st.Next))
	}
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, " ")
}

// tellState names a record: "?" is in doubt, or a fingerprint that is unknown.
func tellState(rec dedup.Record) string {
	s := string(rec.State)
	switch {
	case rec.Looking:
		s = "looking"
	case rec.State == dedup.Closed && rec.InDoubt, rec.State == dedup.Open && !rec.Fingerprint.Known():
		s += "?"
	case rec.Gone:
		s += " gone"
	}
	switch u := rec.Update; {
	case u == nil:
	case u.Fingerprint.Cleared:
		s += "/clearing"
	case u.Reopening:
		s += "/reopening"
	default:
		s += "/updating"
	}
	return s
}
