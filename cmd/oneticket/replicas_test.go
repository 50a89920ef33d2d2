package main_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"oneticket/dedup/pgstore/pgtest"
)

// soak reports whether the tests run at their full sizes (make soak).
func soak() bool { return os.Getenv("ONETICKET_SOAK") != "" }

func sized(normal, full int) int {
	if soak() {
		return full
	}
	return normal
}

// startRedis runs a server of its own for one test and returns its address.
func startRedis(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("no redis-server: run `make services`, or apt-get install redis-server")
	}
	address := freeAddress(t)
	_, port, _ := strings.Cut(address, ":")
	cmd := exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(),
		"--save", "", "--appendonly", "yes", "--maxmemory-policy", "noeviction", "--loglevel", "warning")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	waitFor(t, "redis", func() bool {
		return exec.Command("redis-cli", "-p", port, "ping").Run() == nil
	})
	return address
}

var databases atomic.Int64

// newDatabase makes one on the server and returns its address.
func newDatabase(t *testing.T, s *pgtest.Server) string {
	t.Helper()
	name := fmt.Sprint("faults_", databases.Add(1))
	s.Do(t, "CREATE DATABASE "+name)
	return "postgres://postgres@" + s.Addr + "/" + name + "?sslmode=disable"
}

// stores are those that several replicas may share. Their timeout is long: a
// store that does not answer in time is another story than these, and here all
// of it, clients and proxies included, runs on one machine.
var stores = map[string]func(t *testing.T) (block string){
	"redis": func(t *testing.T) string {
		return fmt.Sprintf("store \"redis\" {\n url = %q\n timeout = \"5s\"\n}\n", "redis://"+startRedis(t))
	},
	"postgres": func(t *testing.T) string {
		return fmt.Sprintf("store \"postgres\" {\n url = %q\n timeout = \"5s\"\n}\n", newDatabase(t, pgtest.Shared(t)))
	},
	"sqlite": func(t *testing.T) string {
		return fmt.Sprintf("store \"sqlite\" {\n path = %q\n timeout = \"5s\"\n}\n", filepath.Join(t.TempDir(), "shared.db"))
	},
}

// newReplicas starts two sidecars with their own Envoys on one store.
func newReplicas(t *testing.T, d *desk, store, more string) []*sidecar {
	block := stores[store](t)
	pair := make([]*sidecar, 2)
	for i := range pair {
		pair[i] = newSidecar(t, d, "", block+more)
		pair[i].start()
	}
	return pair
}

// TestReplicasAtOneInstantOpenOneTicket: active-active senders behind two
// sidecars, as often as it takes to believe it.
func TestReplicasAtOneInstantOpenOneTicket(t *testing.T) {
	for store := range stores {
		t.Run(store, func(t *testing.T) {
			d := newDesk(t)
			d.delay.Store(int64(20 * time.Millisecond))
			pair := newReplicas(t, d, store, "")
			client := newClient(t)
			rounds := sized(5, 1000)
			for round := range rounds {
				element := fmt.Sprint("ne-", round)
				bodies := atInstant(200, func(i int) string {
					a := pair[i%2].post(client, fault(element, i))
					return fmt.Sprint(a.status, " ", a.body)
				})
				ids := d.of(element)
				if distinct := slices.Compact(slices.Sorted(slices.Values(bodies))); len(ids) != 1 || len(distinct) != 1 || !strings.Contains(bodies[0], ids[0]) {
					t.Fatalf("round %d: %d tickets, answers %q", round, len(ids), distinct)
				}
			}
			if got := d.creates.Load(); got != int64(rounds) {
				t.Errorf("%d tickets for %d faults", got, rounds)
			}
		})
	}
}

// atInstant calls f n times at one instant and returns what it said.
func atInstant(n int, f func(int) string) []string {
	out := make([]string, n)
	var ready, done sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gate
			out[i] = f(i)
		})
	}
	ready.Wait()
	close(gate)
	done.Wait()
	return out
}

// TestKillOfOneOfTwoReplicas: faults re-fire all the while one of the two is
// killed and started again. No client is told of a ticket that is not there,
// and there are no more tickets than faults, creates that were under way at a
// kill, and creates that passed unguarded.
func TestKillOfOneOfTwoReplicas(t *testing.T) {
	for _, store := range []string{"redis", "postgres"} {
		t.Run(store, func(t *testing.T) { killOfOneOfTwo(t, store) })
	}
}

func killOfOneOfTwo(t *testing.T, store string) {
	d := newDesk(t)
	d.delay.Store(int64(5 * time.Millisecond))
	pair := newReplicas(t, d, store, "in_flight {\n wait = \"2s\"\n lease = \"6s\"\n}")
	faults, refires, kills := sized(60, 1000), 20, sized(3, 12)
	var running sync.WaitGroup
	var retried, stop atomic.Int64
	running.Go(func() {
		for k := 0; k < kills && stop.Load() == 0; k++ {
			victim := pair[rand.IntN(2)]
			time.Sleep(time.Duration(200+rand.IntN(400)) * time.Millisecond) // the moment is what is random
			retried.Add(int64(victim.metric("oneticket_decisions_total", `decision="create"`, `reason="retried"`)))
			victim.kill()
			victim.start()
		}
	})
	work := make(chan string)
	var workers sync.WaitGroup
	for w := range 16 {
		workers.Go(func() {
			client := newClient(t)
			for element := range work {
				for try := range refires {
					tellTrue(t, d, pair[(w+try)%2], pair[(w+try+1)%2], client, element, try)
				}
			}
		})
	}
	for i := range faults {
		work <- fmt.Sprint("ne-", i)
	}
	close(work)
	workers.Wait()
	stop.Store(1)
	running.Wait()
	for _, s := range pair {
		retried.Add(int64(s.metric("oneticket_decisions_total", `decision="create"`, `reason="retried"`)))
	}
	unguarded := 0
	for _, s := range pair {
		unguarded += s.bypassed()
	}
	keyless := len(d.under("")) // tickets of creates that nobody has guarded
	guarded := d.creates.Load() - int64(keyless)
	t.Logf("%d faults, %d re-fires each, %d kills: %d tickets, %d retried, %d without a key, %d unguarded", faults, refires, kills, d.creates.Load(), retried.Load(), keyless, unguarded)
	if guarded > int64(faults)+retried.Load() {
		t.Errorf("%d tickets of guarded creates, want at most %d faults + %d retried", guarded, faults, retried.Load())
	}
	if keyless > unguarded {
		t.Errorf("%d tickets of unguarded creates, and the bypass log names %d", keyless, unguarded)
	}
	for i := range faults {
		if len(d.of(fmt.Sprint("ne-", i))) == 0 {
			t.Errorf("fault %d has no ticket", i)
		}
	}
}

// tellTrue plays one re-fire of a client that goes to the other replica when
// its own is gone, and comes again when it is told to.
func tellTrue(t *testing.T, d *desk, own, other *sidecar, client *http.Client, element string, try int) {
	deadline := time.Now().Add(time.Minute)
	for at := own; ; {
		a := at.post(client, fault(element, try))
		switch {
		case a.status == 201:
			if !slices.Contains(d.of(element), a.ticket()) {
				t.Errorf("%s was told of %q; its tickets are %q", element, a.ticket(), d.of(element))
			}
			return
		case time.Now().After(deadline):
			t.Errorf("%s is stuck: %d %q", element, a.status, a.body)
			return
		case a.status == 0:
			own, other = other, own
			at = own
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// bypassed counts the entries of the bypass log that reached the ticket system.
func (s *sidecar) bypassed() int {
	text, err := os.ReadFile(filepath.Join(s.dir, "state", "bypass.ndjson"))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	n := 0
	for line := range strings.SplitSeq(string(text), "\n") {
		if line != "" && !strings.Contains(line, `"sent":0`) {
			n++
		}
	}
	return n
}

// TestARefireCostsOneRoundTrip, through the whole sidecar, by Redis's own
// count of commands.
func TestARefireCostsOneRoundTrip(t *testing.T) {
	address := startRedis(t)
	d := newDesk(t)
	s := newSidecar(t, d, "", fmt.Sprintf("store \"redis\" {\n url = %q\n}\n", "redis://"+address))
	s.start()
	client := newClient(t)
	s.post(client, fault("warm-up", 0))
	s.post(client, fault("warm-up", 1))
	scripts := func() int { return redisCalls(t, address, "evalsha") + redisCalls(t, address, "eval") }
	before := scripts()
	const refires = 20
	for i := range refires {
		if a := s.post(client, fault("warm-up", i)); !a.replayed {
			t.Fatalf("saw %d %q", a.status, a.body)
		}
	}
	// What else the sidecar asks meanwhile: its switches, every two seconds.
	if got := scripts() - before; got < refires || got > refires+3 {
		t.Errorf("%d calls for %d re-fires", got, refires)
	}
}

// redisCalls is how often the server has run the command.
func redisCalls(t *testing.T, address, command string) int {
	t.Helper()
	_, port, _ := strings.Cut(address, ":")
	out, err := exec.Command("redis-cli", "-p", port, "info", "commandstats").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		rest, ok := strings.CutPrefix(line, "cmdstat_"+command+":calls=")
		if !ok {
			continue
		}
		digits, _, _ := strings.Cut(rest, ",")
		n, err := strconv.Atoi(digits)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return 0
}
