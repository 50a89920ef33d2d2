package main_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"oneticket/dedup/deadletter"
)

// A flakyDesk is a desk whose port can be closed and opened again, with every
// connection cut.
type flakyDesk struct {
	*desk
	address string
	server  *http.Server
}

// newFlakyDesk listens at an address of its own.
func newFlakyDesk(t *testing.T) *flakyDesk {
	f := &flakyDesk{desk: newDesk(t), address: freeAddress(t)}
	f.URL = "http://" + f.address
	f.open(t)
	t.Cleanup(func() { f.server.Close() })
	return f
}

func (f *flakyDesk) open(t *testing.T) {
	var listener net.Listener
	waitFor(t, "the port of the ticket system", func() (free bool) {
		var err error
		listener, err = net.Listen("tcp", f.address)
		return err == nil
	})
	server := &http.Server{Handler: f.Config.Handler}
	f.server = server
	go server.Serve(listener)
}

// TestEverythingIsKilledAtRandom: sidecar, Envoy and ticket system go and come
// while clients repeat each create until they are told of a ticket, and every
// fourth gives up as soon as the filter has told it of a failure. After a replay
// of the dead letters every fault has its ticket. With a filter that fails
// closed that is exactly one; with one that fails open there are no more doubles
// than creates that the bypass log names.
func TestEverythingIsKilledAtRandom(t *testing.T) {
	for _, mode := range []string{"closed", "open"} {
		t.Run(mode, func(t *testing.T) {
			d := newFlakyDesk(t)
			d.delay.Store(int64(150 * time.Millisecond)) // so that there are creates under way whenever something dies
			s := newSidecar(t, d.desk, "heal_within = \"1s\"", "in_flight {\n wait = \"2s\"\n lease = \"6s\"\n}")
			s.rewrite(`timeout = "5s"`, fmt.Sprintf("timeout = \"2s\"\n  failure_mode = %q\n  credentials = { Authorization = \"Bearer replay\" }", mode))
			s.start()
			faults := sized(120, 5000)
			var over atomic.Bool
			var chaos sync.WaitGroup
			kills := 0
			chaos.Go(func() {
				for !over.Load() {
					kills++
					killSomething(t, s, d)
				}
			})
			var gaveUp atomic.Int64
			repeatUntilTold(t, s, d.desk, faults, &gaveUp)
			over.Store(true)
			chaos.Wait()
			t.Logf("%d clients gave up; %d dead letters", gaveUp.Load(), replayUntilNoneIsLeft(t, s))
			judge(t, s, d.desk, mode, faults, kills)
		})
	}
}

// killSomething kills one of the three at a random moment, and brings it back.
func killSomething(t *testing.T, s *sidecar, d *flakyDesk) {
	time.Sleep(time.Duration(300+rand.IntN(sized(700, 4000))) * time.Millisecond) // the moment is what is random
	switch rand.IntN(4) {
	case 0:
		s.kill()
		s.start()
	case 1:
		if err := syscall.Kill(s.proxyPID(), syscall.SIGKILL); err != nil {
			t.Errorf("kill Envoy: %v", err)
		}
		<-s.ended // it ends with its Envoy
		s.start()
	case 2:
		d.server.Close()
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
		d.open(t)
	default: // what fails now is held by nobody who could send it again
		d.server.Close()
		time.Sleep(time.Duration(700+rand.IntN(1000)) * time.Millisecond)
		s.kill()
		s.start()
		d.open(t)
	}
}

// replayUntilNoneIsLeft returns how many letters there were.
func replayUntilNoneIsLeft(t *testing.T, s *sidecar) int {
	t.Helper()
	n := len(s.letters())
	var results []deadletter.Result
	for deadline := time.Now().Add(2 * time.Minute); len(s.letters()) > 0; {
		if time.Now().After(deadline) {
			t.Errorf("letters stay: %+v", results)
			break
		}
		results, _ = s.replay()
	}
	return n
}

// repeatUntilTold sends each create until its client is told of a ticket; every
// fourth client gives up when the filter has told it that its create failed.
func repeatUntilTold(t *testing.T, s *sidecar, d *desk, faults int, gaveUp *atomic.Int64) {
	work := make(chan string)
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			client := newClient(t)
			for element := range work {
				deadline := time.Now().Add(2 * time.Minute)
				for try := 0; ; try++ {
					a := s.post(client, fault(element, try))
					if a.status == 201 {
						if !slices.Contains(d.of(element), a.ticket()) {
							t.Errorf("%s was told of %q; its tickets are %q", element, a.ticket(), d.of(element))
						}
						break
					}
					if strings.HasSuffix(element, "-quits") && strings.HasPrefix(a.header.Get("Oneticket-Decision"), "create") {
						gaveUp.Add(1)
						break
					}
					if time.Now().After(deadline) {
						t.Errorf("%s is stuck: %d %q", element, a.status, a.body)
						break
					}
					time.Sleep(50 * time.Millisecond) // sooner than it is told to
				}
			}
		})
	}
	for i := range faults {
		work <- chaosElement(i)
	}
	close(work)
	clients.Wait()
}

func chaosElement(i int) string {
	if i%4 == 0 {
		return fmt.Sprintf("ne-%d-quits", i)
	}
	return fmt.Sprint("ne-", i)
}

func judge(t *testing.T, s *sidecar, d *desk, mode string, faults, kills int) {
	t.Helper()
	doubled := 0
	var names []string
	for i := range faults {
		element := chaosElement(i)
		switch ids := d.of(element); {
		case len(ids) == 0:
			t.Errorf("%s has no ticket", element)
		case len(ids) > 1:
			doubled += len(ids) - 1
			names = append(names, element)
		}
	}
	unguarded := s.bypassed()
	t.Logf("failure_mode %s: %d faults, %d kills: %d tickets, %d doubled, %d unguarded", mode, faults, kills, d.creates.Load(), doubled, unguarded)
	most := 0
	if mode == "open" {
		most = unguarded
	}
	if doubled > most {
		t.Errorf("%d doubles (%s), want at most %d; log of the last run:\n%s", doubled, strings.Join(names, " "), most, last(s.log.String(), 4000))
	}
}

func last(text string, n int) string { return text[max(0, len(text)-n):] }
