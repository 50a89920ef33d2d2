package extproc

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"oneticket/dedup"
)

func TestATTLThatWouldHaveHeldIsLongerThanTheGap(t *testing.T) {
	for _, c := range []struct{ gap, want time.Duration }{
		{0, time.Second},
		{1500 * time.Millisecond, 2 * time.Second},
		{15 * time.Second, 17 * time.Second}, // a sixteenth of 16 s may be missing
		{9 * time.Minute, 10 * time.Minute},
		{15 * time.Minute, 17 * time.Minute},
		{70 * time.Minute, 80 * time.Minute},
		{24 * time.Hour, 26 * time.Hour},
	} {
		got := wouldHold(c.gap)
		if got != c.want || got-got/16 <= c.gap {
			t.Errorf("gap %s: %s, want %s", c.gap, got, c.want)
		}
	}
}

func TestAGapIsTheTimeSinceTheFaultWasSeen(t *testing.T) {
	start := time.Now()
	s := newSightings(start)
	a, b := dedup.Ref{Rule: "r", Scope: "s", Key: "a"}, dedup.Ref{Rule: "r", Scope: "s", Key: "b"}
	if gap, known := s.see(a, start); known {
		t.Errorf("nobody has seen it before: %s", gap)
	}
	if gap, known := s.see(b, start.Add(time.Second)); known {
		t.Errorf("another fault: %s", gap)
	}
	if gap, known := s.see(a, start.Add(90*time.Second)); !known || gap != 90*time.Second {
		t.Errorf("%s, %t", gap, known)
	}
	if gap, known := s.see(a, start.Add(80*time.Second)); !known || gap != 0 {
		t.Errorf("a clock that went back: %s, %t", gap, known)
	}
}

// TestFaultsThatMeetInOnePlaceAreForgottenAndNotMixedUp: more faults than
// places, each with its own gap.
func TestFaultsThatMeetInOnePlaceAreForgottenAndNotMixedUp(t *testing.T) {
	start := time.Now()
	s := newSightings(start)
	const faults = 2 * sightingSlots
	ref := func(i int) dedup.Ref { return dedup.Ref{Key: dedup.Key(fmt.Sprint(i))} }
	for i := range faults {
		s.see(ref(i), start.Add(time.Duration(i)*time.Millisecond))
	}
	known := 0
	for i := range faults {
		gap, ok := s.see(ref(i), start.Add(time.Hour+time.Duration(i)*time.Millisecond))
		if ok && gap != time.Hour {
			t.Fatalf("fault %d: %s", i, gap)
		}
		if ok {
			known++
		}
	}
	if known < faults/10 {
		t.Errorf("%d of %d are known again", known, faults)
	}
}

// TestSightingsTakeNoLock is for the race detector.
func TestSightingsTakeNoLock(t *testing.T) {
	s := newSightings(time.Now())
	ref := dedup.Ref{Rule: "r", Scope: "s", Key: "idem:0123456789abcdef0123456789abcdef"}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				s.see(ref, time.Now())
			}
		})
	}
	wg.Wait()
	if n := testing.AllocsPerRun(100, func() { s.see(ref, time.Now()) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
