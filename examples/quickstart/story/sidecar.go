package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A sidecar is `oneticket run` with its Envoy.
type sidecar struct {
	*child
	programs
	url      string // stands in for the ticket system
	trialURL string // the same, under a rule that only observes
	admin    string
	env      []string
	log      string
	client   *http.Client
	banked   map[string]decisions // by rule: what earlier processes have counted
}

func newSidecar(p programs, dir, ticketsURL, trialTicketsURL string, client *http.Client) (*sidecar, error) {
	addr, err := freeAddresses(3)
	if err != nil {
		return nil, err
	}
	return &sidecar{
		programs: p,
		url:      "http://" + addr[0],
		trialURL: "http://" + addr[1],
		admin:    "http://" + addr[2],
		env: []string{
			"TICKETS_URL=" + ticketsURL, "TRIAL_TICKETS_URL=" + trialTicketsURL,
			"LISTEN=" + addr[0], "LISTEN_TRIAL=" + addr[1], "ADMIN=" + addr[2],
			"STATE_DIR=" + filepath.Join(dir, "state"),
		},
		log:    filepath.Join(dir, "oneticket.log"),
		client: client,
		banked: map[string]decisions{},
	}, nil
}

// freeAddresses gives n different loopback addresses that nobody listens on
// at this moment.
func freeAddresses(n int) ([]string, error) {
	var addresses []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // after the last one, so that they differ
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}

// start starts oneticket and waits until it says that it is ready.
func (s *sidecar) start(ctx context.Context) error {
	c, err := startChild(s.log, s.env, s.oneticket, "run", "-c", s.config, "--envoy", s.envoy)
	if err != nil {
		return fmt.Errorf("start oneticket: %w", err)
	}
	s.child = c
	err = poll(ctx, 30*time.Second, c.ended, func() bool {
		_, err := get(ctx, s.client, s.admin+"/ready")
		return err == nil
	})
	if err != nil {
		return fmt.Errorf("oneticket does not become ready: %w", err)
	}
	return nil
}

// stop ends the process with the signal, keeps what it has counted, and waits
// until its Envoy is gone as well.
func (s *sidecar) stop(ctx context.Context, sig syscall.Signal) error {
	for _, rule := range []string{enforcedRule, observedRule} {
		d, err := s.decisions(ctx, rule)
		if err != nil {
			return err
		}
		s.banked[rule] = d
	}
	if err := s.signal(sig); err != nil {
		return err
	}
	err := poll(ctx, grace, nil, func() bool { return !listens(s.url) })
	s.end() // an Envoy that is left over must not outlive the demo
	if err != nil {
		return fmt.Errorf("the Envoy of a oneticket that got %v still listens: %w", sig, err)
	}
	return nil
}

func listens(url string) bool {
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(url, "http://"), time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// decisions gives what the rule has decided since the story began.
func (s *sidecar) decisions(ctx context.Context, rule string) (decisions, error) {
	text, err := get(ctx, s.client, s.admin+"/metrics")
	if err != nil {
		return nil, err
	}
	return parseDecisions(string(text), rule).plus(s.banked[rule]), nil
}

func (s *sidecar) lastWords() string {
	if s.child == nil {
		return ""
	}
	return "\nthe end of oneticket's log:\n" + s.tail(15)
}

func (s *sidecar) end() {
	if s.child != nil {
		s.child.end()
	}
}

// poll asks until it is true, the child has ended (nil: there is none), or the
// time is over.
func poll(ctx context.Context, limit time.Duration, ended <-chan struct{}, ask func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ask() {
		select {
		case <-ended:
			return errors.New("it has ended")
		case <-ctx.Done():
			return fmt.Errorf("not within %v", limit)
		case <-tick.C:
		}
	}
	return nil
}

func get(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, resp.Status)
	}
	return data, err
}
