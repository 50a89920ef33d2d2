package failover_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/failover"
	"oneticket/dedup/storetest"
)

// A desk is a ticket system: what it does with tokens, and what it answers.
type desk struct {
	memory dedup.Memory
	mute   bool // it can be asked nothing

	mu      sync.Mutex
	tickets []deskTicket
}

type deskTicket struct {
	id, token string
	open      bool
	made      time.Time
}

// create makes a ticket, or what the token means.
func (d *desk) create(token string) string {
	id, _ := d.take(token)
	return id
}

// take is create; old is a ticket that was there before.
func (d *desk) take(token string) (id string, old bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.tickets {
		if t.token == token && token != "" && (d.memory == dedup.Remembers || d.memory == dedup.Folds && t.open) {
			return t.id, true
		}
	}
	id = fmt.Sprintf("T%d", len(d.tickets))
	d.tickets = append(d.tickets, deskTicket{id: id, token: token, open: true, made: time.Now()})
	return id, false
}

func (d *desk) close(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.tickets {
		if d.tickets[i].id == id {
			d.tickets[i].open = false
		}
	}
}

func (d *desk) open() []deskTicket {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(d.tickets), func(t deskTicket) bool { return !t.open })
}

func (d *desk) LookUp(_ context.Context, token string) dedup.LookUpResult {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := dedup.LookUpResult{Answered: !d.mute}
	for _, t := range d.tickets {
		if t.token == token && !d.mute {
			r.Tickets = append(r.Tickets, dedup.FoundTicket{Ticket: dedup.Ticket{ID: t.id}, Open: t.open, Created: t.made})
		}
	}
	return r
}

func (d *desk) Read(_ context.Context, ticket dedup.Ticket) dedup.ReadResult {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.tickets {
		if t.id == ticket.ID && !d.mute {
			return dedup.ReadResult{Answered: true, Open: t.open}
		}
	}
	return dedup.ReadResult{Answered: !d.mute, Gone: true}
}

func (d *desk) Update(_ context.Context, ticket dedup.Ticket, _ string, next dedup.Fingerprint, _ dedup.Reason) dedup.UpdateOutcome {
	if next.Cleared {
		d.close(ticket.ID)
	}
	return dedup.UpdateOutcome{Kind: dedup.UpdateApplied}
}

func (d *desk) Create(context.Context, string) dedup.Outcome {
	return dedup.Outcome{Kind: dedup.OutcomeNeverSent}
}

// A wire is what lies between a replica and a store.
type wire struct {
	storetest.Faulty
	cut    atomic.Bool                        // every call fails at once
	frozen atomic.Int64                       // every call takes so long, and fails
	loses  atomic.Int64                       // so many replies are lost, though the call was applied
	refuse atomic.Value                       // the op that alone fails
	also   atomic.Pointer[func(string) error] // what fails beside, before the call ...
	lost   atomic.Pointer[func(string) error] // ... and after it
	calls  atomic.Int64
}

func newWire(store dedup.Store) *wire {
	w := &wire{}
	w.refuse.Store("")
	w.Faulty = storetest.Faulty{Store: store, Before: w.before, After: w.after}
	return w
}

func (w *wire) before(op string) error {
	w.calls.Add(1)
	if d := w.frozen.Load(); d > 0 {
		time.Sleep(time.Duration(d))
		return storetest.ErrLost
	}
	if w.cut.Load() || w.refuse.Load() == op {
		return storetest.ErrLost
	}
	if also := w.also.Load(); also != nil {
		return (*also)(op)
	}
	return nil
}

func (w *wire) after(op string) error {
	if lost := w.lost.Load(); lost != nil {
		return (*lost)(op)
	}
	if w.loses.Load() > 0 && w.loses.Add(-1) >= 0 {
		return storetest.ErrLost
	}
	return nil
}

// A replica is one process: its engine, its failover store, its wires.
type replica struct {
	testing.TB
	desk   *desk
	policy *dedup.Policy
	near   dedup.Store // the embedded store's data
	far    dedup.Store // the shared one's

	deadline time.Duration // of a call to the shared store; 0 is the usual

	shared, local *wire
	store         *failover.Store
	engine        *dedup.Engine
	told          *told
}

// told is what was reported to somebody.
type told struct {
	mu      sync.Mutex
	entries []failover.Entry
	tickets map[string]bool
	tokens  map[string]bool
}

func newTold() *told { return &told{tickets: map[string]bool{}, tokens: map[string]bool{}} }

func (o *told) report(r dedup.Report) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range r.Duplicates {
		o.tickets[t.ID] = true
	}
	if r.Uncertain != "" {
		o.tokens[r.Uncertain] = true
	}
}

// of reports whether the ticket or the token was told of.
func (o *told) of(t deskTicket) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tickets[t.id] || o.tokens[t.token]
}

func (o *told) entry(e failover.Entry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.entries = append(o.entries, e)
}

func (o *told) results() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []string
	for _, e := range o.entries {
		text := string(e.Result)
		if e.Ticket != "" {
			text += " " + e.Ticket
		}
		all = append(all, text)
	}
	return all
}

const scope = dedup.TicketScope("snow")

var theRef = dedup.Ref{Rule: "faults", Scope: "snow.example.test", Key: "idem:1"}

// policyFor is that of a rule on the desk.
func policyFor(d *desk) *dedup.Policy {
	return &dedup.Policy{
		TTL: time.Hour, MaxAge: 24 * time.Hour, Remember: 24 * time.Hour, Settle: 15 * time.Second, Lease: 70 * time.Second,
		Memory: d.memory, MemoryFor: 2 * time.Hour, CanLookUp: !d.mute, CanRead: !d.mute, CanUpdate: true,
		Severities: map[string]int{"2": 1, "1": 2},
	}
}

// newReplica is a process over the shared data far and its own near.
func newReplica(t testing.TB, d *desk, far, near dedup.Store) *replica {
	r := &replica{TB: t, desk: d, policy: policyFor(d), near: near, far: far, told: newTold()}
	r.start()
	t.Cleanup(func() { r.stop() })
	return r
}

func (r *replica) start() {
	r.shared, r.local = newWire(r.far), newWire(r.near)
	r.store = failover.New(failover.Options{
		Shared: r.shared, Local: r.local, Reconciled: r.told.entry, Deadline: r.deadline,
		Rule: func(dedup.Ref, dedup.Record) (failover.Rule, bool) {
			rule := failover.Rule{Policy: r.policy, Scope: scope}
			if !r.desk.mute {
				rule.Ask = r.desk
			}
			return rule, true
		},
	})
	r.engine = dedup.NewEngine(dedup.EngineOptions{Store: r.store, Report: r.told.report})
}

// stop ends the process as SIGTERM does.
func (r *replica) stop() {
	r.engine.Close()
	_ = r.store.Close()
}

// crash ends it where it stands: nothing of it reaches a store any more.
func (r *replica) crash() {
	r.shared.cut.Store(true)
	r.local.cut.Store(true)
	r.stop()
}

func (r *replica) claim(severity string) dedup.Claim {
	return dedup.Claim{
		Fault:  dedup.Fault{Ref: theRef, Backend: string(scope), Identity: "element_id=core-rtr-7", Fingerprint: dedup.Fingerprint{Severity: severity, Cleared: severity == "0"}},
		Policy: r.policy, Wait: 5 * time.Second, Exchange: 30 * time.Second, Backend: r.desk,
	}
}

func (r *replica) decide(severity string) dedup.Verdict {
	r.Helper()
	v, err := r.engine.Decide(r.Context(), r.claim(severity))
	if err != nil {
		r.Fatalf("not decided: %v", err)
	}
	return v
}

// fire is one request for the fault, sent and answered. It says what came of it.
func (r *replica) fire() string {
	r.Helper()
	v := r.decide("2")
	switch v.Kind {
	case dedup.Create:
		return "create " + string(v.Reason) + " " + r.send(v.Hold)
	case dedup.Suppress:
		return "suppress " + v.Record.Ticket.ID
	default:
		return string(v.Kind)
	}
}

// send sends the create and settles it.
func (r *replica) send(h *dedup.Hold) string {
	r.Helper()
	id := r.leave(h)
	r.settle(h, id)
	return id
}

// leave sends it: from now on its answer is under way.
func (r *replica) leave(h *dedup.Hold) string {
	h.MarkSent()
	return r.desk.create(h.Token())
}

func (r *replica) settle(h *dedup.Hold, id string) {
	r.Helper()
	if _, err := h.Settle(r.Context(), created(id)); err != nil {
		r.Errorf("not settled: %v", err)
	}
}

func created(id string) dedup.Outcome {
	return dedup.Outcome{Kind: dedup.OutcomeCreated, Ticket: dedup.Ticket{ID: id}, Response: &dedup.Response{Status: 201, Body: []byte(id)}}
}

// expect compares what was said.
func (r *replica) expect(want, saw string) {
	r.Helper()
	if saw != want {
		r.Fatalf("saw %q, want %q", saw, want)
	}
}

// away cuts the replica off, and waits until it knows.
func (r *replica) away() {
	r.Helper()
	r.shared.cut.Store(true)
	for range 5 {
		_, _ = r.store.Get(r.Context(), dedup.Ref{Rule: "faults", Key: "another"})
	}
	if !r.store.Away() {
		r.Fatal("it does not know that the store is away")
	}
}

// back ends an outage, and waits for all that it has left.
func (r *replica) back() {
	r.Helper()
	r.shared.cut.Store(false)
	r.shared.frozen.Store(0)
	r.quiet()
}

// quiet waits until nothing is left to be reconciled.
func (r *replica) quiet() {
	r.Helper()
	end := time.Now().Add(10 * time.Minute)
	for {
		if !r.store.Away() {
			if left, err := r.store.Reconcile(r.Context()); err == nil && left == 0 {
				break
			}
		}
		if time.Now().After(end) {
			r.Fatalf("not reconciled: %+v", r.left())
		}
		time.Sleep(200 * time.Millisecond)
	}
	if n := r.store.Provisional(); n != 0 {
		r.Errorf("%d provisional creates are left", n)
	}
}

// left lists what the embedded store still has to reconcile.
func (r *replica) left() (all []string) {
	for _, name := range []string{"own", "journal", "close", "ticket"} {
		_ = r.near.List(r.Context(), name, func(ref dedup.Ref, rec dedup.Record) bool {
			all = append(all, fmt.Sprintf("%v %+v", ref, rec))
			return true
		})
	}
	return all
}

// record is the shared record now.
func (r *replica) record() dedup.Record {
	r.Helper()
	found, err := r.far.Get(r.Context(), theRef)
	if err != nil {
		r.Fatal(err)
	}
	return found.Record
}

// holds checks that the shared record is open with the ticket, and one of no outage.
func (r *replica) holds(ticket string) {
	r.Helper()
	if rec := r.record(); rec.State != dedup.Open || rec.Ticket.ID != ticket || rec.Provisional {
		r.Errorf("the shared record is %s with %q, want open with %s", rec.State, rec.Ticket.ID, ticket)
	}
	if left := r.left(); len(left) > 0 {
		r.Errorf("the embedded store still has %v", left)
	}
}

// results checks what the operator is told.
func (r *replica) results(want ...string) {
	r.Helper()
	if saw := r.told.results(); !slices.Equal(saw, want) {
		r.Errorf("told %q, want %q", saw, want)
	}
}

func contextOver(r *replica) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	return ctx, cancel
}
