package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A desk is a ticket system that counts what reaches it.
type desk struct {
	*httptest.Server
	delay   atomic.Int64 // nanoseconds from the commit to the answer
	creates atomic.Int64
	answers func(w http.ResponseWriter, element, id string) bool // true: it has answered; set before the first request

	mu      sync.Mutex
	tickets map[string][]string // ids by cmdb_ci (the raw body where that cannot be read)
	keys    map[string][]string // ids by correlation_id
	closed  map[string]bool     // ids of tickets that are closed
	bodies  [][]byte
	headers []http.Header
}

func newDesk(t *testing.T) *desk {
	d := &desk{tickets: map[string][]string{}, keys: map[string][]string{}, closed: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/now/table/incident", d.query)
	mux.HandleFunc("GET /api/now/table/incident/{id}", d.read)
	mux.HandleFunc("PATCH /api/now/table/incident/{id}", d.update)
	mux.HandleFunc("GET /api/now/stats/incident", d.count)
	mux.HandleFunc("/", d.create)
	d.Server = httptest.NewServer(mux)
	t.Cleanup(d.Server.Close)
	return d
}

func (d *desk) create(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender went away in the middle
	}
	var fields struct {
		CI  string `json:"cmdb_ci"`
		Key string `json:"correlation_id"`
	}
	fault := string(body[:min(len(body), 200)])
	if json.Unmarshal(body, &fields) == nil && fields.CI != "" {
		fault = fields.CI
	}
	id := fmt.Sprintf("%032x", d.creates.Add(1))
	d.mu.Lock()
	d.tickets[fault] = append(d.tickets[fault], id)
	d.keys[fields.Key] = append(d.keys[fields.Key], id)
	d.bodies = append(d.bodies, body)
	d.headers = append(d.headers, r.Header.Clone())
	d.mu.Unlock()
	time.Sleep(time.Duration(d.delay.Load()))
	if d.answers != nil && d.answers(w, fields.CI, id) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"result":{"sys_id":%q,"number":"INC%07d"}}`, id, d.creates.Load())
}

// query answers a look-up by correlation_id.
func (d *desk) query(w http.ResponseWriter, r *http.Request) {
	key, _, _ := strings.Cut(strings.TrimPrefix(r.FormValue("sysparm_query"), "correlation_id="), "^")
	d.mu.Lock()
	ids := d.keys[key]
	d.mu.Unlock()
	found := []map[string]string{}
	for _, id := range ids {
		shown := d.shown(id)
		shown["number"], shown["correlation_id"] = "INC"+id[25:], key
		found = append(found, shown)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"result": found}) // whoever asked has gone
}

// shown is what the desk says of a ticket.
func (d *desk) shown(id string) map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed[id] {
		return map[string]string{"sys_id": id, "state": "6", "active": "false"}
	}
	return map[string]string{"sys_id": id, "state": "1", "active": "true"}
}

// read answers for one ticket.
func (d *desk) read(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"result": d.shown(r.PathValue("id"))})
}

// update takes every change, and a close is one.
func (d *desk) update(w http.ResponseWriter, r *http.Request) {
	var change struct {
		State string `json:"state"`
	}
	if json.NewDecoder(r.Body).Decode(&change) == nil && change.State == "6" {
		d.mu.Lock()
		d.closed[r.PathValue("id")] = true
		d.mu.Unlock()
	}
	d.read(w, r)
}

// count answers how many open tickets carry a key of ours, to whoever may know.
func (d *desk) count(w http.ResponseWriter, r *http.Request) {
	if user, _, _ := r.BasicAuth(); user != "reporter" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for key, ids := range d.keys {
		for _, id := range ids {
			if strings.HasPrefix(key, "idem:") && !d.closed[id] {
				n++
			}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"result":{"stats":{"count":"%d"}}}`, n)
}

// under are the ids of the tickets with this correlation_id.
func (d *desk) under(key string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.keys[key])
}

// open are the ids of those of them that are open.
func (d *desk) open(ids []string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return d.closed[id] })
}

// of are the ids of the tickets of one fault.
func (d *desk) of(fault string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.tickets[fault]...)
}
