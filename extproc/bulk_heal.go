package extproc

import (
	"context"
	"slices"
	"time"

	"oneticket/dedup"
)

// A lostOne is one create of several that has no ticket, as far as is known.
type lostOne struct {
	element *element
	hold    *dedup.Hold
	kind    dedup.OutcomeKind
}

// healMany looks for the tickets of those whose answer was lost, one after
// another, while the client waits: as long for all as for one. What is not found
// is gone on with. It reports whether any was found.
func (x *exchange) healMany(ctx context.Context, lost []lostOne) (healed bool) {
	within := x.rule.HealWithin
	end := time.Now().Add(within)
	var s *stay
	for _, l := range lost {
		one := l.element.one
		if l.kind == dedup.OutcomeUnknown && x.tell && within > 0 && one.desk != nil && one.canHeal() && time.Now().Before(end) {
			if s == nil {
				s = x.staysFor(within)
			}
			if rec, found := one.healIn(ctx, s, time.Until(end), l.hold, l.kind); found {
				healed = true
				one.server.unletter(one.sending.ref, one.sending.episode)
				one.dropped()
				l.element.give(&rec)
				continue
			}
		}
		one.followUp(l.hold, l.kind, one.canLookUp)
	}
	return healed
}

// known reports whether the answer to each create is.
func (b *bulk) known() bool {
	for _, e := range b.all {
		if e.lead().given == nil {
			return false
		}
	}
	return true
}

// recoveredMany is the answer to a request of which all tickets are there after
// all.
func (x *exchange) recoveredMany() reply {
	x.note.kind, x.note.reason = dedup.Suppress, string(dedup.Recovered)
	response := x.storedMany(x.rule)
	response.Header = slices.DeleteFunc(response.Header, func(f dedup.HeaderField) bool { return f.Name == replayedHeader })
	return x.give(response)
}
