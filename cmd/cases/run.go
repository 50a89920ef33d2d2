package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// An environment is what all cases share.
type environment struct {
	oneticket string // the binary, built for tests; "" = clients talk to the backend itself
	envoy     string
}

// A run is one case being played.
type run struct {
	env    environment
	script *testCase
	sys    system
	setup  *setup
	dir    string

	clock    *caseClock
	backend  *backend
	ports    []*port
	redis    *redisServer
	products []*product
	serves   bool // the processes run without an Envoy: the runner plays its part

	mu       sync.Mutex
	clients  map[string]*client
	inFlight int
	active   time.Time // the last time that something began or ended
	seen     []*seen
	findings []finding
	notes    []string
}

// playCase plays one case and says what was not as wanted.
func playCase(ctx context.Context, env environment, text string) result {
	c, err := parseCase(text)
	if err != nil {
		return result{ID: idOf(text), Findings: []finding{{"file", "a case", err.Error()}}}
	}
	r := &run{env: env, script: c, sys: systems[c.Profile], clients: map[string]*client{}}
	defer r.close()
	var odd *oddConfig
	if err := r.prepare(ctx); errors.As(err, &odd) {
		r.found("config", "config lines that are understood", odd.Error())
	} else if err != nil {
		r.found("start", "a running oneticket", err.Error())
	} else if err := r.play(); err != nil {
		r.found("runner", "the case played", err.Error())
	} else {
		r.check()
	}
	return result{ID: c.ID, Title: c.Title, Findings: r.findings, Notes: r.notes, Log: r.log()}
}

func idOf(text string) string {
	for l := range strings.Lines(text) {
		if id, ok := strings.CutPrefix(l, "case:"); ok {
			return strings.TrimSpace(id)
		}
	}
	return "?"
}

func (r *run) found(where, wanted, saw string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.findings = append(r.findings, finding{where, wanted, saw})
}

func (r *run) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, text)
}

func (r *run) log() string {
	var out strings.Builder
	for _, p := range r.products {
		out.WriteString(p.log.text())
	}
	return out.String()
}

// prepare opens the backend and starts what stands before it.
func (r *run) prepare(ctx context.Context) error {
	var err error
	if r.setup, err = newSetup(r.script.Profile); err != nil {
		return err
	}
	if err = r.setup.configure(r.script.Config); err != nil {
		return err
	}
	if r.dir, err = os.MkdirTemp("", "case"); err != nil {
		return err
	}
	if r.clock, err = newCaseClock(filepath.Join(r.dir, "clock")); err != nil {
		return err
	}
	r.backend = newBackend(r.script, r.sys, r.clock)
	r.backend.also = r.setup.also
	for range 1 + len(r.setup.hosts) {
		p := &port{backend: r.backend}
		if err := p.open(); err != nil {
			return err
		}
		r.ports = append(r.ports, p)
	}
	if r.env.oneticket == "" {
		return nil
	}
	return r.startProducts(ctx)
}

func (r *run) close() {
	for _, c := range r.clients {
		c.close()
	}
	for _, p := range r.products {
		p.stop()
	}
	r.closePorts()
	if r.redis != nil {
		r.redis.stop()
	}
	if r.dir != "" {
		os.RemoveAll(r.dir)
	}
}

// play goes through the steps of the case. A step with a time starts then; one
// without starts when the answers before it have arrived.
func (r *run) play() error {
	r.clock.restart()
	r.touch(0)
	var sending sync.WaitGroup
	defer sending.Wait()
	for _, group := range grouped(r.script.Steps) {
		if at := group[0].At; at.given {
			if err := r.until(at.after); err != nil {
				return err
			}
		} else {
			sending.Wait()
		}
		if text := group[0].Human; group[0].Send == nil {
			if err := r.human(text); err != nil {
				return err
			}
			continue
		}
		start := make(chan struct{})
		for _, s := range group {
			r.touch(+1)
			sending.Go(func() {
				defer r.touch(-1)
				<-start
				r.exchange(s.Send, len(group) > 1)
			})
		}
		close(start)
	}
	sending.Wait()
	return r.finish()
}

// grouped puts the sends that start at one instant together.
func grouped(steps []step) [][]step {
	var out [][]step
	for _, s := range steps {
		if n := len(out); s.Send != nil && s.Send.Group != "" && n > 0 {
			if before := out[n-1][0].Send; before != nil && before.Group == s.Send.Group {
				out[n-1] = append(out[n-1], s)
				continue
			}
		}
		out = append(out, []step{s})
	}
	return out
}

// quiet is the least real time that passes before the clock is moved: what the
// sidecar does after an answer, it does by its own timers.
const quiet = 250 * time.Millisecond

// until waits for a moment of the case: in real time while anything is under
// way, else by moving the clock.
func (r *run) until(at time.Duration) error {
	for {
		gap := at - r.clock.now()
		if gap <= 0 {
			return nil
		}
		if rested, busy := r.rest(); !busy && rested >= max(quiet, r.setup.patient) {
			return r.clock.skip(gap)
		}
		time.Sleep(min(gap, 2*time.Millisecond))
	}
}

// rest says how long nothing has happened, and whether anything is under way.
func (r *run) rest() (time.Duration, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inFlight > 0 || !r.backend.idle() {
		r.active = time.Now()
		return 0, true
	}
	return time.Since(r.active), false
}

func (r *run) touch(delta int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight += delta
	r.active = time.Now()
}

// finish waits for tickets that are still to be made.
func (r *run) finish() error {
	for _, s := range r.script.Create {
		if s.Commit != "late" {
			continue
		}
		for deadline := time.Now().Add(s.Delay + time.Second); !r.backend.idle() && time.Now().Before(deadline); {
			time.Sleep(2 * time.Millisecond)
		}
	}
	return nil
}

// exchange sends one request and notes what came of it.
func (r *run) exchange(s *send, overlaps bool) {
	addr := r.address(s)
	before := &seen{send: s, at: r.clock.now()}
	_, mark := r.backend.since(0)
	start := time.Now()
	before.answer, before.err = r.client(s.Client).do(addr, s)
	before.took = time.Since(start)
	before.arrived, _ = r.backend.since(mark)
	before.made = r.backend.counts()["creates"]
	before.overlaps = overlaps
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inFlight > 1 {
		before.overlaps = true
	}
	r.seen = append(r.seen, before)
}

func (r *run) client(name string) *client {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clients[name] == nil {
		r.clients[name] = &client{}
	}
	return r.clients[name]
}

// check compares all that was seen with all that was wanted.
func (r *run) check() {
	for _, s := range r.seen {
		w := r.script.Wants[s.send.Number]
		if s.send.Abort > 0 {
			if s.err != nil && !errors.Is(s.err, errAborted) {
				r.found(fmt.Sprintf("send %d", s.send.Number), "a client that leaves", s.err.Error())
			}
			continue
		}
		if w == nil {
			w = &want{}
		}
		for _, f := range w.check(s, r.sys) {
			r.found(f.where, f.wanted, f.saw)
		}
	}
	r.checkExpectations()
	r.checkNever()
}
