package dedup_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

func titled(rec dedup.Record, titles ...string) dedup.Record {
	for _, title := range titles {
		rec.Witness = append(rec.Witness, dedup.WitnessOf(title))
	}
	return rec
}

func TestTheFifthTitleMakesAKeySuspect(t *testing.T) {
	t.Parallel()
	open := row(&asking, "open").rec
	newer := row(&asking, "newer").rec
	for name, c := range map[string]struct {
		rec     dedup.Record
		title   string
		kept    int // 0: nothing is written
		suspect bool
	}{
		"the first":            {open, "a", 1, false},
		"a known one":          {titled(open, "a"), "a", 0, false},
		"the fourth":           {titled(open, "a", "b", "c"), "d", 4, false},
		"the fifth":            {titled(open, "a", "b", "c", "d"), "e", 5, true},
		"the fifth once more":  {titled(open, "a", "b", "c", "d", "e"), "e", 0, false},
		"the sixth":            {titled(open, "a", "b", "c", "d", "e"), "f", 6, false},
		"the ninth":            {titled(open, "a", "b", "c", "d", "e", "f", "g", "h"), "i", 0, false},
		"no title":             {titled(open, "a", "b", "c", "d"), "", 0, false},
		"no ticket":            {row(&asking, "claimed").rec, "a", 0, false},
		"of a newer oneticket": {newer, "a", 0, false},
	} {
		next, suspect := dedup.Witnessed(c.rec, c.title)
		kept := 0
		if next != nil {
			kept = len(next.Witness)
		}
		if kept != c.kept || suspect != c.suspect {
			t.Errorf("%s: %d kept, suspect %v; want %d, %v", name, kept, suspect, c.kept, c.suspect)
		}
	}
}

func TestAStrangeTitleIsSentOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		known    []string
		title    string
		severity string
		count    bool // on_suspect = "count"
		want     string
	}{
		"the fifth":                      {known: []string{"a", "b", "c", "d"}, title: "e", severity: "A", want: "pass suspect"},
		"the fifth, written already":     {known: []string{"a", "b", "c", "d", "e"}, title: "e", severity: "A", want: "pass suspect"},
		"the ninth":                      {known: []string{"a", "b", "c", "d", "e", "f", "g", "h"}, title: "i", severity: "A", want: "pass suspect"},
		"the fifth, of another severity": {known: []string{"a", "b", "c", "d"}, title: "e", severity: "B", want: "pass suspect"},
		"the first of many":              {known: []string{"a", "b", "c", "d", "e", "f", "g", "h"}, title: "a", severity: "A", want: "suppress refire"},
		"the fourth":                     {known: []string{"a", "b", "c"}, title: "d", severity: "A", want: "suppress refire"},
		"a clear with another title":     {known: []string{"a", "b", "c", "d"}, title: "e", severity: "C", want: "update changed > open/clearing"},
		"no title":                       {known: []string{"a", "b", "c", "d"}, severity: "A", want: "suppress refire"},
		"where it is only counted":       {known: []string{"a", "b", "c", "d"}, title: "e", severity: "A", count: true, want: "suppress refire"},
	} {
		p := with(asking, func(p *dedup.Policy) { p.SuspectForward = !c.count })
		claim := claimWith(&p, "h2", c.severity)
		claim.Fault.Witness = c.title
		r := row(&asking, "open")
		if got := tellDecision(dedup.Decide(titled(r.rec, c.known...), claim, r.now)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// named is one request of the fault with the title.
func (o *office) named(title string) dedup.Verdict {
	o.t.Helper()
	c := o.claim("2")
	c.Fault.Witness = title
	v, err := o.engine.Decide(o.t.Context(), c)
	if err != nil {
		o.t.Fatal(err)
	}
	return v
}

// TestTitlesAreKeptBesideTheRequests: the create's with its answer, those of
// re-fires afterwards, and a new episode begins anew.
func TestTitlesAreKeptBesideTheRequests(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		o := newOffice(t)
		store := storetest.NewMemory(time.Now)
		var suspects atomic.Int64
		o.engine = dedup.NewEngine(dedup.EngineOptions{Store: store, Report: func(r dedup.Report) {
			if r.Suspect {
				suspects.Add(1)
			}
		}})
		kept := func() int {
			found, err := store.Get(t.Context(), o.claim("2").Fault.Ref)
			if err != nil {
				t.Fatal(err)
			}
			return len(found.Record.Witness)
		}
		create := func(title string) {
			v := o.named(title)
			if v.Kind != dedup.Create {
				t.Fatalf("decided %s, %s", v.Kind, v.Reason)
			}
			o.settle(v, o.desk.make(v.Hold.Token(), "2"))
		}
		create("title 0")
		if kept() != 1 {
			t.Errorf("the create's title is not kept: %d", kept())
		}
		for round := range 2 {
			for i := range 12 {
				o.want(o.named(fmt.Sprint("title ", i)), dedup.Suppress, dedup.Refire)
				time.Sleep(time.Second) // in a bubble: until all that goes on beside has ended
			}
			if kept() != 8 || suspects.Load() != 1 {
				t.Errorf("round %d: %d titles kept, suspected %d times", round, kept(), suspects.Load())
			}
		}
		o.policy.SuspectForward = true
		o.want(o.named("title 11"), dedup.Pass, dedup.Suspect)
		o.want(o.named("title 3"), dedup.Suppress, dedup.Refire)
		if err := o.engine.CloseHeld(t.Context(), "snow", o.claim("2").Fault.Ref, "T1", &o.policy); err != nil {
			t.Fatal(err)
		}
		create("title 11")
		if kept() != 1 {
			t.Errorf("the next episode begins with %d titles", kept())
		}
		o.engine.Close()
	})
}

func TestAnObservingRuleSeesTitlesToo(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		o := newOffice(t)
		o.policy.Observe = true
		var suspects atomic.Int64
		o.engine = dedup.NewEngine(dedup.EngineOptions{Store: storetest.NewMemory(time.Now), Report: func(r dedup.Report) {
			if r.Suspect {
				suspects.Add(1)
			}
		}})
		v := o.named("title 0")
		o.settle(v, o.desk.make(v.Hold.Token(), "2"))
		for i := range 12 {
			o.named(fmt.Sprint("title ", i))
			time.Sleep(time.Second)
		}
		if suspects.Load() != 1 {
			t.Errorf("suspected %d times", suspects.Load())
		}
		o.engine.Close()
	})
}
