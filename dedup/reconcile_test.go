package dedup_test

import (
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
)

// The rows of the design, in its words, and the traces of the model that each of
// them is there for.
func TestReturnOfTheSharedStore(t *testing.T) {
	t.Parallel()
	p := policyOf(systemNamed("look"), false, false, false)
	mute := policyOf(systemNamed("nothing"), false, false, false)
	l, s := locals(&p), shareds(&p)
	found := func(ids ...string) *dedup.LookUpResult {
		r := &dedup.LookUpResult{Answered: true}
		for i, id := range ids {
			r.Tickets = append(r.Tickets, dedup.FoundTicket{Ticket: dedup.Ticket{ID: id}, Open: true, Created: at(1000 + i)})
		}
		return r
	}
	later := at(1000 + lease + settle)
	for _, row := range []struct {
		name          string
		local, shared dedup.Record
		asked         dedup.Asked
		policy        *dedup.Policy
		now           time.Time
		want          string
	}{
		{"rec_pending: a local create is still under way", l["claimed"], s["none"], dedup.Asked{}, &p, at(1001), "wait"},
		{"rec_pending: an update of the local ticket is still under way", l["updating"], s["open"], dedup.Asked{}, &p, at(1001), "wait"},
		{"a local create without an outcome may still land", l["claimed"], s["none"], dedup.Asked{}, &p, at(1000 + lease + settle - 1), "wait"},
		{"dup_report: its own token is looked up after settle", l["claimed"], s["doubtful"], dedup.Asked{}, &p, later, "lookup local"},
		{"its own token is found, the shared record is none", l["doubtful"], s["none"], dedup.Asked{Local: found("L1")}, &p, later, "taken_over > open L1"},
		{"its own token is found, the shared record is open with another", l["doubtful"], s["open"], dedup.Asked{Local: found("L1")}, &p, later, "duplicate +L1"},
		{"its own token is found twice, and the shared record is none", l["doubtful"], s["none"], dedup.Asked{Local: found("L1", "L2")}, &p, later, "taken_over +L2 > open L1"},
		{"its own token is absent: the dead letter stays", l["doubtful"], s["none"], dedup.Asked{Local: found()}, &p, later, "absent"},
		{"nobody can be asked for it, the shared record is none", l["doubtful"], s["none"], dedup.Asked{}, &mute, later, "doubtful > doubtful"},
		{"dup_report: nobody can be asked for it, the shared record is open", l["doubtful"], s["open"], dedup.Asked{}, &mute, later, "possible_duplicate +k.p1234abcd"},
		{"a look-up that is never answered is none", l["doubtful"], s["none"], dedup.Asked{Local: &dedup.LookUpResult{}}, &p, later, "doubtful > doubtful"},
		{"open with T, none", l["open"], s["none"], dedup.Asked{}, &p, later, "taken_over > open L1"},
		{"open with T, closed", l["open"], s["closed"], dedup.Asked{}, &p, later, "taken_over > open L1"},
		{"open with T, expired", l["open"], s["open"], dedup.Asked{}, &p, at(1000 + longTTL), "taken_over > open L1"},
		{"open with T, open with T", holding("T1", l["open"]), s["open"], dedup.Asked{}, &p, at(1000), "merged"},
		{"open with T, open with another", l["open"], s["open"], dedup.Asked{}, &p, later, "duplicate +L1"},
		{"open with T, claimed, lease running", l["open"], s["claimed"], dedup.Asked{}, &p, at(1001), "wait"},
		{"rec_doubt: the shared token is looked up first", l["open"], s["doubtful"], dedup.Asked{}, &p, later, "lookup shared"},
		{"rec_doubt: the shared token is found", l["open"], s["doubtful"], dedup.Asked{Shared: found("T9")}, &p, later, "duplicate +L1 > open T9"},
		{"rec_doubt: the shared token is absent", l["open"], s["doubtful"], dedup.Asked{Shared: found()}, &p, later, "taken_over > open L1"},
		{"rec_doubt: nobody can be asked for the shared token", l["open"], s["doubtful"], dedup.Asked{}, &mute, later, "taken_over +k > open L1"},
		{"the two met at a backend that remembers", tokened("k", l["open"]), s["doubtful"], dedup.Asked{Shared: found("L1")}, &p, later, "taken_over > open L1"},
		{"tomb: closed, any", l["closed"], s["none"], dedup.Asked{}, &p, later, "closed close L1"},
		{"closed here, open there", holding("T1", l["closed"]), s["open"], dedup.Asked{}, &p, later, "closed > closed T1"},
		{"open here, closed there by somebody whom we could not hear", holding("T1", l["open"]), s["closed"], dedup.Asked{}, &p, later, "closed"},
		{"moved as doubtful once, the next try moves it no more", l["doubtful"], moved(&mute, l["doubtful"]), dedup.Asked{}, &mute, later, "doubtful"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := tellReconciliation(dedup.Reconcile(row.local, row.shared, row.asked, row.policy, row.now))
			if got != row.want {
				t.Errorf("saw %q, want %q", got, row.want)
			}
		})
	}
}

// TestTheEpisodeGoesOn: the number in the shared store is never less than one
// that has made a token.
func TestTheEpisodeGoesOn(t *testing.T) {
	t.Parallel()
	p := policyOf(systemNamed("look"), false, false, false)
	local, shared := locals(&p)["open"], shareds(&p)["closed"]
	for _, row := range []struct{ local, shared, want int64 }{{1, 1, 2}, {1, 7, 8}, {9, 3, 9}} {
		local.Episode, shared.Episode = row.local, row.shared
		r := dedup.Reconcile(local, shared, dedup.Asked{}, &p, at(1001))
		if r.Next == nil || r.Next.Episode != row.want || r.Next.Provisional || r.Next.Version != shared.Version {
			t.Errorf("episodes %d and %d: %+v", row.local, row.shared, r.Next)
		}
	}
}

// TestMergedRecordsThatDifferSayNothing of what the ticket says.
func TestMergedRecordsThatDifferSayNothing(t *testing.T) {
	t.Parallel()
	p := policyOf(systemNamed("look"), false, false, false)
	local, shared := holding("T1", locals(&p)["open"]), shareds(&p)["open"]
	local.Fingerprint = dedup.Fingerprint{Severity: "B"}
	local.Principals, local.Credentials = []string{"bot"}, []dedup.Accepted{{Hash: "h", At: at(1000)}}
	r := dedup.Reconcile(local, shared, dedup.Asked{}, &p, at(1001))
	if r.Next == nil || r.Next.Fingerprint.Known() || !r.Next.Knows(dedup.Bearer{Principal: "bot"}) || r.Next.AcceptedAt(dedup.Bearer{Credential: "h"}) != at(1000) {
		t.Errorf("saw %+v", r.Next)
	}
}

// TestTheTokenOfAProvisionalCreate is one that no episode has, but where replicas
// that are cut off from each other can meet at the backend.
func TestTheTokenOfAProvisionalCreate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		system system
		given  string
		want   string
	}{
		{systemNamed("folds"), "", "k"},
		{systemNamed("remembers+read"), "", "k"},
		{systemNamed("remembers"), "", "k.p"},
		{systemNamed("look"), "", "k.p"},
		{systemNamed("nothing"), "", "k.p"},
		{systemNamed("nothing"), "the client's own", "the client's own"},
	} {
		p := policyOf(row.system, false, false, false)
		p.Provisional = true
		c := claimWith(&p, "h", "A")
		c.Fault.ClientToken = row.given
		one, two := c.Offer().Take(dedup.Record{}, at(0)), c.Offer().Take(dedup.Record{}, at(0))
		if !strings.HasPrefix(one.Token, row.want) || !one.Provisional {
			t.Errorf("%s: the token is %q", row.system.name, one.Token)
		}
		if alone := strings.HasSuffix(row.want, ".p"); alone && (one.Token == two.Token || len(one.Token) != len("k.p")+8) {
			t.Errorf("%s: two replicas have %q and %q", row.system.name, one.Token, two.Token)
		}
	}
}

// TestShiftedMovesEveryTime by comparing with a record in which each is another.
func TestShiftedMovesEveryTime(t *testing.T) {
	t.Parallel()
	p := policyOf(systemNamed("look"), false, true, true)
	for _, r := range rowsOf(&p) {
		there := r.rec.Shifted(time.Hour)
		if d := dedup.Decide(there, claimWith(&p, "h2", "A"), r.now.Add(time.Hour)); tellDecision(d) != tellDecision(dedup.Decide(r.rec, claimWith(&p, "h2", "A"), r.now)) {
			t.Errorf("%s: an hour later it is %s", r.name, tellDecision(d))
		}
	}
}

func locals(p *dedup.Policy) map[string]dedup.Record {
	all := map[string]dedup.Record{}
	for _, r := range rowsOf(p) {
		all[r.name] = elsewhere(r.rec)
	}
	all["updating"] = all["open, updating"]
	return all
}

func shareds(p *dedup.Policy) map[string]dedup.Record {
	all := map[string]dedup.Record{}
	for _, r := range rowsOf(p) {
		all[r.name] = r.rec
	}
	return all
}

func holding(ticket string, rec dedup.Record) dedup.Record {
	rec.Ticket.ID = ticket
	return rec
}

func tokened(token string, rec dedup.Record) dedup.Record {
	rec.Token = token
	return rec
}

func moved(p *dedup.Policy, local dedup.Record) dedup.Record {
	return *dedup.Reconcile(local, dedup.Record{}, dedup.Asked{}, p, at(1000+lease+settle)).Next
}
