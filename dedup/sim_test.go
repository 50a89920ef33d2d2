package dedup_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// maxActions bounds a schedule.
const maxActions = 150

// schedule runs one random schedule to its rest and returns what it did.
func (w *world) schedule(r *rand.Rand) []action {
	var did, can []action
	for range maxActions {
		if can = w.enabled(can[:0]); len(can) == 0 || w.broken != "" {
			break
		}
		a := can[r.IntN(len(can))]
		if (a.kind == passes || a.kind == ticks) && r.IntN(2) == 0 { // or most of a schedule is waiting
			a = can[r.IntN(len(can))]
		}
		did = append(did, a)
		w.do(a)
		if w.idle() && r.IntN(4) == 0 {
			break
		}
	}
	if w.broken == "" {
		did = append(did, w.rest()...)
		w.checkAtRest()
	}
	return did
}

// idle reports whether nothing is under way and nobody waits.
func (w *world) idle() bool {
	for i := range w.reqs {
		if q := &w.reqs[i]; q.phase != ended || q.underWay() {
			return false
		}
	}
	return len(w.webhooks) == 0
}

// rest brings everything that is under way to its end, without more faults.
func (w *world) rest() []action {
	var did []action
	w.left = [faults]int8{}
	for range maxActions {
		can := w.enabled(nil)
		if len(can) == 0 || w.broken != "" {
			break
		}
		a := can[0]
		did = append(did, a)
		w.do(a)
	}
	return did
}

// trace tells a schedule in words.
func trace(cfg *setting, r rules, did []action) string {
	var b strings.Builder
	w := newWorld(cfg, r)
	fmt.Fprintf(&b, "in %v\n", cfg)
	for i, a := range did {
		name := w.name(a)
		w.do(a)
		fmt.Fprintf(&b, "%3d t=%-4d %-42s record: %s\n", i+1, w.now, name, w.brief())
	}
	return b.String()
}

// brief is the record in a line.
func (w *world) brief() string {
	rec := w.rec
	s := fmt.Sprintf("v%d %s ep%d %s fp=%q %s", rec.Version, rec.State, rec.Episode, rec.Token, rec.Fingerprint.Severity, rec.Ticket.ID)
	if rec.Holder != "" {
		s += fmt.Sprintf(" held by %s till %d", rec.Holder, second(rec.LeaseUntil))
	}
	if rec.Looking {
		s += " looking"
	}
	if u := rec.Update; u != nil {
		s += fmt.Sprintf(" update %s by %s till %d", u.Fingerprint.Severity, u.Holder, second(u.LeaseUntil))
	}
	if rec.InDoubt {
		s += " in doubt"
	}
	for _, a := range rec.Attempts {
		s += fmt.Sprintf(" (attempt %s ended %d)", a.Holder, second(a.EndedAt))
	}
	return s
}

// soak reports whether the sizes of the long run are asked for.
func soak() bool { return os.Getenv("ONETICKET_SOAK") == "1" }

// TestSimulationKeepsThePromises drives the shipped functions through random
// schedules of requests, faults and time on every kind of ticket system.
// A seed names a schedule: simulate(seed, shipped()) runs it again.
func TestSimulationKeepsThePromises(t *testing.T) {
	t.Parallel()
	schedules := uint64(10_000)
	if testing.Short() {
		schedules = 2_000
	}
	if soak() {
		schedules = 5_000_000
	}
	var next, steps atomic.Uint64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed := next.Add(1); seed <= schedules && !t.Failed(); seed = next.Add(1) {
				w, cfg, did := simulate(seed, shipped())
				steps.Add(uint64(w.steps))
				if w.broken != "" {
					t.Errorf("seed %d: %s\n%s", seed, w.broken, trace(cfg, shipped(), did))
				}
			}
		})
	}
	wg.Wait()
	held := fmt.Sprintf("simulation: %d schedules of seeds 1 to %d, %d steps, every promise held: %t", schedules, schedules, steps.Load(), !t.Failed())
	t.Log(held)
	if soak() {
		fmt.Println(held)
	}
}

func simulate(seed uint64, r rules) (*world, *setting, []action) {
	random := rand.New(rand.NewPCG(seed, 1))
	cfg := randomSetting(random)
	w := newWorld(cfg, r)
	did := w.schedule(random)
	return w, cfg, did
}
