package main_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestSettingsOfDuplicatesInFlight: how long they wait, how many may, and what
// the others are answered.
func TestSettingsOfDuplicatesInFlight(t *testing.T) {
	o := newTicketOffice(t, "servicenow")
	o.held = make(chan struct{})
	s := newRulesSidecar(t, o, "", "in_flight {\n wait = \"4s\"\n busy = 429\n max_waiters = 1\n}", map[string]string{"held": inFault("")})
	s.start()
	client := newClient(t)
	var all sync.WaitGroup
	defer all.Wait()
	statuses := make(chan int, 8)
	all.Go(func() { statuses <- s.fire(o, client, "held-1", "3", "down").status })
	waitFor(t, "the create", func() bool { return o.size() == 1 })
	for range 2 {
		all.Go(func() { statuses <- s.fire(o, client, "held-1", "3", "down").status })
	}
	if got := <-statuses; got != 429 {
		t.Errorf("one of two duplicates got %d while the create runs, want 429: one may wait", got)
	}
	if got := s.metric("oneticket_waiting"); got != 1 {
		t.Errorf("%v wait", got)
	}
	if got := <-statuses; got != 429 {
		t.Errorf("the other one got %d after its wait, want 429", got)
	}
	close(o.held)
	if got := <-statuses; got != 201 {
		t.Errorf("the create got %d", got)
	}
}

// TestOutsideCallsGoByTheBackendsSettings: by another way, and at a pace.
func TestOutsideCallsGoByTheBackendsSettings(t *testing.T) {
	o := newTicketOffice(t, "servicenow")
	var calls, foreign atomic.Int64
	var mu sync.Mutex
	var arrived []time.Time
	way := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if r.Host != strings.TrimPrefix(o.URL, "http://") {
			foreign.Add(1)
		}
		mu.Lock()
		arrived = append(arrived, time.Now())
		mu.Unlock()
		o.ServeHTTP(w, r)
	}))
	defer way.Close()
	s := newRulesSidecar(t, o, fmt.Sprintf("via = %q\n rate = \"1/s\"", way.URL), "", map[string]string{"paced": inFault("")})
	s.start()
	client := newClient(t)
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			element := fmt.Sprint("paced-", i)
			s.fire(o, client, element, "3", "down")
			if a := s.fire(o, client, element, "1", "down"); a.decision() != "update; reason=changed" || a.status != 201 {
				t.Errorf("%s, %d", a.decision(), a.status)
			}
		})
	}
	all.Wait()
	if calls.Load() != 3 || foreign.Load() != 0 {
		t.Fatalf("%d calls came by the way, %d of them for another host", calls.Load(), foreign.Load())
	}
	if span := arrived[2].Sub(arrived[0]); span < 1800*time.Millisecond {
		t.Errorf("three calls within %v, at one a second", span)
	}
}

// TestACredentialIsBelievedForItsTime: afterwards the ticket is read with it
// before its stored answer is given again.
func TestACredentialIsBelievedForItsTime(t *testing.T) {
	for ttl, want := range map[string]int64{"1s": 1, "1h": 0} {
		t.Run(ttl, func(t *testing.T) {
			o := newTicketOffice(t, "servicenow")
			var reads atomic.Int64
			o.onRead = func() { reads.Add(1) }
			s := newRulesSidecar(t, o, "", fmt.Sprintf("principals {\n ttl = %q\n}", ttl), map[string]string{"known": inFault(`verify_every = "0"`)})
			s.start()
			client := newClient(t)
			s.fire(o, client, "known-1", "3", "down")
			time.Sleep(1100 * time.Millisecond)
			if a := s.fire(o, client, "known-1", "3", "down"); !a.replayed || reads.Load() != want {
				t.Errorf("%s; read %d times, want %d", a.decision(), reads.Load(), want)
			}
		})
	}
}
