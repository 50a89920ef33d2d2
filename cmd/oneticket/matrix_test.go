package main_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/sqlitestore"
)

// A deskKind is what a ticket system offers against doubles.
type deskKind struct {
	name      string
	settings  string // of its rules
	remembers bool
	finds     bool
	lag       time.Duration
	desk      *sickDesk
}

func deskKinds(t *testing.T, times int) []*deskKind {
	kinds := []*deskKind{
		{name: "native", remembers: true, settings: `
  lookup     = null
  memory     = { kind = "remembers", for = "24h" }
  remembered = headers["x-remembered"] == "yes"`},
		{name: "immediate", finds: true},
		{name: "lagging", finds: true, lag: 1500 * time.Millisecond, settings: `
  lookup     = { settle = "4s" }`},
		{name: "nothing", settings: `
  lookup     = null`},
	}
	for _, k := range kinds {
		k.desk = newSickDesk(t, k, times)
	}
	return kinds
}

func backendName(f *failure, k *deskKind) string {
	if f.place == nil {
		return k.name
	}
	return k.name + "-" + strings.ReplaceAll(strings.ToLower(f.name), " ", "-")
}

// A matrix is one sidecar in front of every kind of ticket system, at every
// place where one may be, and what its clients live through.
type matrix struct {
	t        *testing.T
	sidecar  *sidecar
	client   *http.Client
	failures []*failure
	kinds    []*deskKind
	listens  map[string]string   // by backend
	heal     map[string]func()   // of the places that become well
	rows     map[*failure][]*row // that are played
	store    *sqlitestore.Store
	sums     map[string]*sum // by kind, of the last verdict
}

// TestNoFailureLosesOrDoublesAFault plays every failure of a ticket system
// against every kind of it, with clients that wait or leave, and that send
// again or never do.
func TestNoFailureLosesOrDoublesAFault(t *testing.T) {
	for times := range sized(1, 2) {
		t.Run(fmt.Sprintf("%d in a row", times+1), func(t *testing.T) { playMatrix(t, times+1) })
	}
}

func playMatrix(t *testing.T, times int) {
	m := newMatrix(t, times)
	rows := m.choose(sized(3, 16))
	m.start()
	for batch := range slices.Chunk(rows, 128) {
		m.play(batch)
	}
	m.calm()
	m.judge(rows, "when all is quiet")
	t.Logf("what the clients that waited saw first (* names a ticket):\n%s", m.seen())
	m.refire(rows)
	m.judge(rows, "after one more re-fire")
	if t.Failed() {
		t.Logf("oneticket said: %s", m.sidecar.log)
	}
}

func newMatrix(t *testing.T, times int) *matrix {
	m := &matrix{
		t: t, client: newClient(t), failures: failures(), kinds: deskKinds(t, times),
		listens: map[string]string{}, heal: map[string]func(){}, rows: map[*failure][]*row{},
	}
	var backends []matrixBackend
	for _, k := range m.kinds {
		backends = append(backends, matrixBackend{k.name, k.desk.URL, k})
		for _, f := range m.failures {
			if f.place == nil {
				continue
			}
			url, heal := f.place.way(t, k.desk)
			m.heal[backendName(f, k)] = heal
			backends = append(backends, matrixBackend{backendName(f, k), url, k})
		}
	}
	var blocks strings.Builder
	for i, address := range freeAddresses(t, len(backends)) {
		m.listens[backends[i].name] = address
		backends[i].write(&blocks, address)
	}
	m.sidecar = newSidecar(t, newDesk(t), "", blocks.String()+"in_flight {\n  wait  = \"2s\"\n  lease = \"4s\"\n}\n")
	m.sidecar.rewrite(`timeout = "5s"`, `timeout = "2s"`)
	return m
}

// freeAddresses are different ones.
func freeAddresses(t *testing.T, many int) (addresses []string) {
	for len(addresses) < many {
		if one := freeAddress(t); !slices.Contains(addresses, one) {
			addresses = append(addresses, one)
		}
	}
	return addresses
}

// A matrixBackend is one kind of ticket system at one place.
type matrixBackend struct {
	name, url string
	kind      *deskKind
}

func (b matrixBackend) write(to *strings.Builder, listen string) {
	fmt.Fprintf(to, `
backend %[1]q {
  url     = %[2]q
  listen  = %[3]q
  preset  = "servicenow"
  timeout = "2s"
}
rule %[1]q {
  backend     = %[1]q
  preset      = "servicenow/incident"
  identity    = {
    element_id  = lower(body.cmdb_ci)
    fault_class = body.category
  }
  fingerprint = { severity = body.urgency }
  settle      = "2s"
  heal_within = "1s"%[4]s
}
`, b.name, b.url, listen, b.kind.settings)
}

// sixteen are the numbers of the rows of one failure: first one that can be
// healed, then the others, which begin elsewhere for each failure.
func sixteen(failure int) []int {
	healed := 1 + 8*(failure%2)
	numbers := []int{healed}
	for j := range 16 {
		if n := (3*failure + 7*j) % 16; n != healed {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// choose picks so many of the sixteen rows of each failure.
func (m *matrix) choose(many int) (rows []*row) {
	for i, f := range m.failures {
		for _, n := range sixteen(i)[:many] {
			r := newRow(f, m.kinds[n%4], n&4 != 0, n&8 != 0)
			r.desk, r.url = r.kind.desk, "http://"+m.listens[r.backend()]
			r.desk.rows[r.String()] = r
			m.rows[f] = append(m.rows[f], r)
			rows = append(rows, r)
		}
	}
	return rows
}

func (m *matrix) start() {
	m.sidecar.start()
	store, err := sqlitestore.Open(m.t.Context(), sqlitestore.Options{Path: filepath.Join(m.sidecar.dir, "state", "oneticket.db"), Timeout: 20 * time.Second})
	if err != nil {
		m.t.Fatal(err)
	}
	m.store = store
	m.t.Cleanup(func() { store.Close() })
}

// play plays all rows at once. A place becomes well when the first create of
// each of its rows has failed.
func (m *matrix) play(rows []*row) {
	var all sync.WaitGroup
	first := map[*failure]*sync.WaitGroup{}
	for _, r := range rows {
		if first[r.failure] == nil {
			first[r.failure] = &sync.WaitGroup{}
		}
		told := first[r.failure]
		told.Add(1)
		all.Go(func() {
			r.first(m.t.Context(), m.client, func() bool { return m.records(r.backend())[r.key()].Episode > 0 })
			told.Done()
			r.repeat(m.t.Context(), m.client)
		})
	}
	for f, done := range first {
		if f.place == nil || !f.place.heals {
			continue
		}
		all.Go(func() {
			done.Wait()
			for _, k := range m.kinds {
				m.heal[backendName(f, k)]()
			}
		})
	}
	all.Wait()
}

// The longest pause between two things that the sidecar does for one fault is
// less than calmFor; they are all over within calmWithin.
const (
	calmFor    = 7 * time.Second
	calmWithin = time.Minute
)

// calm waits until nothing has reached a desk for a while.
func (m *matrix) calm() {
	var last int64
	since := time.Now()
	for end := time.Now().Add(calmWithin); time.Since(since) < calmFor && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var now int64
		for _, k := range m.kinds {
			now += k.desk.requests.Load()
		}
		if now != last {
			last, since = now, time.Now()
		}
	}
}

// refire asks for every fault once more: no key is stuck, and where there is a
// ticket there is no second one. A letter goes beside its answer.
func (m *matrix) refire(rows []*row) {
	var all sync.WaitGroup
	keys := map[dedup.Key]bool{}
	for _, r := range rows {
		if r.down() {
			continue
		}
		r.refires, keys[r.key()] = true, true
		all.Go(func() { r.repeat(m.t.Context(), m.client) })
	}
	all.Wait()
	waitFor(m.t, "the end of the letters", func() bool {
		for key := range m.letters() {
			if keys[key] {
				return false
			}
		}
		return true
	})
	retried := m.sidecar.metric("oneticket_decisions_total", `rule="nothing"`, `reason="retried"`)
	if possible := m.sums["nothing"].possible; retried < float64(possible) {
		m.t.Errorf("%v creates are counted as sent again blindly, and %d of them were doubles", retried, possible)
	}
}
