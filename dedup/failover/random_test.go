package failover_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

var (
	schedules = flag.Int("schedules", 300, "how many random schedules are run")
	firstSeed = flag.Uint64("seed", 1, "the seed of the first")
)

// TestRandomOutages runs two replicas over one shared store through outages,
// lost replies, crashes and slow ticket systems at random instants, and checks
// what must hold whatever happens:
//
//   - no incident is lost: in the end the key has an open ticket
//   - every ticket that is open beside it is reported, and no other
//   - nothing provisional and nothing to reconcile is left
func TestRandomOutages(t *testing.T) {
	for i := range uint64(*schedules) {
		seed := *firstSeed + i
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				newChaos(t, seed).run()
				synctest.Wait()
			})
		})
	}
}

// A chaos is one schedule.
type chaos struct {
	testing.TB
	r     *rand.Rand
	seed  uint64
	desk  *desk
	far   dedup.Store
	nears []dedup.Store
	keys  []dedup.Ref

	mu      sync.Mutex
	procs   []*replica
	excused map[string]bool // tokens of which nobody can tell what became
	log     []string
	under   sync.WaitGroup
	told    *told
}

func newChaos(t testing.TB, seed uint64) *chaos {
	r := rand.New(rand.NewPCG(seed, 7))
	c := &chaos{TB: t, r: r, seed: seed, far: storetest.NewMemory(time.Now), excused: map[string]bool{}, told: newTold()}
	c.desk = &desk{memory: []dedup.Memory{dedup.NoMemory, dedup.NoMemory, dedup.Folds, dedup.Remembers}[r.IntN(4)], mute: r.IntN(4) == 0}
	c.nears = []dedup.Store{storetest.NewMemory(time.Now), storetest.NewMemory(time.Now)}
	if r.IntN(4) == 0 { // two replicas of one machine
		c.nears[1] = c.nears[0]
	}
	for i := range 2 {
		c.keys = append(c.keys, dedup.Ref{Rule: "faults", Scope: "snow.example.test", Key: dedup.Key(fmt.Sprint("idem:", i))})
	}
	for i := range c.nears {
		c.procs = append(c.procs, nil)
		c.start(i)
	}
	return c
}

func (c *chaos) start(i int) {
	p := &replica{TB: c, desk: c.desk, policy: policyFor(c.desk), near: c.nears[i], far: c.far, told: c.told}
	p.start()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.procs[i] = p
}

func (c *chaos) proc(i int) *replica {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.procs[i]
}

func (c *chaos) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, fmt.Sprintf("%7.3fs ", time.Since(synctestBegin).Seconds())+fmt.Sprintf(format, args...))
}

// synctestBegin is when time begins in a bubble.
var synctestBegin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (c *chaos) at(d time.Duration, f func()) {
	c.under.Go(func() {
		time.Sleep(d)
		f()
	})
}

func (c *chaos) some(most time.Duration) time.Duration {
	return time.Duration(c.r.Int64N(int64(most)))
}

const playtime = 90 * time.Second

func (c *chaos) run() {
	for q := range 6 + c.r.IntN(10) {
		c.request(q)
	}
	for range 1 + c.r.IntN(3) {
		c.outage()
	}
	for range c.r.IntN(3) {
		i, n := c.r.IntN(2), int64(1+c.r.IntN(4))
		c.at(c.some(playtime), func() { c.note("R%d loses %d replies", i, n); c.proc(i).shared.loses.Store(n) })
	}
	for range c.r.IntN(3) {
		i := c.r.IntN(2)
		c.at(c.some(playtime), func() { c.crash(i) })
	}
	if c.r.IntN(3) == 0 {
		i, n := c.r.IntN(2), c.r.IntN(8)
		c.at(c.some(playtime), func() { c.human(i, n) })
	}
	c.under.Wait()
	c.atRest()
	if c.Failed() {
		c.mu.Lock()
		defer c.mu.Unlock()
		slices.Sort(c.log)
		c.Logf("open at the desk: %+v\n%s", c.desk.open(), strings.Join(c.log, "\n"))
	}
}

func (c *chaos) outage() {
	from, length, which, frozen := c.some(playtime), c.some(40*time.Second), c.r.IntN(3), c.r.IntN(2) == 0
	for i := range c.procs {
		if which != 2 && which != i {
			continue
		}
		c.at(from, func() {
			c.note("R%d out of reach, frozen %t", i, frozen)
			if frozen {
				c.proc(i).shared.frozen.Store(int64(250 * time.Millisecond))
			} else {
				c.proc(i).shared.cut.Store(true)
			}
		})
		c.at(from+length, func() { c.note("R%d back", i); c.reach(i) })
	}
}

func (c *chaos) reach(i int) {
	w := c.proc(i).shared
	w.frozen.Store(0)
	w.cut.Store(false)
}

// crash ends a process where it stands, and starts another in its place.
func (c *chaos) crash(i int) {
	c.note("R%d crashes", i)
	old := c.proc(i)
	old.shared.cut.Store(true)
	old.local.cut.Store(true)
	cut := old.shared.frozen.Load()
	c.start(i)
	c.proc(i).shared.frozen.Store(cut)
	old.stop()
}

// human closes one of the open tickets, and a webhook tells of it.
func (c *chaos) human(i, n int) {
	open := c.desk.open()
	if len(open) == 0 {
		return
	}
	id := open[n%len(open)].id
	c.note("a person closes %s, told at R%d", id, i)
	c.desk.close(id)
	p := c.proc(i)
	_ = p.engine.CloseTicket(context.Background(), scope, id, p.policy)
}

// An ending is how a create ends.
type ending struct {
	kind  dedup.OutcomeKind
	makes bool
	lands time.Duration // after its caller left
}

func (c *chaos) ending() ending {
	switch n := c.r.IntN(20); {
	case n < 13:
		return ending{dedup.OutcomeCreated, true, 0}
	case n < 15:
		return ending{dedup.OutcomeUnknown, true, 0}
	case n < 16:
		return ending{dedup.OutcomeUnknown, true, c.some(10 * time.Second)}
	case n < 17:
		return ending{dedup.OutcomeUnknown, false, 0}
	case n < 18:
		return ending{dedup.OutcomeRefused, false, 0}
	default:
		return ending{dedup.OutcomeNeverSent, false, 0}
	}
}

func (c *chaos) request(q int) {
	when, i, key, takes, end := c.some(playtime), c.r.IntN(2), c.keys[c.r.IntN(2)], c.some(8*time.Second), c.ending()
	severity := string("22222222222211110"[c.r.IntN(17)])
	c.at(when, func() {
		p := c.proc(i)
		claim := p.claim(severity)
		claim.Fault.Ref = key
		v, err := p.engine.Decide(context.Background(), claim)
		c.note("q%d R%d severity "+severity+" %s: %s %s %s token %q, %v", q, i, key.Key, v.Kind, v.Reason, v.Record.Ticket.ID, v.Record.Token, err)
		switch {
		case err != nil && !p.local.cut.Load():
			c.Errorf("q%d was not decided: %v", q, err)
		case err == nil && v.Kind == dedup.Create:
			c.send(p, v.Hold, q, takes, end)
		}
	})
}

func (c *chaos) send(p *replica, h *dedup.Hold, q int, takes time.Duration, end ending) {
	h.MarkSent()
	time.Sleep(takes)
	id, old := "", false
	if end.makes && end.lands == 0 {
		id, old = c.desk.take(h.Token())
	}
	if end.kind == dedup.OutcomeUnknown {
		c.mu.Lock()
		c.excused[h.Token()] = c.excused[h.Token()] || c.desk.mute
		c.mu.Unlock()
	}
	o := dedup.Outcome{Kind: end.kind}
	if end.kind == dedup.OutcomeCreated {
		o = c.answered(id, old)
	}
	_, err := h.Settle(context.Background(), o)
	c.note("q%d ends as %s %s, %v", q, end.kind, id, err)
	if err != nil && p.local.cut.Load() {
		c.mu.Lock()
		c.excused[h.Token()] = c.excused[h.Token()] || c.desk.mute
		c.mu.Unlock()
	}
	if end.makes && end.lands > 0 {
		time.Sleep(end.lands)
		c.note("q%d lands as %s", q, c.desk.create(h.Token()))
	}
}

// answered is a success; one that names an older ticket says so where the desk
// marks it.
func (c *chaos) answered(id string, old bool) dedup.Outcome {
	o := created(id)
	if old && c.desk.memory == dedup.Remembers && !c.desk.mute {
		o.Kind = dedup.OutcomeRemembered
	}
	return o
}

func (c *chaos) excuses(token string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.excused[token]
}

// atRest ends all trouble, waits for what was left, and checks.
func (c *chaos) atRest() {
	for i := range c.procs {
		c.reach(i)
		c.proc(i).shared.loses.Store(0)
	}
	time.Sleep(3 * time.Minute)
	for _, p := range c.procs {
		p.quiet()
	}
	for _, key := range c.keys {
		c.restOf(key)
	}
	for _, p := range c.procs {
		p.quiet()
		if left := p.left(); len(left) > 0 {
			c.Errorf("the embedded store still has %v", left)
		}
		p.stop()
	}
}

func (c *chaos) restOf(key dedup.Ref) {
	p := c.procs[0]
	said := ""
	for range 6 { // one client that sends until it has a ticket
		claim := p.claim("2")
		claim.Fault.Ref = key
		v, err := p.engine.Decide(context.Background(), claim)
		if err != nil {
			c.Fatalf("%s at rest: %v", key.Key, err)
		}
		said = string(v.Kind) + " " + string(v.Reason)
		success := v.Kind == dedup.Suppress || v.Kind == dedup.Update && !v.UpdateFailed
		if v.Kind == dedup.Create {
			v.Hold.MarkSent()
			st, err := v.Hold.Settle(context.Background(), c.answered(c.desk.take(v.Hold.Token())))
			success = err == nil && st.Success
		}
		if success {
			break
		}
		time.Sleep(90 * time.Second)
	}
	found, err := c.far.Get(context.Background(), key)
	if err != nil {
		c.Fatal(err)
	}
	rec := found.Record
	open := c.desk.open()
	own := slices.IndexFunc(open, func(t deskTicket) bool { return t.id == rec.Ticket.ID })
	if rec.State != dedup.Open || rec.Provisional || own < 0 {
		c.Errorf("seed %d, %s: an incident is lost: the record is %s with %q, the last client was told %s", c.seed, key.Key, rec.State, rec.Ticket.ID, said)
	}
	c.doubles(key, rec, open)
}

// doubles compares the tickets that are open beside the record's with what was
// reported.
func (c *chaos) doubles(key dedup.Ref, rec dedup.Record, open []deskTicket) {
	tickets, tokens := map[string]bool{}, map[string]bool{}
	for i, p := range c.procs {
		if i > 0 && c.nears[i] == c.nears[0] {
			continue
		}
		entries, err := p.store.Entries(context.Background())
		if err != nil {
			c.Fatal(err)
		}
		for _, e := range entries {
			if e.Key != key.Key {
				continue
			}
			c.note("%s entry %s %s %s beside %s", key.Key, e.Result, e.Ticket, e.Token, e.Beside)
			tickets[e.Ticket] = tickets[e.Ticket] || e.Result == dedup.Double
			tokens[e.Token] = tokens[e.Token] || e.Result == dedup.MaybeDouble || e.Result == dedup.InDoubt
		}
	}
	if tickets[rec.Ticket.ID] {
		c.Errorf("seed %d, %s: the ticket of the record itself, %s, is reported", c.seed, key.Key, rec.Ticket.ID)
	}
	for _, t := range open {
		mine := t.token == string(key.Key) || strings.HasPrefix(t.token, string(key.Key)+".")
		if !mine || t.id == rec.Ticket.ID || tickets[t.id] || tokens[t.token] || c.told.of(t) || c.excuses(t.token) {
			continue
		}
		c.Errorf("seed %d, %s: %s (token %s) is open beside %s, and was not reported", c.seed, key.Key, t.id, t.token, rec.Ticket.ID)
	}
}
