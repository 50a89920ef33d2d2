package dedup_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

// A ticketDesk is a ticket system that can be asked; its tickets carry tokens.
type ticketDesk struct {
	mu       sync.Mutex
	tickets  []*deskTicket
	lookups  atomic.Int64
	delay    time.Duration
	silent   bool                // look-ups and reads are not answered
	updated  []string            // tokens that came with updates
	onUpdate dedup.UpdateKind    // what becomes of updates; "" = applied
	onCreate []dedup.OutcomeKind // of the next creates that are sent again
}

type deskTicket struct {
	id, token, severity string
	open                bool
	created             time.Time
}

func (d *ticketDesk) make(token, severity string) dedup.Outcome {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := &deskTicket{id: fmt.Sprint("T", len(d.tickets)+1), token: token, severity: severity, open: true, created: time.Now()}
	d.tickets = append(d.tickets, t)
	return t.answer()
}

func (t *deskTicket) answer() dedup.Outcome {
	return dedup.Outcome{Kind: dedup.OutcomeCreated, Ticket: dedup.Ticket{ID: t.id}, Response: &dedup.Response{Status: 201, Body: []byte(t.id)}}
}

func (d *ticketDesk) close(i int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tickets[i].open = false
}

func (d *ticketDesk) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.tickets)
}

func (d *ticketDesk) LookUp(_ context.Context, token string) dedup.LookUpResult {
	d.lookups.Add(1)
	time.Sleep(d.delay)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.silent {
		return dedup.LookUpResult{}
	}
	result := dedup.LookUpResult{Answered: true}
	for _, t := range d.tickets {
		if t.token == token {
			result.Tickets = append(result.Tickets, dedup.FoundTicket{
				Ticket: dedup.Ticket{ID: t.id}, Open: t.open, Created: t.created, Response: t.answer().Response,
			})
		}
	}
	return result
}

func (d *ticketDesk) Read(_ context.Context, ticket dedup.Ticket) dedup.ReadResult {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.tickets {
		if t.id == ticket.ID && !d.silent {
			return dedup.ReadResult{Answered: true, Open: t.open}
		}
	}
	return dedup.ReadResult{}
}

func (d *ticketDesk) Update(_ context.Context, ticket dedup.Ticket, token string, next dedup.Fingerprint, _ dedup.Reason) dedup.UpdateOutcome {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.updated = append(d.updated, token)
	if d.onUpdate != "" {
		return dedup.UpdateOutcome{Kind: d.onUpdate, Ticket: dedup.ReadResult{Answered: true, Open: true}, Answer: &dedup.Response{Status: 502}}
	}
	for _, t := range d.tickets {
		if t.id == ticket.ID {
			t.severity, t.open = next.Severity, !next.Cleared
		}
	}
	return dedup.UpdateOutcome{Kind: dedup.UpdateApplied}
}

func (d *ticketDesk) Create(_ context.Context, token string) dedup.Outcome {
	if len(d.onCreate) > 0 {
		kind := d.onCreate[0]
		d.onCreate = d.onCreate[1:]
		if kind != dedup.OutcomeCreated {
			return dedup.Outcome{Kind: kind}
		}
	}
	return d.make(token, "2")
}

// An office is an engine, its store and the ticket system that is asked.
type office struct {
	t      *testing.T
	desk   *ticketDesk
	engine *dedup.Engine
	policy dedup.Policy
}

func newOffice(t *testing.T) *office {
	o := &office{t: t, desk: &ticketDesk{}, engine: dedup.NewEngine(dedup.EngineOptions{Store: storetest.NewMemory(time.Now), Poll: 50 * time.Millisecond})}
	o.policy = dedup.Policy{
		TTL: time.Hour, MaxAge: 24 * time.Hour, Remember: 24 * time.Hour, Settle: 300 * time.Millisecond, Lease: 10 * time.Second,
		CanLookUp: true, CanRead: true, CanUpdate: true, OnUpdateFailed: "forward",
		Severities: map[string]int{"1": 3, "2": 2, "3": 1},
	}
	t.Cleanup(o.engine.Close)
	return o
}

// inOffice runs f in a bubble, where waiting takes no time.
func inOffice(t *testing.T, f func(t *testing.T, o *office)) {
	t.Helper()
	inBubble(t, func(t *testing.T) { f(t, newOffice(t)) })
}

func (o *office) claim(severity string) dedup.Claim {
	return dedup.Claim{
		Fault: dedup.Fault{
			Ref: dedup.Ref{Rule: "r", Scope: "desk", Key: "idem:1"}, Backend: "desk", Identity: "x=1",
			Fingerprint: dedup.Fingerprint{Severity: severity, Cleared: severity == "clear"},
		},
		Policy: &o.policy, Wait: 5 * time.Second, Exchange: time.Second, Backend: o.desk,
	}
}

// fire is one request of the fault with the severity.
func (o *office) fire(severity string) dedup.Verdict {
	o.t.Helper()
	v, err := o.engine.Decide(o.t.Context(), o.claim(severity))
	if err != nil {
		o.t.Fatal(err)
	}
	return v
}

// fireTillDecided comes again as long as it is told to.
func (o *office) fireTillDecided(severity string) dedup.Verdict {
	o.t.Helper()
	for range 100 {
		if v := o.fire(severity); v.Kind != dedup.Busy {
			return v
		}
		time.Sleep(20 * time.Millisecond)
	}
	o.t.Fatal("it is busy for ever")
	return dedup.Verdict{}
}

func (o *office) want(v dedup.Verdict, kind dedup.Kind, reason dedup.Reason) {
	o.t.Helper()
	if v.Kind != kind || v.Reason != reason {
		o.t.Fatalf("decided %s, %s; want %s, %s", v.Kind, v.Reason, kind, reason)
	}
}

func (o *office) settle(v dedup.Verdict, outcome dedup.Outcome) {
	o.t.Helper()
	v.Hold.MarkSent()
	if _, err := v.Hold.Settle(o.t.Context(), outcome); err != nil {
		o.t.Fatal(err)
	}
}

// lost is a create whose answer nobody saw; it is there if made is set.
func (o *office) lost(made bool) *dedup.Hold {
	o.t.Helper()
	v := o.fire("2")
	o.want(v, dedup.Create, dedup.First)
	if made {
		o.desk.make(v.Hold.Token(), "2")
	}
	o.settle(v, dedup.Outcome{Kind: dedup.OutcomeUnknown})
	return v.Hold
}

func TestARetryAfterALostAnswerGetsTheTicket(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		o.lost(true)
		v := o.fire("2")
		o.want(v, dedup.Suppress, dedup.Recovered)
		if string(v.Record.Response.Body) != "T1" || o.desk.count() != 1 {
			t.Errorf("answered %q; %d tickets", v.Record.Response.Body, o.desk.count())
		}
		o.want(o.fire("2"), dedup.Suppress, dedup.Refire)
	})
}

func TestARetryAfterALostAnswerUpdatesWhenItGotWorse(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		o.lost(true)
		o.want(o.fire("1"), dedup.Update, dedup.Changed)
		if got := o.desk.tickets[0].severity; got != "1" {
			t.Errorf("the ticket says %s", got)
		}
	})
}

func TestNoSecondCreateBeforeSettle(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		o.lost(false)
		v := o.fire("2")
		o.want(v, dedup.Busy, dedup.IsBusy)
		if v.RetryAfter <= 0 {
			t.Error("it is not said when to come again")
		}
		v = o.fireTillDecided("2")
		o.want(v, dedup.Create, dedup.Retried)
		o.settle(v, o.desk.make(v.Hold.Token(), "2"))
		o.want(o.fire("2"), dedup.Suppress, dedup.Refire)
	})
}

func TestManyRetriesAskOnce(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		o.lost(true)
		o.desk.delay = 50 * time.Millisecond
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if v := o.fire("2"); v.Kind != dedup.Suppress || string(v.Record.Response.Body) != "T1" {
					t.Errorf("decided %s, %s", v.Kind, v.Reason)
				}
			})
		}
		all.Wait()
		if got := o.desk.lookups.Load(); got != 1 {
			t.Errorf("%d look-ups, want 1", got)
		}
	})
}

// TestAClientThatGoesDuringALookUpLeavesItsAnswer: else the next one would wait
// for the end of a lease that nobody uses.
func TestAClientThatGoesDuringALookUpLeavesItsAnswer(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		o.lost(true)
		o.desk.delay = time.Second
		ctx, gone := context.WithTimeout(t.Context(), o.desk.delay/2)
		defer gone()
		if v, err := o.engine.Decide(ctx, o.claim("2")); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("decided for a client that has gone: %s %s, %v", v.Kind, v.Reason, err)
		}
		v := o.fire("2")
		o.want(v, dedup.Suppress, dedup.Refire)
		if v.Waited || o.desk.lookups.Load() != 1 {
			t.Errorf("it waited: %v; %d look-ups, want 1", v.Waited, o.desk.lookups.Load())
		}
	})
}

func TestALookUpThatIsRefusedLosesNoIncident(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		o.lost(false)
		o.desk.silent = true
		v := o.fireTillDecided("2")
		o.want(v, dedup.Create, dedup.Retried)
	})
}

func TestATicketThatAPersonClosedDoesNotSwallowTheNextFault(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		o.policy.VerifyEvery = time.Millisecond
		v := o.fire("2")
		o.settle(v, o.desk.make(v.Hold.Token(), "2"))
		time.Sleep(2 * time.Millisecond)
		o.want(o.fire("2"), dedup.Suppress, dedup.Verified)
		o.desk.close(0)
		time.Sleep(2 * time.Millisecond)
		v = o.fire("2")
		o.want(v, dedup.Create, dedup.WasClosed)
		if v.Hold.Token() != "idem:1.2" {
			t.Errorf("the second episode has the token %q", v.Hold.Token())
		}
	})
}

func TestUpdates(t *testing.T) {
	open := func(t *testing.T, name string, f func(t *testing.T, o *office)) {
		t.Run(name, func(t *testing.T) {
			inOffice(t, func(t *testing.T, o *office) {
				v := o.fire("2")
				o.settle(v, o.desk.make(v.Hold.Token(), "2"))
				f(t, o)
			})
		})
	}
	open(t, "a worse severity reaches the ticket once", func(t *testing.T, o *office) {
		o.want(o.fire("1"), dedup.Update, dedup.Changed)
		o.want(o.fire("1"), dedup.Suppress, dedup.Refire)
		if got := o.desk.tickets[0].severity; got != "1" {
			t.Errorf("the ticket says %s", got)
		}
	})
	open(t, "one that failed is tried again by the next", func(t *testing.T, o *office) {
		o.desk.onUpdate = dedup.UpdateNotSent
		v := o.fire("1")
		o.want(v, dedup.Update, dedup.Changed)
		if !v.UpdateFailed || v.Refusal == nil || v.Refusal.Status != 502 {
			t.Errorf("the client is told %+v", v.Refusal)
		}
		o.desk.onUpdate = ""
		o.want(o.fire("1"), dedup.Update, dedup.Changed)
	})
	open(t, "a worse severity that is refused becomes a ticket that somebody sees", func(t *testing.T, o *office) {
		o.desk.onUpdate = dedup.UpdateRefused
		v := o.fire("1")
		o.want(v, dedup.Create, dedup.UpdateFailed)
		o.settle(v, o.desk.make(v.Hold.Token(), "1"))
		o.want(o.fire("1"), dedup.Suppress, dedup.Refire)
	})
	open(t, "so does one where the ticket system cannot be told", func(t *testing.T, o *office) {
		o.policy.CanUpdate = false
		v := o.fire("1")
		o.want(v, dedup.Create, dedup.UpdateFailed)
		o.settle(v, o.desk.make(v.Hold.Token(), "1"))
		o.want(o.fire("1"), dedup.Suppress, dedup.Refire)
		o.want(o.fire("3"), dedup.Update, dedup.Changed)
	})
	open(t, "a lower one that is refused is suppressed", func(t *testing.T, o *office) {
		o.desk.onUpdate = dedup.UpdateRefused
		v := o.fire("3")
		o.want(v, dedup.Suppress, dedup.Refire)
		if !v.UpdateFailed {
			t.Error("it is not counted")
		}
	})
	open(t, "a clear ends the episode", func(t *testing.T, o *office) {
		o.want(o.fire("clear"), dedup.Update, dedup.Changed)
		o.want(o.fire("clear"), dedup.Suppress, dedup.Cleared)
		o.want(o.fire("2"), dedup.Create, dedup.WasClosed)
	})
}

func TestHealingWhileTheClientWaits(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		if rec, ok := o.lost(true).Heal(t.Context(), 2*time.Second, false); !ok || string(rec.Response.Body) != "T1" {
			t.Errorf("healed %v: %+v", ok, rec)
		}
		o.want(o.fire("2"), dedup.Suppress, dedup.Refire)
	})
}

func TestNothingToHeal(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		if _, ok := o.lost(false).Heal(t.Context(), 50*time.Millisecond, false); ok {
			t.Error("healed without a ticket")
		}
		o.want(o.fire("2"), dedup.Busy, dedup.IsBusy)
	})
}

func TestFollowSendsAgainUntilThereIsATicket(t *testing.T) {
	tries := dedup.Resend{Tries: 4, First: 5 * time.Millisecond, Most: 20 * time.Millisecond}
	t.Run("what was never sent", func(t *testing.T) {
		inOffice(t, func(t *testing.T, o *office) {
			v := o.fire("2")
			o.settle(v, dedup.Outcome{Kind: dedup.OutcomeNeverSent})
			o.desk.onCreate = []dedup.OutcomeKind{dedup.OutcomeNeverSent, dedup.OutcomeRefused}
			if !v.Hold.Follow(t.Context(), false, tries) || o.desk.count() != 1 {
				t.Errorf("%d tickets", o.desk.count())
			}
			o.want(o.fire("2"), dedup.Suppress, dedup.Refire)
		})
	})
	t.Run("what is surely not there", func(t *testing.T) {
		inOffice(t, func(t *testing.T, o *office) {
			if !o.lost(false).Follow(t.Context(), true, tries) || o.desk.count() != 1 {
				t.Errorf("%d tickets", o.desk.count())
			}
			o.want(o.fire("2"), dedup.Suppress, dedup.Refire)
		})
	})
	t.Run("not what is there", func(t *testing.T) {
		inOffice(t, func(t *testing.T, o *office) {
			if !o.lost(true).Follow(t.Context(), true, tries) || o.desk.count() != 1 {
				t.Errorf("%d tickets", o.desk.count())
			}
		})
	})
	t.Run("not when a client came first", func(t *testing.T) {
		inOffice(t, func(t *testing.T, o *office) {
			first := o.fire("2")
			o.settle(first, dedup.Outcome{Kind: dedup.OutcomeNeverSent})
			second := o.fire("2")
			o.want(second, dedup.Create, dedup.First)
			if first.Hold.Follow(t.Context(), false, tries) || o.desk.count() != 0 {
				t.Errorf("%d tickets", o.desk.count())
			}
		})
	})
}
