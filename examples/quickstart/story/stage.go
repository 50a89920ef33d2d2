package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"syscall"
	"time"
)

// programs is what the story starts, by path.
type programs struct{ oneticket, envoy, ticketSystem, config string }

// A stage is what chapters play on: a running ticket system, another one that
// is on trial, oneticket before both, and a folder that is removed at the end.
type stage struct {
	out     *teller
	dir     string
	tickets *ticketSystem
	trial   *ticketSystem
	sidecar *sidecar
	client  *http.Client
}

// A way is how requests reach a ticket system: the base URL that the
// automation has, the ticket system behind it, and the rule of oneticket.hcl
// that they meet ("" = none: oneticket is not in between).
type way struct {
	url     string
	tickets *ticketSystem
	rule    string
}

// The rules of oneticket.hcl.
const (
	enforcedRule = "network_faults"
	observedRule = "trial"
)

func (s *stage) straight() way { return way{s.tickets.url, s.tickets, ""} }
func (s *stage) enforced() way { return way{s.sidecar.url, s.tickets, enforcedRule} }
func (s *stage) observed() way { return way{s.sidecar.trialURL, s.trial, observedRule} }

func openStage(ctx context.Context, p programs, out *teller) (*stage, error) {
	dir, err := os.MkdirTemp("", "oneticket-demo-")
	if err != nil {
		return nil, err
	}
	s := &stage{out: out, dir: dir, client: newClient()}
	if err := s.start(ctx, p); err != nil {
		err = fmt.Errorf("%w%s", err, s.lastWords())
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *stage) start(ctx context.Context, p programs) (err error) {
	if s.tickets, err = startTicketSystem(ctx, p.ticketSystem, s.dir, "tickets", s.client); err != nil {
		return err
	}
	if s.trial, err = startTicketSystem(ctx, p.ticketSystem, s.dir, "trial", s.client); err != nil {
		return err
	}
	s.out.say("the ticket system is up at %s", s.tickets.url)
	if s.sidecar, err = newSidecar(p, s.dir, s.tickets.url, s.trial.url, s.client); err != nil {
		return err
	}
	if err := s.sidecar.start(ctx); err != nil {
		return err
	}
	s.out.say("oneticket stands in for it at %s", s.sidecar.url)
	return nil
}

// newClient keeps connections as automation does, and never sends twice on
// its own: a POST with a body that was read is not repeated by net/http.
func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 64},
		Timeout:   30 * time.Second,
	}
}

// restart ends oneticket with the signal and starts it again on the same
// addresses and the same store.
func (s *stage) restart(ctx context.Context, sig syscall.Signal) error {
	if err := s.sidecar.stop(ctx, sig); err != nil {
		return err
	}
	// Connections to what is gone are of no use to anybody.
	s.client.CloseIdleConnections()
	return s.sidecar.start(ctx)
}

// lastWords is the end of oneticket's log, for a report of failure.
func (s *stage) lastWords() string {
	if s.sidecar == nil {
		return ""
	}
	return s.sidecar.lastWords()
}

func (s *stage) close() {
	if s.sidecar != nil {
		s.sidecar.end()
	}
	for _, t := range []*ticketSystem{s.tickets, s.trial} {
		if t != nil {
			t.end()
		}
	}
	s.client.CloseIdleConnections()
	os.RemoveAll(s.dir)
}
