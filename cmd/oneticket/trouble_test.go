package main_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestRedisInTrouble is killed, frozen, filled, made read-only and cut off in
// turn.
func TestRedisInTrouble(t *testing.T) {
	t.Parallel() // it is mostly waited
	r := newTroubledRedis(t)
	storeInTrouble(t, r.block(), r.troubles())
}

// TestPostgresInTrouble is killed, frozen, made read-only, out of connections
// and cut off in turn.
func TestPostgresInTrouble(t *testing.T) {
	t.Parallel()
	p := newTroubledPostgres(t)
	storeInTrouble(t, p.block(), p.troubles())
}

// storeInTrouble: two sidecars share one store, creates and re-fires come all the
// while, and the store is in every trouble in turn. No client is told anything
// but its ticket or "busy"; once the store is known to be away a request does not
// wait for it; and when it is back, every ticket that was opened meanwhile is in
// the store, and those that are doubles are reported, each of them and nothing
// else.
func storeInTrouble(t *testing.T, block string, troubles []trouble) {
	d := newDesk(t)
	d.delay.Store(int64(5 * time.Millisecond))
	pair := troubledPair(t, d, block)
	load := startLoad(t, d, pair)
	for _, trouble := range troubles {
		time.Sleep(sizedTime(500*time.Millisecond, 5*time.Second)) // of good weather, to compare with
		before := load.sample()
		trouble.begin()
		waitFor(t, "a create without the store while it is "+trouble.name, func() bool { return provisional(pair) > 0 })
		load.sample()
		time.Sleep(sizedTime(2*time.Second, 20*time.Second))
		during := load.sample()
		trouble.end()
		waitFor(t, "the return from "+trouble.name, func() bool { return provisional(pair) == 0 })
		t.Logf("%-9s median of a request before %v, during %v; %d tickets for %d faults",
			trouble.name, median(before), median(during), d.creates.Load(), load.faults.Load())
		if len(during) == 0 || median(during) > storeTimeout {
			t.Errorf("%s: the median of %d requests is %v: each waits for the store", trouble.name, len(during), median(during))
		}
	}
	load.end()
	waitFor(t, "the last return", func() bool { return provisional(pair) == 0 })
	doubles, reported := judgeDoubles(t, load)
	t.Logf("%d faults, %d requests, %d busy: %d tickets, %d doubles, %d reported", load.faults.Load(), load.requests.Load(), load.busy.Load(), d.creates.Load(), doubles, reported)
}

// troubledPair are two sidecars over one store, with the timeout that it has by
// default.
func troubledPair(t *testing.T, d *desk, block string) []*sidecar {
	pair := make([]*sidecar, 2)
	for i := range pair {
		pair[i] = newSidecar(t, d, "", block+"in_flight {\n wait = \"2s\"\n lease = \"6s\"\n}\n")
		pair[i].start()
	}
	return pair
}

// judgeDoubles compares the doubles that the ticket system has with those that
// are reported by name: of the tickets of a fault all but one, and nothing else.
func judgeDoubles(t *testing.T, l *load) (doubles, reported int) {
	t.Helper()
	named := reportedOf(l.pair)
	for i := range l.faults.Load() {
		ids := l.desk.of(l.name(i))
		var of []string
		for _, id := range ids {
			if named[id] {
				of = append(of, id)
			}
		}
		if len(ids) == 0 || len(of) != len(ids)-1 {
			t.Errorf("%s has the tickets %q; reported are %q:\n%s", l.name(i), ids, of, saidOf(l.pair, ids))
		}
		doubles += max(0, len(ids)-1)
		reported += len(of)
	}
	for _, s := range l.pair {
		if n := int(s.metric("oneticket_duplicates_total", `kind="known"`)); n < len(reportedOf([]*sidecar{s})) {
			t.Errorf("%d doubles are counted, and more are named", n)
		}
	}
	return doubles, reported
}

var lineOfDouble = regexp.MustCompile(`level=WARN msg="(?:opened while the store was away: duplicate|duplicate: [^"]*)" .*\bticket=(\w+)`)

// reportedOf are the tickets that the sidecars call doubles: of what they have
// reconciled, and of answers that met another ticket. Two may know of the same.
func reportedOf(pair []*sidecar) map[string]bool {
	named := map[string]bool{}
	for _, s := range pair {
		for _, m := range lineOfDouble.FindAllStringSubmatch(s.log.String(), -1) {
			named[m[1]] = true
		}
	}
	return named
}

// saidOf is what the sidecars say of the tickets.
func saidOf(pair []*sidecar, ids []string) string {
	var said []string
	for n, s := range pair {
		for line := range strings.SplitSeq(s.log.String(), "\n") {
			if slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(line, id) }) {
				said = append(said, fmt.Sprint(n, ": ", line))
			}
		}
	}
	return strings.Join(said, "\n")
}

// storeTimeout is the default: what a request waits for a store that is not
// known to be away.
const storeTimeout = 250 * time.Millisecond

func sizedTime(normal, full time.Duration) time.Duration {
	if soak() {
		return full
	}
	return normal
}

// provisional counts what was opened without the store and is not in it yet.
func provisional(pair []*sidecar) (n float64) {
	for _, s := range pair {
		n += s.metric("oneticket_provisional_creates")
	}
	return n
}

func median(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// A load is creates and re-fires by clients that go to both sidecars and come
// again when they are told to, until it ends.
type load struct {
	t        *testing.T
	desk     *desk
	pair     []*sidecar
	over     atomic.Bool
	clients  sync.WaitGroup
	faults   atomic.Int64
	requests atomic.Int64
	busy     atomic.Int64
	mortal   atomic.Bool // a sidecar is killed now and then: some are told nothing, or that it is not there

	mu   sync.Mutex
	took []time.Duration
}

func startLoad(t *testing.T, d *desk, pair []*sidecar) *load {
	l := &load{t: t, desk: d, pair: pair}
	t.Cleanup(l.end)
	l.faults.Store(1)
	for c := range 4 {
		l.clients.Go(func() {
			client := newClient(t)
			rng := rand.New(rand.NewPCG(uint64(c), 1))
			for try := 0; !l.over.Load(); try++ {
				i := rng.Int64N(l.faults.Load())
				if rng.IntN(4) == 0 {
					i = l.faults.Add(1) - 1
				}
				l.one(client, l.pair[rng.IntN(len(l.pair))], i, try)
				time.Sleep(10 * time.Millisecond) // the rate of the load
			}
		})
	}
	return l
}

func (l *load) name(i int64) string { return fmt.Sprint("ne-", i) }

// one sends a fault until it is told of a ticket.
func (l *load) one(client *http.Client, s *sidecar, i int64, try int) {
	for deadline := time.Now().Add(time.Minute); ; {
		start := time.Now()
		a := s.post(client, fault(l.name(i), try))
		l.mu.Lock()
		l.took = append(l.took, time.Since(start))
		l.mu.Unlock()
		l.requests.Add(1)
		switch {
		case a.status == 201:
			if !slices.Contains(l.desk.of(l.name(i)), a.ticket()) {
				l.t.Errorf("%s was told of %q; its tickets are %q", l.name(i), a.ticket(), l.desk.of(l.name(i)))
			}
			return
		case l.mortal.Load() && (a.status == 0 || a.status == 503) && time.Now().Before(deadline):
		case a.status != 503 || !strings.HasPrefix(a.header.Get("Oneticket-Decision"), "busy"):
			l.t.Errorf("%s: saw %d %q (%s)", l.name(i), a.status, a.body, a.header.Get("Oneticket-Decision"))
			return
		case time.Now().After(deadline):
			l.t.Errorf("%s is stuck: %d %q", l.name(i), a.status, a.body)
			return
		}
		l.busy.Add(1)
		time.Sleep(100 * time.Millisecond) // sooner than it is told to
	}
}

// again has every fault fire once more at each sidecar, whose clients have gone.
func (l *load) again() {
	var work sync.WaitGroup
	faults := make(chan int64)
	for range 4 {
		work.Go(func() {
			client := newClient(l.t)
			for i := range faults {
				for _, s := range l.pair {
					l.one(client, s, i, 0)
				}
			}
		})
	}
	for i := range l.faults.Load() {
		faults <- i
	}
	close(faults)
	work.Wait()
}

// sample returns how long the requests took since the last sample.
func (l *load) sample() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	took := l.took
	l.took = nil
	return took
}

func (l *load) end() {
	l.over.Store(true)
	l.clients.Wait()
}
