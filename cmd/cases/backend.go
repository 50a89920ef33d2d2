package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A backend is the scripted ticket system of one case: what the script says,
// and the profile's own behaviour where it says nothing.
type backend struct {
	sys    system
	desk   desk
	script *testCase
	clock  *caseClock
	also   []string // further create routes, "METHOD PATH"

	mu       sync.Mutex
	arrivals []arrival
	requests int // on a create route
	changes  int // on an update route
	lookups  int
	pending  int
	answered map[int]bool // statuses that went out
}

// An arrival is one request that reached the backend.
type arrival struct {
	kind kind
	line string
	body []byte
}

func newBackend(c *testCase, sys system, clock *caseClock) *backend {
	b := &backend{sys: sys, script: c, clock: clock, answered: map[int]bool{}}
	b.desk.now = clock.wall
	return b
}

// A plan is what is to be done with one request.
type plan struct {
	kind   kind
	script *script // nil = the profile's own behaviour
}

// arrive counts a request and chooses its script.
func (b *backend) arrive(r *request) plan {
	b.desk.mu.Lock()
	p := plan{kind: b.kindOf(r)}
	b.desk.mu.Unlock()

	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending++
	b.arrivals = append(b.arrivals, arrival{p.kind, r.method + " " + r.target, r.body})
	switch p.kind {
	case create:
		b.requests++
		p.script = b.forCreate(b.requests)
	case update, resolve, reopen:
		if _, shared := b.sys.(put); shared {
			b.requests++ // where the client chooses the id, creates and updates share a route
		}
		b.changes++
		p.script = b.script.Update[b.changes]
	case lookUp:
		b.lookups++
		p.script = b.script.LookUp[b.lookups]
	}
	return p
}

func (b *backend) kindOf(r *request) kind {
	if slices.Contains(b.also, r.method+" "+r.path) {
		return create
	}
	return b.sys.route(&b.desk, r)
}

// forCreate finds the script of the nth create. The caller holds the lock.
func (b *backend) forCreate(n int) *script {
	now := b.clock.now()
	for _, s := range b.script.Create {
		if s.Number == n && s.Until == 0 || now < s.Until {
			return s
		}
	}
	return nil
}

func (b *backend) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending--
}

// idle reports whether nothing is under way at the backend.
func (b *backend) idle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pending == 0
}

// since returns the arrivals after the first n, and how many there are now.
func (b *backend) since(n int) ([]arrival, int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.arrivals[n:]), len(b.arrivals)
}

// serve acts on one request. A nil answer means that the connection is to be
// reset.
func (b *backend) serve(r *request) *answer {
	p := b.arrive(r)
	defer b.done()
	var a *answer
	switch {
	case p.kind == lookUp || p.kind == other:
		a = b.read(r, p)
	case p.script == nil:
		a = b.act(r, p, "yes")
	default:
		a = b.scripted(r, p)
	}
	b.note(a)
	return a
}

func (b *backend) note(a *answer) {
	if a == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answered[a.Status] = true
}

func (b *backend) read(r *request, p plan) *answer {
	if s := p.script; s != nil {
		time.Sleep(s.Delay)
		if s.Reset != "" {
			return nil
		}
		if s.Answer != nil {
			return b.fill(s.Answer, r)
		}
	}
	b.desk.mu.Lock()
	defer b.desk.mu.Unlock()
	return b.sys.read(&b.desk, r)
}

// scripted does what a script says about the commit, the delay and the answer.
func (b *backend) scripted(r *request, p plan) *answer {
	s := p.script
	commit := s.commits()
	var made *answer
	if commit == "yes" || commit == "first" {
		made = b.act(r, p, commit)
	}
	time.Sleep(s.Delay)
	if commit == "late" {
		made = b.act(r, p, "yes")
	}
	if made == nil {
		b.desk.mu.Lock()
		b.desk.see(b.natives(r, p))
		b.desk.mu.Unlock()
		made = answerJSON(http.StatusInternalServerError, object{"error": object{"message": "nothing was made"}})
	}
	switch {
	case s.Reset != "":
		return nil
	case s.Answer != nil:
		return b.fill(s.Answer, r)
	}
	return made
}

// commits says whether a scripted request makes a ticket: as told, else as the
// answer's status says.
func (s *script) commits() string {
	switch {
	case s.Commit != "":
		return s.Commit
	case s.Reset == "before":
		return "no"
	case s.Answer != nil && (s.Answer.Status < 200 || s.Answer.Status > 299):
		return "no"
	}
	return "yes"
}

func (b *backend) natives(r *request, p plan) []string {
	var out []string
	if p.kind == create {
		for _, e := range b.sys.elements(r) {
			out = append(out, e.native...)
		}
	}
	return out
}

// act commits and gives the profile's own answer.
func (b *backend) act(r *request, p plan, commit string) *answer {
	b.desk.mu.Lock()
	defer b.desk.mu.Unlock()
	if p.kind != create {
		return b.sys.change(&b.desk, r, p.kind)
	}
	b.desk.see(b.natives(r, p))
	if m, ok := b.sys.(rememberer); ok {
		if a := m.remembered(&b.desk, r); a != nil {
			return a
		}
	}
	var made []*ticket
	for _, e := range b.sys.elements(r) {
		made = append(made, b.desk.make(b.sys, e))
		b.desk.creates++
		if commit == "first" {
			break
		}
	}
	if len(made) == 0 {
		return answerJSON(http.StatusBadRequest, object{"error": object{"message": "nothing to make"}})
	}
	return b.sys.created(&b.desk, r, made)
}

// fill puts the key that the backend saw in a create into its scripted answer.
func (b *backend) fill(a *answer, r *request) *answer {
	const mark = "{{key}}"
	if !strings.Contains(string(a.Body), mark) {
		return a
	}
	key := ""
	b.desk.mu.Lock()
	if seen := b.natives(r, plan{kind: create}); len(seen) > 0 {
		key = seen[len(seen)-1]
	} else if n := len(b.desk.tickets); n > 0 && len(b.desk.tickets[n-1].native) > 0 {
		key = b.desk.tickets[n-1].native[len(b.desk.tickets[n-1].native)-1]
	}
	b.desk.mu.Unlock()
	out := *a
	out.Body = []byte(strings.ReplaceAll(string(a.Body), mark, key))
	return &out
}

// counts are the numbers that a case's expect lines speak of.
func (b *backend) counts() map[string]int {
	b.desk.mu.Lock()
	defer b.desk.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	return map[string]int{
		"creates": b.desk.creates, "requests": b.requests,
		"updates": b.desk.updates, "resolves": b.desk.resolves, "reopens": b.desk.reopens,
	}
}

// byHand makes, closes, reopens or deletes a ticket without a request.
func (b *backend) byHand(act string, n int) error {
	b.desk.mu.Lock()
	defer b.desk.mu.Unlock()
	if act == "make" {
		if want := len(b.desk.tickets) + 1; n != want {
			return fmt.Errorf("the next ticket is T%d, not T%d", want, n)
		}
		b.desk.make(b.sys, element{}).byHand = true
		return nil
	}
	t := b.desk.find(b.sys.id(n))
	if t == nil {
		return fmt.Errorf("there is no T%d", n)
	}
	switch act {
	case "close":
		t.open, t.state = false, "7"
	case "open":
		t.open, t.state = true, "2"
	case "delete":
		t.id = ""
	}
	return nil
}
