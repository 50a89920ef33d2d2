package dedup_test

import (
	"testing"
	"time"

	"oneticket/dedup"
)

// A row of what was promised, in our own words, and what the functions make of it.
type promisedRow struct {
	says string
	got  string
	want string
}

func checkRows(t *testing.T, rows []promisedRow) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.says, func(t *testing.T) {
			if r.got != r.want {
				t.Errorf("got %q, want %q", r.got, r.want)
			}
		})
	}
}

// asking and blind are the policies of the rows: with everything, and with nothing.
var (
	asking = policyOf(systemNamed("look"), false, true, true)
	blind  = policyOf(systemNamed("nothing"), false, false, false)
)

func row(p *dedup.Policy, name string) stateRow {
	for _, r := range rowsOf(p) {
		if r.name == name {
			return r
		}
	}
	panic("no row " + name)
}

// claimOn is what a claim finds in the row.
func claimOn(p dedup.Policy, name, severity string, change ...func(*dedup.Claim)) string {
	r := row(&p, name)
	c := claimWith(&p, "h2", severity)
	for _, f := range change {
		f(&c)
	}
	return tellDecision(dedup.Decide(r.rec, c, r.now))
}

func with(p dedup.Policy, change func(*dedup.Policy)) dedup.Policy {
	change(&p)
	return p
}

func TestWhatAClaimFinds(t *testing.T) {
	t.Parallel()
	forwarding := with(asking, func(p *dedup.Policy) { p.OnRefireForward = true })
	folding := with(forwarding, func(p *dedup.Policy) { p.VerifyEvery = 0 })
	folds := with(asking, func(p *dedup.Policy) { p.Memory = dedup.Folds })
	unfolded := func(c *dedup.Claim) { c.Fault.Unfolded = true }
	provisional := with(blind, func(p *dedup.Policy) { p.Provisional = true })
	waited := func(c *dedup.Claim) { c.Waited = true }
	verified := func(c *dedup.Claim) { c.Verified = true }
	own := func(c *dedup.Claim) { c.Holder = theHolder }
	metFirst := func(c *dedup.Claim) { c.Waited, c.Met = true, 1 }
	open := row(&folding, "open")
	forwarded := dedup.Decide(open.rec, claimWith(&folding, "h2", "A"), open.now)
	none := dedup.Decide(dedup.Record{}, claimWith(&provisional, "h2", "A"), at(0))
	second := row(&asking, "open")
	second.rec.Episode = 2
	late := claimWith(&asking, "h2", "C")
	metFirst(&late)
	forgotten := row(&asking, "doubtful")
	checkRows(t, []promisedRow{
		{"no record and a clear: sent on untouched", claimOn(asking, "none", "C"), "pass unmatched_clear"},
		{"no record: the first create", claimOn(asking, "none", "A"), "create first > claimed"},
		{"an open record whose life is over, a clear: update", claimOn(asking, "open, expired", "C"), "update changed > open/clearing"},
		{"an open record whose life is over: the next create", claimOn(asking, "open, expired", "A"), "create expired > claimed"},
		{"closed, a clear: answered", claimOn(asking, "closed", "C"), "suppress cleared"},
		{"closed in doubt, a clear: the update once more", claimOn(asking, "closed?", "C"), "update changed > closed?/clearing"},
		{"closed with a send unresolved: its token is looked up first", claimOn(asking, "closed, attempts", "A"), "lookup > looking"},
		{"closed with a send unresolved and nobody to ask: the next create", claimOn(blind, "closed, attempts", "A"), "create closed +double > claimed"},
		{"closed in doubt and it may still land: busy", claimOn(asking, "closed?, may land", "A"), "busy"},
		{"closed in doubt, settled: the ticket is read", claimOn(asking, "closed?", "A"), "read"},
		{"closed in doubt and not to be read: the next create, the old ticket reported", claimOn(blind, "closed?", "A"), "create closed +double > claimed"},
		{"a reopening runs: wait", claimOn(asking, "closed, reopening", "A"), "wait"},
		{"a reopening runs, a clear: wait", claimOn(asking, "closed, reopening", "C"), "wait"},
		{"closed a short while ago: reopened", claimOn(asking, "closed lately", "A"), "update reopened > closed/reopening"},
		{"closed and gone: never reopened", claimOn(asking, "closed, gone", "A"), "create closed > claimed"},
		{"closed otherwise: the next create", claimOn(asking, "closed", "A"), "create closed > claimed"},
		{"somebody is creating: wait", claimOn(asking, "claimed", "A"), "wait"},
		{"I am creating: go on", claimOn(asking, "claimed", "A", own), "create first"},
		{"I am looking it up: go on with that", claimOn(asking, "looking", "A", own), "lookup"},
		{"a lease is over: look the token up", claimOn(asking, "claimed, lease over", "B"), "lookup > looking"},
		{"doubtful: look the token up", claimOn(asking, "doubtful", "A"), "lookup > looking"},
		{"doubtful, a clear: look the token up", claimOn(asking, "doubtful", "C"), "lookup > looking"},
		{"doubtful, a clear and nobody to ask: untouched, the dead letter kept", claimOn(blind, "doubtful", "C"), "pass unmatched_clear +dead > closed?"},
		{"doubtful and nobody to ask: busy until settle", claimOn(blind, "doubtful", "A"), "busy"},
		{"doubtful where the backend folds: sent again at once", claimOn(folds, "doubtful", "A"), "create retried > claimed"},
		{"a lease is over where the backend folds: sent again at once", claimOn(folds, "claimed, lease over", "B"), "create retried > claimed"},
		{"doubtful where the backend folds, but not by this create: look the token up", claimOn(folds, "doubtful", "A", unfolded), "lookup > looking"},
		{"doubtful where the backend folds, a clear: look the token up", claimOn(folds, "doubtful", "C"), "lookup > looking"},
		{"doubtful, settled and nobody to ask: sent again", claimOn(blind, "doubtful, settled", "A"), "create retried > claimed"},
		{"open, the same again: answered", claimOn(asking, "open", "A"), "suppress refire"},
		{"open, the same again where the backend counts repeats: sent on", tellForwarded(forwarded), "suppress refire forwarded"},
		{"open, it waited for the winner: answered", claimOn(asking, "open", "A", waited), "suppress race"},
		{"open, the ticket was read for it: answered", claimOn(asking, "open", "A", verified), "suppress verified"},
		{"open, the check is due: the ticket is read", claimOn(asking, "open, check due", "A"), "read"},
		{"open, the same while another severity is updated: answered", claimOn(asking, "open, updating", "A"), "suppress refire"},
		{"open, another severity: update", claimOn(asking, "open", "B"), "update changed > open/updating"},
		{"open, another severity while an update runs: wait", claimOn(asking, "open, updating", "B"), "wait"},
		{"open, the same while a clear runs: wait", claimOn(asking, "open, clearing", "A"), "wait"},
		{"an update whose lease is over: unknown, decide again", claimOn(asking, "open, update over", "A"), "again > open?"},
		{"a clear whose lease is over: in doubt, decide again", claimOn(asking, "open, clear over", "A"), "again > closed?"},
		{"a reopening whose lease is over: in doubt, decide again", claimOn(asking, "closed, reopen over", "A"), "again > closed?"},
		{"made in observe: as none", claimOn(asking, "observed", "A"), "create first > claimed"},
		{"of a newer format: untouched", claimOn(asking, "newer", "A"), "pass"},
		{"the shared store is away: provisional", tellDecision(none), "create store_down > claimed"},
		{"a clear that waited and woke in the next episode: answered", tellDecision(dedup.Decide(second.rec, late, second.now)), "suppress cleared"},
		{"its memory is over: as none, the token that never got an answer reported", tellDecision(dedup.Decide(forgotten.rec, claimWith(&asking, "h2", "A"), forgotten.rec.KeepUntil)), "create first +double > claimed"},
	})
}

func tellForwarded(d dedup.Decision) string {
	s := tellDecision(d)
	if d.Forward {
		s += " forwarded"
	}
	return s
}

func TestTheFingerprintOfADowngrade(t *testing.T) {
	t.Parallel()
	ignoring := with(asking, func(p *dedup.Policy) { p.DowngradeIgnore = true })
	noUpdate := with(asking, func(p *dedup.Policy) { p.CanUpdate = false })
	open := row(&ignoring, "open")
	open.rec.Fingerprint.Severity = "B"
	on := func(p *dedup.Policy, severity string) string {
		return tellDecision(dedup.Decide(open.rec, claimWith(p, "h2", severity), open.now))
	}
	checkRows(t, []promisedRow{
		{"a lower severity is a change", on(&asking, "A"), "update changed > open/updating"},
		{"a lower severity is ignored where the rule says so", on(&ignoring, "A"), "suppress refire"},
		{"a severity that the map lacks is a change there too", on(&ignoring, "X"), "update changed > open/updating"},
		{"a clear is never a downgrade", on(&ignoring, "C"), "update changed > open/clearing"},
		{"a request without a severity changes nothing", on(&asking, dedup.NoSeverity), "suppress refire"},
		{"no update in the preset: said, and not sent", on(&noUpdate, "A"), "update changed"},
	})
}

// lookedUp is what a look-up says under the claim that asked.
func lookedUp(p dedup.Policy, name, severity string, result dedup.LookUpResult, change ...func(*dedup.Record)) string {
	r := row(&p, name)
	for _, f := range change {
		f(&r.rec)
	}
	for i := range result.Tickets {
		if result.Tickets[i].Created.IsZero() {
			result.Tickets[i].Created = r.now
		}
	}
	return tellDecision(dedup.AfterLookUp(r.rec, claimWith(&p, theHolder, severity), result, r.now))
}

func tickets(all ...dedup.FoundTicket) dedup.LookUpResult {
	return dedup.LookUpResult{Answered: true, Tickets: all}
}

func TestWhatALookUpSays(t *testing.T) {
	t.Parallel()
	open := dedup.FoundTicket{Ticket: dedup.Ticket{ID: "T2"}, Open: true}
	closed := dedup.FoundTicket{Ticket: dedup.Ticket{ID: "T3"}}
	older := dedup.FoundTicket{Ticket: dedup.Ticket{ID: "T4"}, Created: at(0)}
	elder := dedup.FoundTicket{Ticket: dedup.Ticket{ID: "T5"}, Open: true, Created: at(900)}
	unsent := func(r *dedup.Record) { r.Attempts[0].Sent = false }
	differing := func(r *dedup.Record) {
		other := r.Attempts[0]
		other.Fingerprint.Severity = "B"
		r.Attempts = append(r.Attempts, other)
	}
	existed := func(r *dedup.Record) { r.Attempts[0].Fingerprint = dedup.Unknown }
	asked := func(when time.Time) func(*dedup.Record) {
		return func(r *dedup.Record) { r.ClaimedAt = when }
	}
	absent, silence, putOff := dedup.LookUpResult{Answered: true}, dedup.LookUpResult{}, dedup.LookUpResult{Later: true}
	longAgo := func(r *dedup.Record) {
		for i := range r.Attempts {
			r.Attempts[i].EndedAt = at(0).Add(-time.Hour)
		}
	}
	checkRows(t, []promisedRow{
		{"open: answered, recovered", lookedUp(asking, "looking", "A", tickets(open)), "suppress recovered > open"},
		{"open, and this request is worse: decided again", lookedUp(asking, "looking", "B", tickets(open)), "again recovered > open"},
		{"open, and the sends differ: unknown", lookedUp(asking, "looking", "A", tickets(open), differing), "again recovered > open?"},
		{"open, and it existed before: unknown", lookedUp(asking, "looking", "A", tickets(open), existed), "again recovered > open?"},
		{"open, and a clear looked: decided again", lookedUp(asking, "looking", "C", tickets(open)), "again recovered > open"},
		{"several open: the others are reported", lookedUp(asking, "looking", "A", tickets(open, elder)), "suppress recovered +double > open"},
		{"all closed: the episode is over", lookedUp(asking, "looking", "A", tickets(closed)), "again > closed"},
		{"all closed, and a clear looked: answered", lookedUp(asking, "looking", "C", tickets(closed)), "suppress cleared > closed"},
		{"a closed one older than the first send is not found", lookedUp(asking, "looking", "A", tickets(older)), "busy > doubtful"},
		{"absent before settle: busy", lookedUp(asking, "looking", "A", absent), "busy > doubtful"},
		{"absent, but asked before settle was over: busy", lookedUp(asking, "looking, settled", "A", absent, asked(at(1001))), "busy > doubtful"},
		{"surely absent: sent again", lookedUp(asking, "looking, settled", "A", absent), "create retried > claimed"},
		{"absent, and nobody knows whether it left through us: sent again, blind", lookedUp(asking, "looking, settled", "A", absent, unsent), "create retried_blind > claimed"},
		{"surely absent, and a clear looked: closed", lookedUp(asking, "looking, settled", "C", absent), "suppress cleared > closed"},
		{"absent, a clear looked and it may have left without us: untouched", lookedUp(asking, "looking, settled", "C", absent, unsent), "pass unmatched_clear +dead > closed?"},
		{"no answer before settle: busy", lookedUp(asking, "looking", "A", silence), "busy > doubtful"},
		{"no answer after settle: sent again, and counted", lookedUp(asking, "looking, settled", "A", silence), "create retried +double > claimed"},
		{"no turn yet after settle: busy", lookedUp(asking, "looking, settled", "A", putOff), "busy > doubtful"},
		{"no turn for long after settle: sent again, and counted", lookedUp(asking, "looking, settled", "A", putOff, longAgo), "create retried +double > claimed"},
		{"the claim is not mine any more: decided again", lookedUp(asking, "claimed", "A", tickets(open)), "again"},
	})
}
