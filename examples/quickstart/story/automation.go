package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A fault is what a monitoring system knows for sure. One that is over and
// comes back is another one, which no request says.
type fault struct {
	element, class string
	returned       bool
}

func (f fault) String() string {
	if f.returned {
		return f.element + " " + f.class + ", back again"
	}
	return f.element + " " + f.class
}

// faults gives n different faults of a chapter.
func faults(chapter string, n int) []fault {
	classes := []string{"LINK_DOWN", "RING_DOWN", "POWER", "BGP_PEER_LOST"}
	out := make([]fault, n)
	for i := range out {
		out[i] = fault{element: fmt.Sprintf("%s-rtr-%02d", chapter, i+1), class: classes[i%len(classes)]}
	}
	return out
}

// An answer is what the automation makes of an HTTP answer.
type answer struct {
	fault    fault
	status   int
	number   string // of the ticket, as people name it
	id       string // of the ticket, as its address names it
	decision string // oneticket's header; the automation itself would not look
}

// An automation is a client as it was written years ago: one base URL, and a
// create for whatever fires.
type automation struct {
	base    string
	client  *http.Client
	first   int    // number of the first round; it only makes titles differ
	urgency string // of the faults: 1 is the worst, 3 the least
	out     *teller
}

// usual is the urgency of a fault of which no chapter says more.
const usual = "2"

// from is the same automation in a later round.
func (a automation) from(round int) automation {
	a.first = round
	return a
}

// at is the same automation when the faults are of another urgency.
func (a automation) at(urgency string) automation {
	a.urgency = urgency
	return a
}

// storm fires every fault in each round, all faults of a round at a time.
func (a automation) storm(ctx context.Context, known []fault, rounds int) ([]answer, error) {
	var all []answer
	for round := range rounds {
		answers, err := a.together(ctx, len(known), func(i int) (fault, []byte) {
			return known[i], body(known[i], a.first+round, a.urgency)
		})
		if err != nil {
			return nil, err
		}
		all = slices.Concat(all, answers)
		a.out.progress("%d of %d requests", len(all), len(known)*rounds)
	}
	return all, nil
}

// atOnce sends one create of one fault from n clients.
func (a automation) atOnce(ctx context.Context, f fault, n int) ([]answer, error) {
	same := body(f, 0, a.urgency)
	return a.together(ctx, n, func(int) (fault, []byte) { return f, same })
}

// together sends n creates that all wait for one start signal.
func (a automation) together(ctx context.Context, n int, create func(int) (fault, []byte)) ([]answer, error) {
	answers, errs := make([]answer, n), make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		f, b := create(i)
		wg.Go(func() {
			<-start
			answers[i], errs[i] = a.create(ctx, f, b)
		})
	}
	close(start)
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			f, _ := create(i)
			return nil, fmt.Errorf("a create of %s got no answer: %w", f, err)
		}
	}
	return answers, nil
}

func (a automation) create(ctx context.Context, f fault, body []byte) (answer, error) {
	resp, data, err := a.send(ctx, http.MethodPost, incidents, body)
	if err != nil {
		return answer{}, err
	}
	got := answer{fault: f, status: resp.StatusCode, decision: resp.Header.Get("Oneticket-Decision")}
	var ticket struct {
		Result struct {
			Number string
			ID     string `json:"sys_id"`
		}
	}
	if json.Unmarshal(data, &ticket) == nil { // else it stays without a number, which the checks see
		got.number, got.id = ticket.Result.Number, ticket.Result.ID
	}
	return got, nil
}

// resolve says of each fault that it is over, on the ticket that its answer
// named.
func (a automation) resolve(ctx context.Context, answers []answer) error {
	over := []byte(`{"state":"6","close_code":"Resolved by caller","close_notes":"the alarm has ended"}`)
	for _, one := range answers {
		resp, data, err := a.send(ctx, http.MethodPatch, incidents+"/"+one.id, over)
		if err != nil {
			return fmt.Errorf("resolve %s: %w", one.number, err)
		}
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("resolve %s: %s: %s", one.number, resp.Status, data)
		}
	}
	return nil
}

// send gives the answer and its whole body.
func (a automation) send(ctx context.Context, method, path string, body []byte) (*http.Response, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, a.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	r.SetBasicAuth(user, password)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	resp, err := a.client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp, data, err
}

// body is the create of a fault in a round. All that a person would not call
// the fault differs from round to round: title, text, times, an event id, the
// spelling of the element.
func body(f fault, round int, urgency string) []byte {
	now := time.Now().UTC()
	element := f.element
	if round%2 == 1 {
		element = strings.ToUpper(element)
	}
	data, err := json.Marshal(map[string]any{
		"cmdb_ci":           element,
		"category":          f.class,
		"urgency":           urgency,
		"u_tier":            "access",
		"short_description": fmt.Sprintf("[FIRING:%d] %s on %s at %s", round+1, f.class, element, now.Format(time.TimeOnly)),
		"description":       fmt.Sprintf("seen %d times, last at %s", round+1, now.Format(time.RFC3339Nano)),
		"u_event_id":        fmt.Sprintf("ev-%d", now.UnixNano()),
	})
	if err != nil {
		panic(err) // a map of strings
	}
	return data
}
