package dedup_test

import (
	"testing"
	"time"

	"oneticket/dedup"
)

// TestATicketSystemThatIsIllForADayMakesNoEndlessRecord: every retry of it is
// one more unresolved send.
func TestATicketSystemThatIsIllForADayMakesNoEndlessRecord(t *testing.T) {
	p := &dedup.Policy{TTL: time.Hour, Remember: 24 * time.Hour, Settle: 15 * time.Second, Lease: time.Minute}
	now := time.Unix(1_800_000_000, 0)
	began := now
	var rec dedup.Record
	for i := range 1000 {
		c := claimWith(p, "p"+string(rune('0'+i)), "A")
		d := dedup.Decide(rec, c, now)
		if d.Kind != dedup.Create {
			t.Fatalf("retry %d: %s %s", i, d.Kind, d.Reason)
		}
		rec = *d.Next
		now = now.Add(time.Second)
		send := dedup.Send{Holder: rec.Holder, Episode: rec.Episode, Token: rec.Token, Fingerprint: rec.Fingerprint}
		st := dedup.Settle(rec, send, dedup.Outcome{Kind: dedup.OutcomeUnknown}, p, now)
		rec = *st.Next
		now = now.Add(p.Settle)
	}
	if len(rec.Attempts) > 20 {
		t.Errorf("the record has %d attempts", len(rec.Attempts))
	}
	first, last := rec.Attempts[0], rec.Attempts[len(rec.Attempts)-1]
	if !first.SentAt.Equal(began) || last.Number != rec.Sends {
		t.Errorf("the first was sent at %v, want %v; the last is number %d, want %d", first.SentAt, began, last.Number, rec.Sends)
	}
}
