package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// stats is what the ticket system has counted since its start.
type stats struct {
	Tickets int `json:"tickets"`
	Keyed   int `json:"keyed"`
	Updates int `json:"updates"`
	Lost    int `json:"lost_answers"`
}

// The table, and its one user.
const (
	incidents = "/api/now/table/incident"
	user      = "automation"
	password  = "demo"
)

// A ticketSystem is the demo's ticket system, running.
type ticketSystem struct {
	*child
	url    string
	client *http.Client
}

func startTicketSystem(ctx context.Context, program, dir, name string, client *http.Client) (*ticketSystem, error) {
	log := filepath.Join(dir, name+".log")
	c, err := startChild(log, nil, program)
	if err != nil {
		return nil, fmt.Errorf("start the ticket system: %w", err)
	}
	t := &ticketSystem{child: c, client: client}
	err = poll(ctx, 10*time.Second, c.ended, func() bool {
		line, ok := firstLine(log)
		t.url = line
		return ok && strings.HasPrefix(line, "http://")
	})
	if err != nil {
		c.end()
		return nil, fmt.Errorf("the ticket system does not come up: %w: %s", err, c.tail(5))
	}
	return t, nil
}

// firstLine gives the first line of a file once it is complete.
func firstLine(path string) (string, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	line, _, complete := strings.Cut(string(data), "\n")
	return line, complete
}

func (t *ticketSystem) stats(ctx context.Context) (stats, error) {
	var s stats
	data, err := get(ctx, t.client, t.url+"/stats")
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(data, &s)
}

// setDelay makes every create take so long.
func (t *ticketSystem) setDelay(ctx context.Context, d time.Duration) error {
	return t.misbehave(ctx, "delay="+d.String())
}

// loseAnswers makes the next n creates become tickets whose answers nobody
// gets.
func (t *ticketSystem) loseAnswers(ctx context.Context, n int) error {
	return t.misbehave(ctx, "lose="+strconv.Itoa(n))
}

func (t *ticketSystem) misbehave(ctx context.Context, how string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url+"/faults?"+how, nil)
	if err != nil {
		return err
	}
	resp, err := t.client.Do(r)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		return fmt.Errorf("tell the ticket system %s: %s", how, resp.Status)
	}
	return nil
}

// urgencyOf reads the ticket with the number, past oneticket.
func (t *ticketSystem) urgencyOf(ctx context.Context, number string) (string, error) {
	straight := automation{base: t.url, client: t.client}
	_, data, err := straight.send(ctx, http.MethodGet, incidents+"?sysparm_query=number="+number, nil)
	if err != nil {
		return "", err
	}
	var found struct{ Result []struct{ Urgency string } }
	if err := json.Unmarshal(data, &found); err != nil || len(found.Result) != 1 {
		return "", fmt.Errorf("read %s: %d tickets of that number: %s", number, len(found.Result), data)
	}
	return found.Result[0].Urgency, nil
}
