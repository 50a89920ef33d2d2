package dedup_test

import (
	"testing"
	"time"

	"oneticket/dedup"
)

// endedAs is what an outcome of a create makes of the row.
func endedAs(p dedup.Policy, name, holder string, o dedup.Outcome, change ...func(*dedup.Record, *dedup.Send)) string {
	r := row(&p, name)
	s := sendOf(r.rec, holder)
	for _, f := range change {
		f(&r.rec, &s)
	}
	return tellSettlement(dedup.Settle(r.rec, s, o, &p, r.now))
}

func outcome(kind dedup.OutcomeKind) dedup.Outcome {
	return dedup.Outcome{Kind: kind, Ticket: dedup.Ticket{ID: "T2"}}
}

func TestTheOutcomeOfACreate(t *testing.T) {
	t.Parallel()
	remembers := policyOf(systemNamed("remembers"), false, false, false)
	readable := policyOf(systemNamed("remembers+read"), false, false, false)
	folds := policyOf(systemNamed("folds"), false, false, false)
	created, refused, unknown := outcome(dedup.OutcomeCreated), outcome(dedup.OutcomeRefused), outcome(dedup.OutcomeUnknown)
	isNew := created
	isNew.New = true
	secondHolder := func(r *dedup.Record, _ *dedup.Send) {
		r.Attempts = []dedup.Attempt{{Holder: theHolder, Fingerprint: r.Fingerprint, Token: r.Token}}
		r.Holder = "h2"
	}
	withDoubt := func(r *dedup.Record, _ *dedup.Send) {
		r.Attempts = []dedup.Attempt{{Holder: "h0", Fingerprint: dedup.Fingerprint{Severity: "B"}, Token: r.Token}}
	}
	nextEpisode := func(r *dedup.Record, _ *dedup.Send) { r.Episode++ }
	sameTicket := func(r *dedup.Record, _ *dedup.Send) { r.Ticket.ID = "T2" }
	wasClosed := func(r *dedup.Record, _ *dedup.Send) {
		r.Prior = &dedup.Record{State: dedup.Closed, Version: 3, Episode: 4, KeepUntil: r.KeepUntil}
	}
	retried := func(_ *dedup.Record, s *dedup.Send) { s.Reason = dedup.Retried }
	checkRows(t, []promisedRow{
		{"created: open", endedAs(asking, "claimed", theHolder, created), "ok > open"},
		{"created, late, and another holds it: adopted", endedAs(asking, "claimed", theHolder, created, secondHolder), "ok > open"},
		{"created, late, of a doubtful record: adopted", endedAs(asking, "doubtful", theHolder, created), "ok > open"},
		{"created, and another ticket is open: reported", endedAs(asking, "open", theHolder, created), "ok +double"},
		{"created, and that ticket is the record's: nothing", endedAs(asking, "open", theHolder, created, sameTicket), "ok"},
		{"created, and the episode is over: reported", endedAs(asking, "claimed", theHolder, created, nextEpisode), "ok +double"},
		{"created again, and the ticket is closed: no success", endedAs(asking, "closed", theHolder, created, sameTicket, retried), "-"},
		{"created where others sent another severity, and tokens are remembered: unknown", endedAs(remembers, "claimed", theHolder, created, withDoubt), "ok > open?"},
		{"created where the key folds: unknown", endedAs(folds, "claimed", theHolder, created), "ok > open?"},
		{"created where the key folds, and it is new: known", endedAs(folds, "claimed", theHolder, isNew), "ok > open"},
		{"refused: as before", endedAs(asking, "claimed", theHolder, refused), "> none"},
		{"refused in the next episode: closed, as before", endedAs(asking, "claimed", theHolder, refused, wasClosed), "> closed"},
		{"refused, and another send is unresolved: doubtful", endedAs(asking, "claimed", theHolder, refused, withDoubt), "> doubtful"},
		{"refused, late: takes its own attempt from another's claim", endedAs(asking, "claimed", theHolder, refused, secondHolder), "> claimed"},
		{"refused, late, of a record that knows nothing of it: nothing", endedAs(asking, "claimed", "h9", refused), "-"},
		{"never sent: as before", endedAs(asking, "claimed", theHolder, outcome(dedup.OutcomeNeverSent)), "> none"},
		{"exists already: to be looked up", endedAs(asking, "claimed", theHolder, outcome(dedup.OutcomeExists)), "+dead > doubtful"},
		{"remembered: the ticket is read", endedAs(readable, "claimed", theHolder, outcome(dedup.OutcomeRemembered)), "read"},
		{"sent again to a backend that remembers: the ticket is read", endedAs(readable, "claimed", theHolder, created, retried), "read"},
		{"remembered where nothing can be read: believed", endedAs(remembers, "claimed", theHolder, outcome(dedup.OutcomeRemembered)), "ok > open"},
		{"unknown: doubtful", endedAs(asking, "claimed", theHolder, unknown), "+dead > doubtful"},
		{"unknown, and another holds it: nothing", endedAs(asking, "claimed", theHolder, unknown, secondHolder), "+dead"},
	})
}

func TestARememberedTicketIsReadBeforeItIsBelieved(t *testing.T) {
	t.Parallel()
	p := policyOf(systemNamed("remembers+read"), false, false, false)
	told := func(name, holder string, result dedup.ReadResult) string {
		r := row(&p, name)
		return tellSettlement(dedup.AfterRememberedRead(r.rec, sendOf(r.rec, holder), outcome(dedup.OutcomeRemembered), result, &p, r.now))
	}
	checkRows(t, []promisedRow{
		{"open: created, but with whose severity", told("claimed", theHolder, dedup.ReadResult{Answered: true, Open: true}), "ok > open?"},
		{"closed: no success, the next episode", told("claimed", theHolder, dedup.ReadResult{Answered: true}), "again > closed"},
		{"no answer: in doubt, so that the next claim reads it", told("claimed", theHolder, dedup.ReadResult{}), "+dead > closed?"},
		{"no answer, and another holds the record: reported", told("claimed", "h9", dedup.ReadResult{}), "+double +dead"},
	})
}

func TestTheOutcomeOfAnUpdate(t *testing.T) {
	t.Parallel()
	ended := func(p dedup.Policy, name string, o dedup.UpdateOutcome, change ...func(*dedup.Record)) string {
		r := row(&p, name)
		ch := changeOf(r.rec, r.now)
		for _, f := range change {
			f(&r.rec)
		}
		return tellSettlement(dedup.SettleUpdate(r.rec, ch, o, &p, r.now))
	}
	is := func(kind dedup.UpdateKind) dedup.UpdateOutcome { return dedup.UpdateOutcome{Kind: kind} }
	refused := func(read dedup.ReadResult, mine bool) dedup.UpdateOutcome {
		return dedup.UpdateOutcome{Kind: dedup.UpdateRefused, Ticket: read, Mine: mine}
	}
	landing := func(r *dedup.Record) { r.LandsUntil = at(1001) }
	anothers := func(r *dedup.Record) { u := *r.Update; u.Holder = "h9"; r.Update = &u }
	closedMeanwhile := func(r *dedup.Record) { r.State, r.Update = dedup.Closed, nil }
	nextEpisode := func(r *dedup.Record) { r.Episode++; r.Ticket.ID = "T9" }
	isOpen, isClosed, isGone := dedup.ReadResult{Answered: true, Open: true}, dedup.ReadResult{Answered: true}, dedup.ReadResult{Answered: true, Gone: true}
	stays := dedup.UpdateOutcome{Kind: dedup.UpdateApplied, Stays: true}
	checkRows(t, []promisedRow{
		{"2xx: open with the new severity", ended(asking, "open, updating", is(dedup.UpdateApplied)), "ok > open"},
		{"2xx of a clear: closed", ended(asking, "open, clearing", is(dedup.UpdateApplied)), "ok > closed"},
		{"2xx of a clear that leaves the ticket open: open", ended(asking, "open, clearing", stays), "ok > open"},
		{"2xx of a reopening: open", ended(asking, "closed, reopening", is(dedup.UpdateApplied)), "ok > open"},
		{"2xx while an earlier one may land: unknown", ended(asking, "open, updating", is(dedup.UpdateApplied), landing), "ok > open?"},
		{"2xx, but closed meanwhile: no success", ended(asking, "open, updating", is(dedup.UpdateApplied), closedMeanwhile), "-"},
		{"2xx, but of another episode: no success", ended(asking, "open, updating", is(dedup.UpdateApplied), nextEpisode), "-"},
		{"2xx, but another's claim: nothing is written", ended(asking, "open, updating", is(dedup.UpdateApplied), anothers), "ok"},
		{"404, 410: closed and gone, decided again", ended(asking, "open, updating", is(dedup.UpdateGone)), "again > closed gone"},
		{"refused, and the ticket is closed: closed", ended(asking, "open, updating", refused(isClosed, false)), "again > closed"},
		{"refused, and the ticket is gone: closed and gone", ended(asking, "open, updating", refused(isGone, false)), "again > closed gone"},
		{"a reopening refused, and the ticket is closed: never reopened", ended(asking, "closed, reopening", refused(isClosed, false)), "again > closed gone"},
		{"a reopening refused to this caller, who may not read either: never reopened", ended(asking, "closed, reopening", refused(dedup.ReadResult{}, true)), "again > closed gone"},
		{"refused, and the ticket is open: the old severity", ended(asking, "open, updating", refused(isOpen, false)), "failed > open"},
		{"refused to this caller, who may not read either: the old severity", ended(asking, "open, updating", refused(dedup.ReadResult{}, true)), "failed > open"},
		{"refused, and it cannot be read: in doubt", ended(asking, "open, updating", refused(dedup.ReadResult{}, false)), "> closed?"},
		{"not sent, or 429: the old severity", ended(asking, "open, updating", is(dedup.UpdateNotSent)), "> open"},
		{"a reopening not sent: closed", ended(asking, "closed, reopening", is(dedup.UpdateNotSent)), "> closed"},
		{"unknown: unknown", ended(asking, "open, updating", is(dedup.UpdateUnknown)), "> open?"},
		{"unknown, of a clear: in doubt", ended(asking, "open, clearing", is(dedup.UpdateUnknown)), "> closed?"},
		{"unknown, of a reopening: in doubt", ended(asking, "closed, reopening", is(dedup.UpdateUnknown)), "> closed?"},
	})
}

func TestARefusedUpdateOfAWorseSeverityIsSentOnOnce(t *testing.T) {
	t.Parallel()
	on := func(name, severity string, change ...func(*dedup.Record)) string {
		r := row(&asking, name)
		for _, f := range change {
			f(&r.rec)
		}
		return tellDecision(dedup.Escalate(r.rec, claimWith(&asking, "h2", severity), r.now))
	}
	worst := func(r *dedup.Record) { r.Fingerprint.Severity = "B" }
	checkRows(t, []promisedRow{
		{"worse: the next episode, the old ticket reported", on("open", "B"), "create update_failed +double > claimed"},
		{"not worse: answered from the record", on("open", "A", worst), "suppress refire"},
		{"a severity that the map lacks: answered from the record", on("open", "X"), "suppress refire"},
		{"the new episode has it: answered from the record", on("open", "B", worst), "suppress refire"},
		{"closed meanwhile: decided again", on("closed", "B"), "again"},
		{"another update runs: decided again", on("open, updating", "B"), "again"},
	})
}

func TestACloseNamesATicket(t *testing.T) {
	t.Parallel()
	after := func(name, ticket string, change ...func(*dedup.Record)) string {
		r := row(&asking, name)
		for _, f := range change {
			f(&r.rec)
		}
		next := dedup.CloseTicket(r.rec, ticket, &asking, r.now)
		switch {
		case next == nil:
			return "-"
		case next.Prior != nil:
			return "> " + tellState(*next) + ", and before that " + tellState(*next.Prior)
		default:
			return "> " + tellState(*next)
		}
	}
	escalated := func(r *dedup.Record) {
		open := row(&asking, "open").rec
		r.Prior = &open
	}
	checkRows(t, []promisedRow{
		{"of its ticket: closed", after("open", "T1"), "> closed"},
		{"of another ticket: nothing", after("open", "T9"), "-"},
		{"of no ticket: nothing", after("none", ""), "-"},
		{"while an update runs: closed", after("open, updating", "T1"), "> closed"},
		{"while a clear runs: in doubt until it has landed", after("open, clearing", "T1"), "> closed?"},
		{"while a reopening runs: in doubt", after("closed, reopening", "T1"), "> closed?"},
		{"in doubt and settled: closed for certain", after("closed?", "T1"), "> closed"},
		{"of the ticket that a refusal would restore: not restored as open", after("claimed", "T1", escalated), "> claimed, and before that closed"},
	})
}

func TestACheckIsWrittenAfterTheAnswer(t *testing.T) {
	t.Parallel()
	r := row(&asking, "open, check due")
	c := claimWith(&asking, "h2", "A")
	d := dedup.AfterRead(r.rec, c, dedup.ReadResult{Answered: true, Open: true}, r.now)
	if !d.Next.VerifiedAt.Equal(r.now) || !d.Next.OpenedAt.Equal(r.now) {
		t.Errorf("verified %v, opened %v, want %v for both: the check starts max_age anew", d.Next.VerifiedAt, d.Next.OpenedAt, r.now)
	}
	if d := dedup.Decide(*d.Next, c, r.now); d.Kind != dedup.Suppress {
		t.Errorf("the next re-fire reads again: %s", d.Kind)
	}
	unread := dedup.AfterRead(r.rec, c, dedup.ReadResult{}, r.now)
	if unread.Kind != dedup.Suppress || !unread.Next.VerifiedAt.Equal(r.rec.VerifiedAt) {
		t.Errorf("no answer: %s, checked %v", unread.Kind, unread.Next.VerifiedAt)
	}
}

func TestTheLifeOfAnOpenRecord(t *testing.T) {
	t.Parallel()
	p := with(blind, func(p *dedup.Policy) { p.TTL, p.MaxAge = 160*time.Second, 400*time.Second })
	open := row(&p, "open")
	extended := func(after int) time.Duration {
		d := dedup.Decide(open.rec, claimWith(&p, "h2", "A"), open.now.Add(time.Duration(after)*time.Second))
		if d.Next == nil {
			return 0
		}
		return d.Next.ExpiresAt.Sub(open.rec.ExpiresAt)
	}
	for after, want := range map[int]time.Duration{5: 0, 20: 20 * time.Second, 150: 150 * time.Second} {
		if got := extended(after); got != want {
			t.Errorf("a re-fire after %d s extends the life by %v, want %v", after, got, want)
		}
	}
	open.rec.OpenedAt = open.now.Add(-300 * time.Second)
	if got := extended(20); got != 0 {
		t.Errorf("a re-fire extends the life beyond max_age, by %v", got)
	}
}
