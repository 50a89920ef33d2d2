package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A load is one kind of request.
type load struct {
	name    string
	request func(address string, n int64) *http.Request
	replays bool // what a guarded one is answered with is a replay
}

var loads = []load{
	{name: "re-fires", request: func(address string, n int64) *http.Request {
		return create(address, fmt.Sprint("ne-", n%openFaults), n)
	}, replays: true},
	{name: "creates", request: func(address string, n int64) *http.Request { return create(address, fmt.Sprint("new-", n), n) }},
	{name: "other GETs", request: func(address string, _ int64) *http.Request {
		return newRequest(http.MethodGet, "http://"+address+"/api/now/table/cmdb_ci/1", "")
	}},
}

// openFaults are those that re-fire; set before the first request.
var openFaults int64 = 64

func create(address, element string, title int64) *http.Request {
	return newRequest(http.MethodPost, "http://"+address+"/api/now/table/incident", fmt.Sprintf(
		`{"cmdb_ci":%q,"category":"link","urgency":"2","impact":"2","short_description":"[FIRING:%d] link down","description":%q}`, element, title, padding[:300]))
}

func newRequest(method, url, body string) *http.Request {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		panic(err) // the URL is our own
	}
	req.Header.Set("Content-Type", "application/json")
	req.SetBasicAuth("bot", "secret")
	return req
}

// samples are how long requests took.
type samples []time.Duration

// quantile is that of sorted samples.
func (s samples) quantile(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	return s[min(len(s)-1, int(q*float64(len(s))))]
}

// A sender keeps its connections from one turn to the next.
type sender struct {
	client *http.Client
	next   atomic.Int64 // number of the next request
}

func newSender(clients int) *sender {
	return &sender{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}, Timeout: 30 * time.Second}}
}

// turn sends the load for so long, each client the next request when its last
// is answered.
func (s *sender) turn(ctx context.Context, c contestant, l load, clients int, length time.Duration) (samples, error) {
	ctx, cancel := context.WithTimeout(ctx, length+30*time.Second)
	defer cancel()
	until := time.Now().Add(length)
	parts, errs := make([]samples, clients), make([]error, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for errs[i] == nil && time.Now().Before(until) {
				began := time.Now()
				errs[i] = s.send(ctx, c, l)
				parts[i] = append(parts[i], time.Since(began))
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", c.name, l.name, err)
		}
	}
	return slices.Concat(parts...), nil
}

// send sends one request, and checks that the contestant did with it what it is
// measured for.
func (s *sender) send(ctx context.Context, c contestant, l load) error {
	res, err := s.client.Do(l.request(c.address, s.next.Add(1)).WithContext(ctx))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	replayed := res.Header.Get("Idempotent-Replayed") == "true"
	switch guarded := c.admin != ""; {
	case res.StatusCode >= 300:
		return fmt.Errorf("answered %s", res.Status)
	case guarded && replayed != l.replays:
		return fmt.Errorf("replayed: %t (%s)", replayed, res.Header.Get("Oneticket-Decision"))
	}
	return nil
}
