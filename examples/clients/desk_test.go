package clients_test

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A ticket is what a desk has made of a create.
type ticket struct {
	n        int
	fault    string
	severity string
	token    string // what stands in the field that can be asked for
	labels   []string
	title    string
	key      string // the header Idempotency-Key that made it, where the system keeps those
	body     string // of the request with that key
	done     bool
	updates  int  // severities it was given later
	folds    bool // another create with the token of an open ticket is added to that
	regrades bool // and gives it its severity
	created  time.Time
}

// A trouble is what goes wrong with the first create of a fault.
type trouble struct {
	name    string
	commits bool // a ticket is made
	reset   bool // instead of an answer
	closed  bool // as reset, by an orderly close
	left    bool // what refuses it says that it is there: nothing sends it again but its client
	half    bool // the answer breaks off in its body: Envoy then answers 502 past all filters
	status  int  // in place of the create's own answer
	header  [2]string
	slow    bool // the answer comes when the client's patience is over
}

// slowness is how long a slow desk takes, patience how long its clients wait.
const (
	slowness = 4 * time.Second
	patience = 2 * time.Second
)

// A desk is one ticket system in memory.
type desk struct {
	*httptest.Server
	mu       sync.Mutex
	tickets  []*ticket
	creates  map[string]int // requests, by fault
	troubles map[string]trouble
}

// newDesk serves the routes that the system adds to the mux. It listens when it
// is started.
func newDesk(t *testing.T, system func(*desk, *http.ServeMux)) *desk {
	d := &desk{creates: map[string]int{}, troubles: map[string]trouble{}}
	mux := http.NewServeMux()
	system(d, mux)
	d.Server = httptest.NewUnstartedServer(mux)
	t.Cleanup(d.Close)
	return d
}

// arm lets the first create of the fault end in the trouble.
func (d *desk) arm(fault string, tr trouble) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.troubles[fault] = tr
}

// take is one create: the ticket that was asked for, or the trouble that waits
// for it. answer writes the ticket as the system does.
func (d *desk) take(w http.ResponseWriter, want ticket, answer func(http.ResponseWriter, ticket)) {
	d.mu.Lock()
	d.creates[want.fault]++
	tr, troubled := d.troubles[want.fault]
	delete(d.troubles, want.fault)
	if !troubled || tr.commits {
		want = d.keep(want)
	}
	d.mu.Unlock()
	if tr.slow {
		time.Sleep(slowness)
	}
	switch {
	case tr.reset:
		cut(w, "")
	case tr.closed:
		panic(http.ErrAbortHandler)
	case tr.half:
		cut(w, "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n{\"")
	case tr.status != 0:
		if tr.header[0] != "" {
			w.Header().Set(tr.header[0], tr.header[1])
		}
		write(w, tr.status, object{"error": tr.name})
	default:
		answer(w, want)
	}
}

// keep makes the ticket, or adds the create to one that is open. The desk is
// locked.
func (d *desk) keep(want ticket) ticket {
	for _, t := range d.tickets {
		if want.folds && t.token == want.token && !t.done {
			if want.regrades && t.severity != want.severity {
				t.grade(want.severity)
			}
			return *t
		}
	}
	want.n, want.created = len(d.tickets)+1, time.Now()
	d.tickets = append(d.tickets, &want)
	return want
}

// cut resets the connection after the text.
func cut(w http.ResponseWriter, text string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer conn.Close()
	if text != "" {
		_, _ = io.WriteString(conn, text) // its reader may be gone
		return
	}
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
}

// with calls f for the ticket that is chosen, or answers 404.
func (d *desk) with(w http.ResponseWriter, id string, f func(*ticket)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := numberOf(id)
	if n < 1 || n > len(d.tickets) {
		write(w, http.StatusNotFound, object{"error": "there is no " + id})
		return
	}
	f(d.tickets[n-1])
}

// numberOf is the number of the ticket that the system's clients call this, or 0.
func numberOf(id string) int {
	id = strings.TrimSuffix(strings.TrimSuffix(id, ".json"), ".xml")
	base := 10
	switch {
	case len(id) == len(sysID(ticket{})):
		base = 16
	case len(id) == len(alertID(ticket{})):
		id, _, _ = strings.Cut(id, "-")
	}
	n, err := strconv.ParseInt(strings.TrimLeft(id, "OPSQ-"), base, 32)
	if err != nil {
		return 0
	}
	return int(n)
}

// grade gives the ticket a severity, where there is one.
func (t *ticket) grade(severity string) {
	if severity != "" {
		t.severity = severity
		t.updates++
	}
}

// of are the tickets of the fault, and how many creates have asked for them.
func (d *desk) of(fault string) ([]ticket, int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found []ticket
	for _, t := range d.tickets {
		if t.fault == fault {
			found = append(found, *t)
		}
	}
	return found, d.creates[fault]
}

// each calls f for every ticket.
func (d *desk) each(f func(*ticket)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.tickets {
		f(t)
	}
}

// find is a look-up.
func (d *desk) find(is func(*ticket) bool) []ticket {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found []ticket
	for _, t := range d.tickets {
		if is(t) {
			found = append(found, *t)
		}
	}
	return found
}

type object = map[string]any

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // whoever asked may be gone
}

// read decodes a body, and leaves v as it is where that is none.
func read(r *http.Request, v any) string {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return ""
	}
	_ = json.Unmarshal(body, v) // a body that is none asks for nothing
	return string(body)
}

// list turns tickets into what the system shows of them.
func list(tickets []ticket, show func(ticket) object) []object {
	all := []object{}
	for _, t := range tickets {
		all = append(all, show(t))
	}
	return all
}
