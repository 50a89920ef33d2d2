package dedup_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

var (
	bot      = dedup.Bearer{Principal: "bot", Credential: "bot:s3cret"}
	operator = dedup.Bearer{Principal: "operator", Credential: "operator:hush"}
)

func TestWhoWasShownTheTicketJoinsItsRecord(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	open := dedup.Record{V: dedup.Format, State: dedup.Open, Version: 3, Episode: 2, Principals: []string{"bot"}}
	for name, c := range map[string]struct {
		rec     dedup.Record
		episode int64
		bearer  dedup.Bearer
		joins   bool
	}{
		"a second user":             {open, 2, operator, true},
		"the first, once more":      {open, 2, bot, true},
		"of a closed record":        {dedup.Record{V: dedup.Format, State: dedup.Closed, Episode: 2}, 2, operator, true},
		"of another episode":        {open, 1, operator, false},
		"while somebody creates":    {dedup.Record{V: dedup.Format, State: dedup.Claimed, Episode: 2}, 2, operator, false},
		"of a record of the future": {dedup.Record{V: dedup.Format + 1, State: dedup.Open, Episode: 2}, 2, operator, false},
		"nobody":                    {open, 2, dedup.Bearer{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			next := dedup.Joined(c.rec, c.episode, c.bearer, now)
			if (next != nil) != c.joins {
				t.Fatalf("joined: %v, want %v", next != nil, c.joins)
			}
			if c.joins && (!next.Knows(c.bearer) || !next.AcceptedAt(c.bearer).Equal(now)) {
				t.Errorf("the record has %v and %v", next.Principals, next.Credentials)
			}
		})
	}
	if len(open.Principals) != 1 || open.Credentials != nil {
		t.Errorf("the record that was there has changed: %+v", open)
	}
}

func TestARecordKeepsOnlyTheLatestCredentials(t *testing.T) {
	rec := dedup.Record{V: dedup.Format, State: dedup.Open, Episode: 1}
	for i := range 100 {
		b := dedup.Bearer{Principal: fmt.Sprint("user", i), Credential: fmt.Sprint("password", i)}
		rec = *dedup.Joined(rec, 1, b, time.Unix(int64(i), 0))
		rec = *dedup.Joined(rec, 1, bot, time.Unix(int64(i), 0))
	}
	if n := len(rec.Credentials); n > 20 {
		t.Errorf("%d credentials are kept", n)
	}
	if !rec.AcceptedAt(bot).Equal(time.Unix(99, 0)) {
		t.Error("one that was accepted all the time is forgotten")
	}
	if !rec.AcceptedAt(operator).IsZero() || rec.Knows(operator) {
		t.Error("somebody is known who never came")
	}
}

func TestACreateKeepsWhoseItWas(t *testing.T) {
	store := storetest.NewMemory(time.Now)
	var reported []dedup.Ticket
	e := dedup.NewEngine(dedup.EngineOptions{Store: store, Report: func(r dedup.Report) { reported = append(reported, r.Duplicates...) }})
	defer e.Close()
	c := lateClaim()
	v, err := e.Decide(t.Context(), c)
	if err != nil || v.Kind != dedup.Create {
		t.Fatalf("%+v, %v", v, err)
	}
	if _, err := v.Hold.Settle(t.Context(), dedup.Outcome{Kind: dedup.OutcomeCreated, Ticket: dedup.Ticket{ID: "T1"}, Bearer: bot}); err != nil {
		t.Fatal(err)
	}
	e.Close()
	rec := recordAt(t, store, c)
	if !rec.Knows(bot) || rec.AcceptedAt(bot).IsZero() || rec.Knows(operator) {
		t.Fatalf("the record has %v and %v", rec.Principals, rec.Credentials)
	}
	for _, shown := range []string{"T1", "T2"} {
		if err := e.Join(t.Context(), c.Fault.Ref, rec.Episode, operator, dedup.Ticket{ID: shown}); err != nil {
			t.Fatal(err)
		}
	}
	if rec = recordAt(t, store, c); !rec.Knows(operator) || rec.Ticket.ID != "T1" {
		t.Errorf("the record has %v and the ticket %s", rec.Principals, rec.Ticket.ID)
	}
	if len(reported) != 1 || reported[0].ID != "T2" {
		t.Errorf("reported %v, want T2", reported)
	}
}

func lateClaim() dedup.Claim {
	return dedup.Claim{
		Fault: dedup.Fault{
			Ref: dedup.Ref{Rule: "faults", Scope: "snow", Key: dedup.KeyOf("a=1")}, Backend: "snow", Identity: "a=1",
			Fingerprint: dedup.Fingerprint{Severity: "2"},
		},
		Policy: &dedup.Policy{TTL: time.Hour, Remember: time.Hour, Settle: 15 * time.Second, Lease: time.Minute},
	}
}

func recordAt(t *testing.T, store dedup.Store, c dedup.Claim) dedup.Record {
	t.Helper()
	found, err := store.Get(context.Background(), c.Fault.Ref)
	if err != nil {
		t.Fatal(err)
	}
	return found.Record
}

func TestWhatTheBackendShowsForAClaimItShowsToItsSender(t *testing.T) {
	for name, c := range map[string]struct {
		policy   func(*dedup.Policy)
		first    dedup.Outcome
		severity string
		reason   dedup.Reason
	}{
		"a ticket that was looked up": {func(p *dedup.Policy) { p.CanLookUp = true }, dedup.Outcome{Kind: dedup.OutcomeUnknown}, "2", dedup.Recovered},
		"one that was read": {func(p *dedup.Policy) { p.CanRead, p.VerifyEvery = true, time.Nanosecond },
			dedup.Outcome{Kind: dedup.OutcomeCreated, Ticket: dedup.Ticket{ID: "T1"}, Bearer: bot}, "2", dedup.Verified},
		"one that was updated": {func(p *dedup.Policy) { p.CanUpdate = true },
			dedup.Outcome{Kind: dedup.OutcomeCreated, Ticket: dedup.Ticket{ID: "T1"}, Bearer: bot}, "1", dedup.Changed},
		"one that nobody asked for": {func(*dedup.Policy) {},
			dedup.Outcome{Kind: dedup.OutcomeCreated, Ticket: dedup.Ticket{ID: "T1"}, Bearer: bot}, "2", dedup.Refire},
	} {
		t.Run(name, func(t *testing.T) {
			var later atomic.Int64
			store := storetest.NewMemory(func() time.Time { return time.Now().Add(time.Duration(later.Load())) })
			e := dedup.NewEngine(dedup.EngineOptions{Store: store})
			defer e.Close()
			claim := lateClaim()
			policy := *claim.Policy
			c.policy(&policy)
			claim.Policy, claim.Backend = &policy, generous{}
			v, err := e.Decide(t.Context(), claim)
			if err != nil {
				t.Fatal(err)
			}
			settled(t, v.Hold, c.first)
			claim.Fault.Fingerprint.Severity = c.severity
			claim.Bearer = operator
			later.Store(int64(time.Second))
			v, err = e.Decide(t.Context(), claim)
			if err != nil || v.Reason != c.reason {
				t.Fatalf("%s %s, %v", v.Kind, v.Reason, err)
			}
			want := c.reason != dedup.Refire
			if rec := recordAt(t, store, claim); v.Record.Knows(operator) != want || rec.Knows(operator) != want {
				t.Errorf("who asked is known: %v, and in the store: %v; want %v", v.Record.Knows(operator), rec.Knows(operator), want)
			}
		})
	}
}

// generous is a backend that shows everything to everybody.
type generous struct{}

func (generous) LookUp(context.Context, string) dedup.LookUpResult {
	return dedup.LookUpResult{Answered: true, Tickets: []dedup.FoundTicket{{Ticket: dedup.Ticket{ID: "T1"}, Open: true}}}
}
func (generous) Read(context.Context, dedup.Ticket) dedup.ReadResult {
	return dedup.ReadResult{Answered: true, Open: true}
}
func (generous) Update(context.Context, dedup.Ticket, string, dedup.Fingerprint, dedup.Reason) dedup.UpdateOutcome {
	return dedup.UpdateOutcome{Kind: dedup.UpdateApplied}
}
func (generous) Create(context.Context, string) dedup.Outcome {
	return dedup.Outcome{Kind: dedup.OutcomeNeverSent}
}
