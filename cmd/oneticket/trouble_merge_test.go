package main_test

import (
	"testing"
	"time"
)

// TestTheDoublesOfAnOutageAreMerged where the rule says so: each of them is
// closed, the ticket that stays is open, and nothing else is closed.
func TestTheDoublesOfAnOutageAreMerged(t *testing.T) {
	r := newTroubledRedis(t)
	d := newDesk(t)
	d.delay.Store(int64(5 * time.Millisecond))
	pair := make([]*sidecar, 2)
	for i := range pair {
		pair[i] = newSidecar(t, d, `merge = "close"`, r.block())
		pair[i].rewrite(`timeout = "5s"`, "timeout = \"5s\"\n  "+withCredentials)
		pair[i].start()
	}
	load := startLoad(t, d, pair)
	time.Sleep(sizedTime(time.Second, 5*time.Second))
	r.kill()
	waitFor(t, "a create without the store", func() bool { return provisional(pair) > 0 })
	time.Sleep(sizedTime(time.Second, 3*time.Second)) // in which both open tickets
	r.start()
	waitFor(t, "the return", func() bool { return provisional(pair) == 0 })
	load.end()
	doubles, reported := judgeDoubles(t, load)
	if doubles == 0 {
		t.Fatal("there is nothing to merge")
	}
	merged := func() (n int) {
		for _, s := range pair {
			n += int(s.metric("oneticket_merges_total", `result="merged"`))
		}
		return n
	}
	waitFor(t, "all merges", func() bool { return merged() >= doubles })
	for i := range load.faults.Load() {
		if open := d.open(d.of(load.name(i))); len(open) != 1 {
			t.Errorf("%s has %d open tickets of %q", load.name(i), len(open), d.of(load.name(i)))
		}
	}
	before := d.creates.Load()
	load.again()
	for i := range load.faults.Load() {
		open := d.open(d.of(load.name(i)))
		if a := pair[i%2].post(newClient(t), fault(load.name(i), 0)); len(open) != 1 || a.ticket() != open[0] {
			t.Errorf("%s is told of %q; open are %q", load.name(i), a.ticket(), open)
		}
	}
	if more := d.creates.Load() - before; more != 0 {
		t.Errorf("%d tickets after the merges", more)
	}
	t.Logf("%d faults, %d tickets: %d doubles, %d reported, %d merged", load.faults.Load(), d.creates.Load(), doubles, reported, merged())
}
