package dedup_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

// A mergeDesk merges tickets of a ticketDesk.
type mergeDesk struct {
	*ticketDesk
	answers []dedup.UpdateKind // of the next merges, in place of doing anything
	reading func(n int)        // called before each read
	reads   int
	merged  []string
}

func (d *mergeDesk) Read(ctx context.Context, ticket dedup.Ticket) dedup.ReadResult {
	d.mu.Lock()
	d.reads++
	n := d.reads
	d.mu.Unlock()
	if d.reading != nil {
		d.reading(n)
	}
	return d.ticketDesk.Read(ctx, ticket)
}

func (d *mergeDesk) Merge(_ context.Context, survivor, duplicate dedup.Ticket) dedup.UpdateKind {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.answers) > 0 {
		kind := d.answers[0]
		d.answers = d.answers[1:]
		return kind
	}
	d.merged = append(d.merged, duplicate.ID+" into "+survivor.ID)
	for _, t := range d.tickets {
		t.open = t.open && t.id != duplicate.ID
	}
	return dedup.UpdateApplied
}

// A mergeRig is an office whose fault has the ticket T1, open beside T2.
type mergeRig struct {
	*office
	desk   *mergeDesk
	merger *dedup.Merger
	done   []string
	off    bool
}

func inMergeRig(t *testing.T, f func(t *testing.T, r *mergeRig)) {
	t.Helper()
	inOffice(t, func(t *testing.T, o *office) {
		v := o.fire("2")
		o.settle(v, o.desk.make(v.Hold.Token(), "2"))
		o.desk.make("another", "2")
		r := &mergeRig{office: o, desk: &mergeDesk{ticketDesk: o.desk}}
		r.merger = dedup.NewMerger(dedup.MergerOptions{
			Engine: o.engine,
			Rule: func(string) (dedup.MergeRule, bool) {
				return dedup.MergeRule{Desk: r.desk, Closes: true, Backend: "desk", Policy: &o.policy}, !r.off
			},
			Done: func(m dedup.Merge, result dedup.MergeResult) {
				r.desk.mu.Lock()
				defer r.desk.mu.Unlock()
				r.done = append(r.done, m.Duplicate.ID+" "+string(result))
			},
		})
		f(t, r)
	})
}

func (r *mergeRig) offer(ids ...string) {
	for _, id := range ids {
		r.merger.Offer(dedup.Merge{Ref: r.claim("2").Fault.Ref, Duplicate: dedup.Ticket{ID: id}})
	}
	r.after(20 * time.Minute) // until nothing is tried any more
}

// after is so much later, when all that goes on beside rests.
func (r *mergeRig) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestADoubleIsMerged(t *testing.T) {
	again := func(n int) []dedup.UpdateKind { return slices.Repeat([]dedup.UpdateKind{dedup.UpdateUnknown}, n) }
	for name, c := range map[string]struct {
		before func(r *mergeRig)
		offer  []string // else T2
		done   []string
		merged []string
	}{
		"both are open":                      {done: []string{"T2 merged"}, merged: []string{"T2 into T1"}},
		"it is reported twice at one time":   {offer: []string{"T2", "T2"}, done: []string{"T2 merged"}, merged: []string{"T2 into T1"}},
		"it is the record's own":             {offer: []string{"T1"}, done: []string{"T1 needless"}},
		"it is closed":                       {before: func(r *mergeRig) { r.desk.close(1) }, done: []string{"T2 needless"}},
		"the record's own is closed":         {before: func(r *mergeRig) { r.desk.close(0) }, done: []string{"T2 no_survivor"}},
		"nobody answers":                     {before: func(r *mergeRig) { r.desk.silent = true }, done: []string{"T2 given_up"}},
		"the rule only reports":              {before: func(r *mergeRig) { r.off = true }},
		"it is refused":                      {before: func(r *mergeRig) { r.desk.answers = []dedup.UpdateKind{dedup.UpdateRefused} }, done: []string{"T2 refused"}},
		"the call is not there":              {before: func(r *mergeRig) { r.desk.answers = []dedup.UpdateKind{dedup.UpdateGone} }, done: []string{"T2 refused"}},
		"it fails, and then not":             {before: func(r *mergeRig) { r.desk.answers = append(again(3), dedup.UpdateNotSent) }, done: []string{"T2 merged"}, merged: []string{"T2 into T1"}},
		"it fails for ever":                  {before: func(r *mergeRig) { r.desk.answers = again(100) }, done: []string{"T2 given_up"}},
		"the fault is over before the merge": {before: func(r *mergeRig) { r.close(t, r.engine) }, done: []string{"T2 no_survivor"}},
		"the fault is over while both are read": {
			before: func(r *mergeRig) {
				r.desk.reading = func(n int) {
					if n == 2 {
						r.close(t, r.engine)
					}
				}
			},
			done: []string{"T2 no_survivor"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inMergeRig(t, func(t *testing.T, r *mergeRig) {
				if c.before != nil {
					c.before(r)
				}
				if c.offer == nil {
					c.offer = []string{"T2"}
				}
				r.offer(c.offer...)
				if !slices.Equal(r.done, c.done) || !slices.Equal(r.desk.merged, c.merged) {
					t.Errorf("done %q, merged %q; want %q, %q", r.done, r.desk.merged, c.done, c.merged)
				}
			})
		})
	}
}

func (r *mergeRig) close(t *testing.T, e *dedup.Engine) {
	if err := e.CloseHeld(context.Background(), "snow", r.claim("2").Fault.Ref, "T1", &r.policy); err != nil {
		t.Error(err)
	}
}

// TestADoubleWaitsForTheTicketOfItsRecord: the old ticket of an update that was
// refused is reported before the new one is there.
func TestADoubleWaitsForTheTicketOfItsRecord(t *testing.T) {
	inMergeRig(t, func(t *testing.T, r *mergeRig) {
		r.office.desk.onUpdate = dedup.UpdateRefused
		v := r.fire("1")
		r.want(v, dedup.Create, dedup.UpdateFailed)
		r.merger.Offer(dedup.Merge{Ref: r.claim("2").Fault.Ref, Duplicate: dedup.Ticket{ID: "T1"}})
		r.after(5 * time.Second)
		if len(r.done) > 0 || r.desk.reads > 0 {
			t.Fatalf("%q before there is a ticket to merge it into", r.done)
		}
		r.settle(v, r.office.desk.make(v.Hold.Token(), "1"))
		r.after(time.Minute)
		if !slices.Equal(r.desk.merged, []string{"T1 into T3"}) {
			t.Errorf("done %q, merged %q", r.done, r.desk.merged)
		}
	})
}

// TestACloseOfADoubleIsKept: a late answer that names it opens nothing.
func TestACloseOfADoubleIsKept(t *testing.T) {
	inMergeRig(t, func(t *testing.T, r *mergeRig) {
		r.offer("T2")
		other := r.claim("2")
		other.Fault.Ref.Key = "idem:2"
		v, err := r.engine.Decide(t.Context(), other)
		if err != nil {
			t.Fatal(err)
		}
		r.settle(v, dedup.Outcome{Kind: dedup.OutcomeCreated, Ticket: dedup.Ticket{ID: "T2"}})
		time.Sleep(time.Second)
		if v, err = r.engine.Decide(t.Context(), other); err != nil || v.Kind != dedup.Create || v.Reason != dedup.WasClosed {
			t.Errorf("decided %s, %s, %v; want a create: the ticket was closed by us", v.Kind, v.Reason, err)
		}
	})
}

// TestTheTicketOfAnotherFaultIsNoDouble: a client has used its own token for two
// faults, and the answer to the second was lost. The look-up finds both.
func TestTheTicketOfAnotherFaultIsNoDouble(t *testing.T) {
	inMergeRig(t, func(t *testing.T, r *mergeRig) {
		var reported []dedup.Ticket
		engine := dedup.NewEngine(dedup.EngineOptions{Store: storetest.NewMemory(time.Now), Report: func(told dedup.Report) {
			reported = append(reported, told.Duplicates...)
			for _, double := range told.Duplicates {
				r.merger.Offer(dedup.Merge{Ref: told.Ref, Duplicate: double})
			}
		}})
		t.Cleanup(engine.Close)
		r.merger = dedup.NewMerger(dedup.MergerOptions{
			Engine: engine,
			Rule: func(string) (dedup.MergeRule, bool) {
				return dedup.MergeRule{Desk: r.desk, Closes: true, Backend: "desk", Policy: &r.policy}, true
			},
			Done: func(m dedup.Merge, result dedup.MergeResult) {
				r.done = append(r.done, m.Duplicate.ID+" "+string(result))
			},
		})
		ofKey := func(key string) dedup.Claim {
			c := r.claim("2")
			c.Fault.Ref.Key, c.Fault.ClientToken = dedup.Key(key), "batch-7"
			return c
		}
		for i, key := range []string{"idem:1", "idem:2"} {
			v, err := engine.Decide(t.Context(), ofKey(key))
			if err != nil || v.Kind != dedup.Create {
				t.Fatalf("decided %s, %v", v.Kind, err)
			}
			o := r.office.desk.make(v.Hold.Token(), "2")
			if i == 1 {
				o = dedup.Outcome{Kind: dedup.OutcomeUnknown}
			}
			r.settle(v, o)
			r.after(time.Minute)
		}
		if v, err := engine.Decide(t.Context(), ofKey("idem:2")); err != nil || v.Reason != dedup.Recovered {
			t.Fatalf("decided %s, %v", v.Reason, err)
		}
		r.after(20 * time.Minute)
		if len(reported) != 1 || len(r.desk.merged) > 0 || !slices.Equal(r.done, []string{reported[0].ID + " refused"}) {
			t.Errorf("reported %v, merged %q, done %q: no ticket may be closed, each is that of a fault", reported, r.desk.merged, r.done)
		}
	})
}

// An awayStore answers what the embedded store of one replica knows.
type awayStore struct {
	dedup.Store
	away atomic.Bool
}

func (s *awayStore) Get(ctx context.Context, ref dedup.Ref) (dedup.Found, error) {
	found, err := s.Store.Get(ctx, ref)
	found.Provisional = s.away.Load()
	return found, err
}

// TestNothingIsMergedWhileReplicasAreCutOff: the other one may hold the double as
// the ticket of the record, and merge in the opposite direction.
func TestNothingIsMergedWhileReplicasAreCutOff(t *testing.T) {
	inMergeRig(t, func(t *testing.T, r *mergeRig) {
		store := &awayStore{Store: storetest.NewMemory(time.Now)}
		r.engine = dedup.NewEngine(dedup.EngineOptions{Store: store})
		t.Cleanup(r.engine.Close)
		v := r.fire("2")
		r.settle(v, dedup.Outcome{Kind: dedup.OutcomeCreated, Ticket: dedup.Ticket{ID: "T1"}})
		r.merger = dedup.NewMerger(dedup.MergerOptions{
			Engine: r.engine,
			Rule: func(string) (dedup.MergeRule, bool) {
				return dedup.MergeRule{Desk: r.desk, Closes: true, Backend: "desk", Policy: &r.policy}, true
			},
			Done: func(dedup.Merge, dedup.MergeResult) {},
		})
		store.away.Store(true)
		r.merger.Offer(dedup.Merge{Ref: r.claim("2").Fault.Ref, Duplicate: dedup.Ticket{ID: "T2"}})
		r.after(time.Minute)
		if len(r.desk.merged) > 0 {
			t.Errorf("merged is %q", r.desk.merged)
		}
		store.away.Store(false)
		r.after(2 * time.Minute)
		if !slices.Equal(r.desk.merged, []string{"T2 into T1"}) {
			t.Errorf("after the return merged is %q", r.desk.merged)
		}
	})
}

func TestMergesEndWithTheEngine(t *testing.T) {
	inMergeRig(t, func(t *testing.T, r *mergeRig) {
		r.desk.silent = true
		for _, id := range []string{"T2", "T3", "T4"} {
			r.merger.Offer(dedup.Merge{Ref: r.claim("2").Fault.Ref, Duplicate: dedup.Ticket{ID: id}})
		}
		began := time.Now()
		r.engine.Close()
		if took := time.Since(began); took > time.Second || len(r.done) > 0 {
			t.Errorf("it ends after %v, with %q", took, r.done)
		}
	})
}

func TestTooManyDoublesAreOnlyReported(t *testing.T) {
	inMergeRig(t, func(t *testing.T, r *mergeRig) {
		r.desk.silent = true
		for i := range 300 {
			r.merger.Offer(dedup.Merge{Ref: r.claim("2").Fault.Ref, Duplicate: dedup.Ticket{ID: "X" + string(rune('0'+i))}})
		}
		if len(r.done) != 300-256 {
			t.Errorf("%d were dropped at once, want 44", len(r.done))
		}
	})
}
