package envoy_test

import (
	"errors"
	"testing"
	"time"

	ext_procv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/protobuf/types/known/durationpb"
)

// longer than the message timeout of the hasty listeners, and than what the
// route of the brief one allows.
const longer = 1600 * time.Millisecond

func moreTime(d time.Duration) *ext_procv3.ProcessingResponse {
	return &ext_procv3.ProcessingResponse{OverrideMessageTimeout: durationpb.New(d)}
}

// slow is a script that sends the first answers to the message of the phase at
// once, and the last one later than the message timeout.
func slow(phase string, answers ...*ext_procv3.ProcessingResponse) func(*talk) error {
	return func(k *talk) error {
		if err := k.reach(phase); err != nil {
			return err
		}
		for i, a := range answers {
			if i == len(answers)-1 {
				wait(k, longer)
			}
			if err := k.stream.Send(a); err != nil {
				return err
			}
		}
		return k.rest()
	}
}

// wait ends with the stream.
func wait(k *talk, d time.Duration) {
	select {
	case <-k.stream.Context().Done():
	case <-time.After(d):
	}
}

func factsOfTime(t *testing.T, f *facts) {
	onBody := continued(reqBody, nil)
	for _, c := range []struct {
		name, backend, path string
		script              func(*talk) error
		status              string
		called              int
	}{
		{"too late for the request, closed", "hasty", "/time/late", slow(reqBody, onBody), "503", 0},
		{"too late for the request, open", "hasty open", "/time/late-open", slow(reqBody, onBody), "201", 1},
		{"too late for the answer: the backend was called", "hasty", "/time/answer", slow(respHeaders, continued(respHeaders, nil)), "504", 1},
		{"more time, and then go on", "hasty", "/time/more", slow(reqBody, moreTime(10*time.Second), onBody), "201", 1},
		{"more time, and then an answer", "hasty", "/time/given", slow(reqBody, moreTime(10*time.Second), given(209, "x")), "209", 0},
		{"more time, counted from when it was asked", "hasty", "/time/short", slow(reqBody, moreTime(500*time.Millisecond), onBody), "503", 0},
		{"a second wish in a phase is ignored", "hasty", "/time/second",
			slow(reqBody, moreTime(500*time.Millisecond), moreTime(10*time.Second), onBody), "503", 0},
		{"a wish for too much is ignored", "hasty", "/time/much", slow(reqBody, moreTime(21*time.Second), onBody), "503", 0},
		{"an answer beside a wish is ignored", "hasty", "/time/both", slow(reqBody, &ext_procv3.ProcessingResponse{
			OverrideMessageTimeout: durationpb.New(500 * time.Millisecond), Response: onBody.Response}, onBody), "503", 0},
		{"a wish in each phase", "hasty", "/time/each", slowTwice, "201", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f.probe.on(c.path, c.script)
			if a := send(t, f.Addresses[c.backend], post(c.path, "{}")); a.status() != c.status {
				t.Errorf("the client got %+v", a)
			}
			if n := len(f.backend.got(c.path)); n != c.called {
				t.Errorf("the backend was called %d times, want %d", n, c.called)
			}
		})
	}
	t.Run("a held request is not on the route's clock", func(t *testing.T) {
		t.Parallel()
		f.probe.on("/time/held", slow(reqBody, moreTime(10*time.Second), onBody))
		if a := send(t, f.Addresses["brief"], post("/time/held", "{}")); a.status() != "201" {
			t.Errorf("the client got %+v", a)
		}
	})
}

// slowTwice asks for more time in two phases, and takes it.
func slowTwice(k *talk) error {
	for _, phase := range []string{reqBody, respHeaders} {
		if err := k.reach(phase); err != nil {
			return err
		}
		if err := k.stream.Send(moreTime(10 * time.Second)); err != nil {
			return err
		}
		wait(k, longer)
	}
	return k.goOn(k.last())
}

// factsOfFailures: that the first message is tried again while the filter is
// away is in TestAFilterThatRestartsIsNoOutage, and what it lets pass in
// TestFilterAway.
func factsOfFailures(t *testing.T, f *facts) {
	broken := errors.New("broken")
	failsAt := func(phase string, err error) func(*talk) error {
		return func(k *talk) error {
			if reached := k.reach(phase); reached != nil {
				return reached
			}
			return err
		}
	}
	for _, c := range []struct {
		name, backend, path string
		script              func(*talk) error
		status              string
		called              int
	}{
		{"an error at the header, closed", "closed", "/fails/1", failsAt(reqHeaders, broken), "503", 0},
		{"an error at the body, closed", "closed", "/fails/2", failsAt(reqBody, broken), "503", 0},
		{"an error at the answer, closed: the backend was called", "closed", "/fails/3", failsAt(respHeaders, broken), "503", 1},
		{"an error at the header, open", "open", "/fails/4", failsAt(reqHeaders, broken), "201", 1},
		{"an error at the answer, open", "open", "/fails/5", failsAt(respBody, broken), "201", 1},
		{"a clean end at the header passes unguarded, closed too", "closed", "/fails/6", failsAt(reqHeaders, nil), "201", 1},
		{"a clean end at the body passes unguarded, closed too", "closed", "/fails/7", failsAt(reqBody, nil), "201", 1},
		{"an answer of the wrong phase, closed", "closed", "/fails/8", at(reqBody, continued(respHeaders, nil)), "503", 0},
		{"an empty answer, closed", "closed", "/fails/9", at(reqBody, &ext_procv3.ProcessingResponse{}), "503", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.probe.on(c.path, c.script)
			if a := send(t, f.Addresses[c.backend], post(c.path, "{}")); a.status() != c.status {
				t.Errorf("the client got %+v", a)
			}
			if n := len(f.backend.got(c.path)); n != c.called {
				t.Errorf("the backend was called %d times, want %d", n, c.called)
			}
		})
	}
	t.Run("a pass without a decision is in the bypass log", func(t *testing.T) {
		if e := bypassed(t, f.Running, "/fails/4"); e.Sent == 0 || e.Cluster != "open" {
			t.Errorf("logged %+v", e)
		}
	})
}

// factsOfHealing: the filter holds Envoy's own answer, and gives another.
func factsOfHealing(t *testing.T, f *facts) {
	for _, c := range []struct {
		name, backend, path string
		script              func(*talk) error
	}{
		{"in place of a 503 to a hang-up", "hasty", "/heal/503", slow(respHeaders, moreTime(10*time.Second), given(201, "found"))},
		{"in place of a 504", "brief", "/heal/504", at(respHeaders, moreTime(10*time.Second), given(201, "found"))},
		{"at the body of the answer", "hasty", "/heal/body", slow(respBody, moreTime(10*time.Second), given(201, "found"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f.probe.on(c.path, c.script)
			f.backend.on(c.path, says(""))
			if c.backend == "brief" {
				f.backend.on(c.path, hangs)
			}
			if a := send(t, f.Addresses[c.backend], post(c.path, "{}")); a.status() != "201" || a.body != "found" {
				t.Errorf("the client got %+v", a)
			}
			if n := len(f.backend.got(c.path)); n != 1 {
				t.Errorf("the backend was called %d times", n)
			}
		})
	}
}
