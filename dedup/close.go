package dedup

import "time"

// CloseTicket is what the close of a ticket makes of rec: nothing (nil) unless
// rec holds that very ticket, so that a late resolution of an old episode
// cannot close the new one.
func CloseTicket(rec Record, ticketID string, p *Policy, now time.Time) *Record {
	if ticketID == "" || rec.V > Format {
		return nil
	}
	switch {
	case rec.Prior != nil: // what a refusal restores must not be open then
		prior := CloseTicket(*rec.Prior, ticketID, p, now)
		if prior == nil {
			return nil
		}
		next := rec.clone()
		next.Prior = prior
		return &next
	case rec.Ticket.ID != ticketID:
		return nil
	case rec.Update != nil && (rec.State == Closed || rec.Update.Fingerprint.Cleared):
		// A reopening is under way, and nobody knows which of the two was first;
		// or a clear, which would close what is reopened before it lands.
		next := p.closedInDoubt(rec.clone(), rec.Update.LeaseUntil.Add(p.Settle), now)
		return &next
	case rec.State == Open, rec.State == Closed && rec.InDoubt && !now.Before(rec.LandsUntil):
		next := p.closedAt(rec.clone(), now)
		return &next
	default:
		return nil
	}
}
