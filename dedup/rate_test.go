package dedup_test

import (
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
)

// paced is an open record of severity B, of which so many updates were sent in
// the last seconds, and a policy of three a minute that ranks A, B and D, the
// last the worst.
func pacedAt(ages ...int) (dedup.Record, dedup.Policy, time.Time) {
	p := with(asking, func(p *dedup.Policy) {
		p.UpdateRate = dedup.UpdateRate{Count: 3, Per: time.Minute}
		p.Severities = map[string]int{"A": 1, "B": 2, "D": 3}
	})
	r := row(&p, "open")
	r.rec.Fingerprint.Severity = "B"
	for _, age := range ages {
		r.rec.UpdatedAt = append(r.rec.UpdatedAt, r.now.Add(-time.Duration(age)*time.Second))
	}
	return r.rec, p, r.now
}

func TestTheRateOfUpdates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ages     []int
		severity string
		want     string
		paced    bool
		change   func(*dedup.Policy)
	}{
		"under the rate":                    {ages: []int{30, 20}, severity: "A", want: "update changed > open/updating"},
		"at the rate, lesser":               {ages: []int{30, 20, 10}, severity: "A", want: "suppress changed", paced: true},
		"at the rate, worse":                {ages: []int{30, 20, 10}, severity: "D", want: "update changed > open/updating"},
		"at the rate, unranked":             {ages: []int{30, 20, 10}, severity: "X", want: "busy", paced: true},
		"at the rate, over":                 {ages: []int{30, 20, 10}, severity: "C", want: "update changed > open/clearing"},
		"at the rate, the same":             {ages: []int{30, 20, 10}, severity: "B", want: "suppress refire"},
		"the first of them is a minute ago": {ages: []int{60, 20, 10}, severity: "A", want: "update changed > open/updating"},
		"more than the rate, worse ones":    {ages: []int{59, 50, 40, 30, 20}, severity: "A", want: "suppress changed", paced: true},
		"without a rate":                    {ages: []int{3, 2, 1}, severity: "A", want: "update changed > open/updating", change: func(p *dedup.Policy) { p.UpdateRate = dedup.UpdateRate{} }},
		"and the ticket is to be read":      {ages: []int{30, 20, 10}, severity: "A", want: "read", paced: true, change: func(p *dedup.Policy) { p.VerifyEvery = time.Nanosecond }},
	} {
		t.Run(name, func(t *testing.T) {
			rec, p, now := pacedAt(c.ages...)
			if c.change != nil {
				c.change(&p)
				rec.VerifiedAt = now.Add(-time.Second)
			}
			d := dedup.Decide(rec, claimWith(&p, "h2", c.severity), now)
			if got := tellDecision(d); got != c.want || d.Paced != c.paced {
				t.Errorf("%s, paced %v; want %s, %v", got, d.Paced, c.want, c.paced)
			}
			if d.Kind == dedup.Busy && !d.Until.Equal(now.Add(30*time.Second)) {
				t.Errorf("it may come again at %v, want in 30 s", d.Until.Sub(now))
			}
		})
	}
}

// What is held back is not written as done, so that it is tried again.
func TestAPacedChangeIsTriedAgain(t *testing.T) {
	t.Parallel()
	rec, p, now := pacedAt(30, 20, 10)
	if d := dedup.Decide(rec, claimWith(&p, "h2", "A"), now); d.Next != nil && d.Next.Fingerprint != rec.Fingerprint {
		t.Fatalf("the record says %v", d.Next.Fingerprint)
	}
	later := now.Add(30 * time.Second)
	d := dedup.Decide(rec, claimWith(&p, "h2", "A"), later)
	if got := tellDecision(d); got != "update changed > open/updating" {
		t.Fatalf("later: %s", got)
	}
	if got := len(d.Next.UpdatedAt); got != 3 || !d.Next.UpdatedAt[2].Equal(later) {
		t.Errorf("it keeps %v", d.Next.UpdatedAt)
	}
}

// TestNoSpanHasMoreUpdatesThanTheRate: a fault that goes up and down all the
// time sends, beside what got worse, no more than the rate in any span.
func TestNoSpanHasMoreUpdatesThanTheRate(t *testing.T) {
	t.Parallel()
	for _, rate := range []dedup.UpdateRate{{Count: 6, Per: time.Minute}, {Count: 1, Per: time.Second}, {Count: 600, Per: time.Hour}} {
		rec, p, now := pacedAt()
		p.UpdateRate, p.Severities = rate, map[string]int{"A": 1, "B": 1, "D": 1} // none is worse
		p.TTL, p.MaxAge = 24*time.Hour, 0
		rec.ExpiresAt = now.Add(p.TTL)
		var sent []time.Time
		for i := range 20_000 {
			now = now.Add(170 * time.Millisecond)
			d := dedup.Decide(rec, claimWith(&p, "h", strings.Split("A B D", " ")[i%3]), now)
			if d.Kind == dedup.Update {
				sent = append(sent, now)
				ch := dedup.Change{Holder: "h", Episode: rec.Episode, Ticket: rec.Ticket, Fingerprint: d.Next.Update.Fingerprint, At: now}
				rec = *dedup.SettleUpdate(*d.Next, ch, dedup.UpdateOutcome{Kind: dedup.UpdateApplied}, &p, now).Next
			}
		}
		for i := rate.Count; i < len(sent); i++ {
			if span := sent[i].Sub(sent[i-rate.Count]); span < rate.Per {
				t.Fatalf("%v: %d updates within %v", rate, rate.Count+1, span)
			}
		}
		least := int(20_000 * 170 * time.Millisecond / rate.Per * time.Duration(rate.Count) * 9 / 10)
		if len(sent) < min(least, 600) {
			t.Errorf("%v: %d updates in %v", rate, len(sent), 20_000*170*time.Millisecond)
		}
		if len(rec.UpdatedAt) > 60 {
			t.Errorf("the record keeps %d times", len(rec.UpdatedAt))
		}
	}
}

func TestAChangeThatTheRuleSuppresses(t *testing.T) {
	t.Parallel()
	p := with(asking, func(p *dedup.Policy) { p.OnUpdateSuppress = true })
	checkRows(t, []promisedRow{
		{"another severity: answered, not sent", tellDecision(decideOn(p, "open", "B")), "suppress changed"},
		{"the same: a re-fire", tellDecision(decideOn(p, "open", "A")), "suppress refire"},
		{"another severity, and the ticket is to be read first", tellDecision(decideOn(p, "open, check due", "B")), "read"},
		{"a clear: sent", tellDecision(decideOn(p, "open", "C")), "update changed > open/clearing"},
		{"back within reopen_within: opened again", tellDecision(decideOn(p, "closed lately", "B")), "update reopened > closed/reopening"},
	})
	without := with(p, func(p *dedup.Policy) { p.CanUpdate = false })
	if got := decideOn(without, "open", "B"); got.NoCall || got.Kind != dedup.Suppress {
		t.Errorf("no update in the preset: %s, missed %v", got.Kind, got.NoCall)
	}
	r := row(&asking, "open, check due")
	read := dedup.AfterRead(r.rec, claimWith(&p, "h2", "B"), dedup.ReadResult{Answered: true, Open: true}, r.now)
	if d := dedup.Decide(*read.Next, claimWith(&p, "h2", "B"), r.now); tellDecision(d) != "suppress changed" {
		t.Errorf("read and open: %s", tellDecision(d))
	}
}

func decideOn(p dedup.Policy, name, severity string) dedup.Decision {
	r := row(&asking, name)
	return dedup.Decide(r.rec, claimWith(&p, "h2", severity), r.now)
}
