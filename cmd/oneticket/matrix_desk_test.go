package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A sickDesk is a ticket system that fails at the first creates of each fault,
// as the fault's row says, and is well from then on.
type sickDesk struct {
	*httptest.Server
	remembers bool          // answers a token that it has seen with the same ticket
	lag       time.Duration // from a commit until a look-up finds the ticket
	times     int64         // so many creates of a fault fail
	rows      map[string]*row
	requests  atomic.Int64

	mu      sync.Mutex
	tickets []sickTicket
}

type sickTicket struct {
	fault, token, header, id string
	at                       time.Time
}

func newSickDesk(t *testing.T, k *deskKind, times int) *sickDesk {
	d := &sickDesk{remembers: k.remembers, lag: k.lag, times: int64(times), rows: map[string]*row{}}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Server.Close)
	return d
}

func (d *sickDesk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.requests.Add(1)
	id, isOne := strings.CutPrefix(r.URL.Path, "/api/now/table/incident/")
	switch {
	case r.Method == http.MethodPost:
		d.create(w, r)
	case isOne:
		d.read(w, id)
	default:
		d.lookUp(w, r.FormValue("sysparm_query"))
	}
}

func (d *sickDesk) create(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender went away in the middle
	}
	var fields struct {
		Fault string `json:"cmdb_ci"`
		Token string `json:"correlation_id"`
	}
	one := d.rows[""]
	if json.Unmarshal(body, &fields) == nil {
		one = d.rows[fields.Fault]
	}
	if one == nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	v := &visit{w: w, r: r, make: func() (sickTicket, bool) {
		return d.commit(fields.Fault, fields.Token, r.Header.Get("Idempotency-Key"))
	}}
	if one.creates.Add(1) > d.times || one.failure.play == nil {
		v.created()
		return
	}
	if one.failure.commits && !one.failure.late {
		v.make()
	}
	one.meet()
	one.failure.play(v)
	one.failed.Store(time.Now().UnixNano())
}

// commit makes the ticket; a desk that remembers the token says so instead.
func (d *sickDesk) commit(fault, token, header string) (made sickTicket, again bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.remembers && header != "" {
		if i := slices.IndexFunc(d.tickets, func(t sickTicket) bool { return t.header == header }); i >= 0 {
			return d.tickets[i], true
		}
	}
	made = sickTicket{fault: fault, token: token, header: header, id: fmt.Sprintf("%032x", len(d.tickets)+1), at: time.Now()}
	d.tickets = append(d.tickets, made)
	return made, false
}

// lookUp answers with the tickets of the token that its index has.
func (d *sickDesk) lookUp(w http.ResponseWriter, query string) {
	token, _, _ := strings.Cut(strings.TrimPrefix(query, "correlation_id="), "^")
	indexed := time.Now().Add(-d.lag)
	found := []map[string]string{}
	d.mu.Lock()
	for _, t := range d.tickets {
		if t.token == token && !t.at.After(indexed) {
			found = append(found, map[string]string{
				"sys_id": t.id, "number": "INC" + t.id[25:], "correlation_id": token, "state": "1", "active": "true",
				"sys_created_on": t.at.UTC().Format(time.DateTime),
			})
		}
	}
	d.mu.Unlock()
	sayJSON(w, http.StatusOK, map[string]any{"result": found})
}

// read answers for one ticket: all are open.
func (d *sickDesk) read(w http.ResponseWriter, id string) {
	d.mu.Lock()
	there := slices.ContainsFunc(d.tickets, func(t sickTicket) bool { return t.id == id })
	d.mu.Unlock()
	if !there {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	sayJSON(w, http.StatusOK, map[string]any{"result": map[string]string{"sys_id": id, "state": "1", "active": "true"}})
}

func (d *sickDesk) of(fault string) (tickets []sickTicket) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.tickets {
		if t.fault == fault {
			tickets = append(tickets, t)
		}
	}
	return tickets
}

func sayJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // whoever asked has gone
}

// A visit is one create at the desk.
type visit struct {
	w    http.ResponseWriter
	r    *http.Request
	make func() (ticket sickTicket, again bool)
}

// created makes the ticket and says so.
func (v *visit) created() {
	ticket, again := v.make()
	if again {
		v.w.Header().Set("X-Remembered", "yes")
	}
	sayJSON(v.w, http.StatusCreated, map[string]any{"result": map[string]string{"sys_id": ticket.id, "number": "INC" + ticket.id[25:]}})
}

// raw says the text, which need not be HTTP, and hangs up.
func (v *visit) raw(text string, reset bool) {
	hijacker, can := v.w.(http.Hijacker)
	if !can {
		return
	}
	c, _, err := hijacker.Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = io.WriteString(c, text) // whoever asked has gone
	if tcp, is := c.(*net.TCPConn); is && reset {
		_ = tcp.SetLinger(0)
	}
}

// away waits until the caller has gone.
func (v *visit) away() { <-v.r.Context().Done() }

// quiet is the log of a server whose clients behave as they do here.
var quiet = log.New(io.Discard, "", 0)
