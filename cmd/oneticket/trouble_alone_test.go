package main_test

import (
	"fmt"
	"testing"
	"time"
)

// TestOneSidecarAloneOpensNoDouble: what it knows of a store that dies is enough
// for one ticket a fault, creates that were under way included, and re-fires get
// the stored answer; also when it is itself killed in the outage.
func TestOneSidecarAloneOpensNoDouble(t *testing.T) {
	r := newTroubledRedis(t)
	d := newDesk(t)
	d.delay.Store(int64(50 * time.Millisecond)) // so that some are under way whenever something dies
	s := newSidecar(t, d, "", r.block()+"in_flight {\n wait = \"2s\"\n lease = \"6s\"\n}\n")
	s.rewrite(`timeout = "5s"`, "timeout = \"5s\"\n  failure_mode = \"closed\"") // else what nobody guards is a double
	s.start()
	client := newClient(t)
	known := map[string]string{}
	for i := range 20 {
		element := fmt.Sprint("known-", i)
		known[element] = s.post(client, fault(element, 0)).body
	}
	refire := func(when string) {
		t.Helper()
		for element, body := range known {
			a := s.post(client, fault(element, 1))
			if a.status != 201 || !a.replayed || a.body != body {
				t.Errorf("%s, %s: saw %d %q, replayed %t; want %q", when, element, a.status, a.body, a.replayed, body)
			}
		}
	}
	load := startLoad(t, d, []*sidecar{s})
	time.Sleep(sizedTime(time.Second, 5*time.Second))
	r.kill()
	waitFor(t, "a create without the store", func() bool { return s.metric("oneticket_provisional_creates") > 0 })
	refire("in the outage")
	for range sized(1, 5) {
		time.Sleep(sizedTime(time.Second, 5*time.Second))
		load.mortal.Store(true)
		s.kill()
		s.start()
		refire("after the restart")
	}
	time.Sleep(sizedTime(time.Second, 5*time.Second))
	r.start()
	waitFor(t, "the return", func() bool { return provisional(load.pair) == 0 })
	load.end()
	load.again()
	refire("after the return")
	waitFor(t, "the last return", func() bool { return provisional(load.pair) == 0 })
	doubles, reported := judgeDoubles(t, load)
	t.Logf("%d faults, %d requests, %d tickets: %d doubles, %d reported", load.faults.Load(), load.requests.Load(), d.creates.Load(), doubles, reported)
	if doubles != 0 || d.creates.Load() != load.faults.Load()+int64(len(known)) {
		for i := range load.faults.Load() {
			if ids := d.of(load.name(i)); len(ids) > 1 {
				t.Errorf("%s has %q", load.name(i), ids)
			}
		}
	}
}
