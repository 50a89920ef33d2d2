package main_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// An updateKind is one way for an update to fail.
type updateKind struct {
	slug, name string
	fail       func(*visit)                   // plays the first update of a ticket; nil: it is not reached
	read       int                            // the status of the first read; 0: the ticket
	before     func(d *updateDesk, id string) // what happens to the ticket before the update
	commits    bool                           // the update is applied all the same
	noUpdate   bool                           // the rule has none
	away       bool                           // nobody listens
	serial     bool                           // one after another: the backend's pause is for all
	proxys     []int                          // statuses of the proxy that take each other's place
}

// fails answers with the status.
func fails(status int, headers ...string) func(*visit) {
	return func(v *visit) {
		for i := 0; i+1 < len(headers); i += 2 {
			v.w.Header().Set(headers[i], headers[i+1])
		}
		sayJSON(v.w, status, map[string]any{"error": map[string]string{"message": http.StatusText(status)}})
	}
}

func closedByHand(d *updateDesk, id string) { d.set(id, func(t *updateTicket) { t.open = false }) }
func deleted(d *updateDesk, id string)      { d.set(id, func(t *updateTicket) { t.gone = true }) }

var updateKinds = []updateKind{
	{slug: "500", name: "500", fail: fails(500)},
	{slug: "503", name: "503", fail: fails(503), proxys: []int{503, 504}},
	{slug: "503-later", name: "503 with `Retry-After`", fail: fails(503, "Retry-After", "1"), serial: true},
	{slug: "429", name: "429", fail: fails(429), serial: true},
	{slug: "429-later", name: "429 with `Retry-After`", fail: fails(429, "Retry-After", "1"), serial: true},
	{slug: "timeout", name: "no answer in time", fail: (*visit).away, proxys: []int{503, 504}},
	{slug: "refused", name: "connection refused", away: true, proxys: []int{503, 504}},
	{slug: "reset", name: "reset after it was applied", commits: true, fail: func(v *visit) { v.raw("", true) }, proxys: []int{503, 504}},
	{slug: "400", name: "400, the ticket is open", fail: fails(400)},
	{slug: "403", name: "403, the ticket is open", fail: fails(403)},
	{slug: "403-both", name: "403, and it may not be read either", fail: fails(403), read: 403},
	{slug: "409", name: "409, the ticket is open", fail: fails(409)},
	{slug: "422", name: "422, the ticket is open", fail: fails(422)},
	{slug: "422-unread", name: "422, and the read fails", fail: fails(422), read: 500},
	{slug: "422-closed", name: "422, the ticket is closed", fail: fails(422), before: closedByHand},
	{slug: "404", name: "404", before: deleted, fail: fails(404)},
	{slug: "410", name: "410", before: deleted, fail: fails(410)},
	{slug: "none", name: "the rule has no update", noUpdate: true},
}

// An updateDesk is a ticket system whose updates fail once for each ticket, as
// the ticket's row says.
type updateDesk struct {
	t       *testing.T
	address string
	server  *http.Server

	mu      sync.Mutex
	tickets []*updateTicket
}

type updateTicket struct {
	id, element, severity string
	kind                  *updateKind
	open, gone, failed    bool
	reads                 int
}

func newUpdateDesk(t *testing.T) *updateDesk {
	d := &updateDesk{t: t, address: freeAddress(t)}
	d.comeBack()
	t.Cleanup(d.leave)
	return d
}

// comeBack listens, at the same address each time.
func (d *updateDesk) comeBack() {
	d.t.Helper()
	l, err := net.Listen("tcp", d.address)
	if err != nil {
		d.t.Fatal(err)
	}
	d.server = &http.Server{Handler: d, ErrorLog: quiet}
	go d.server.Serve(l)
}

// leave hangs up on everybody.
func (d *updateDesk) leave() { _ = d.server.Close() }

func (d *updateDesk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, isOne := strings.CutPrefix(r.URL.Path, "/api/now/table/incident/")
	var body struct {
		Element string `json:"cmdb_ci"`
		Urgency string `json:"urgency"`
	}
	_ = json.NewDecoder(r.Body).Decode(&body) // a read has none
	switch {
	case r.Method == http.MethodPost:
		d.create(w, body.Element, body.Urgency)
	case !isOne:
		sayJSON(w, http.StatusOK, map[string]any{"result": []any{}})
	case r.Method == http.MethodGet:
		d.read(w, id)
	default:
		d.update(w, r, id, body.Urgency)
	}
}

func (d *updateDesk) create(w http.ResponseWriter, element, severity string) {
	d.mu.Lock()
	t := &updateTicket{id: fmt.Sprintf("%032x", len(d.tickets)+1), element: element, severity: severity, open: true}
	slug, _, _ := strings.Cut(element, "/")
	for i := range updateKinds {
		if updateKinds[i].slug == slug {
			t.kind = &updateKinds[i]
		}
	}
	for _, o := range d.tickets {
		t.failed = t.failed || o.element == element // the desk is well after the first
	}
	d.tickets = append(d.tickets, t)
	d.mu.Unlock()
	sayJSON(w, http.StatusCreated, map[string]any{"result": map[string]string{"sys_id": t.id, "number": "INC" + t.id[25:]}})
}

func (d *updateDesk) read(w http.ResponseWriter, id string) {
	var t updateTicket
	d.set(id, func(one *updateTicket) {
		one.reads++
		t = *one
	})
	switch {
	case t.kind.read != 0 && t.reads == 1:
		w.WriteHeader(t.kind.read)
	case t.gone:
		w.WriteHeader(http.StatusNotFound)
	default:
		sayJSON(w, http.StatusOK, map[string]any{"result": t.fields()})
	}
}

func (t *updateTicket) fields() map[string]string {
	state := "7"
	if t.open {
		state = "1"
	}
	return map[string]string{"sys_id": t.id, "state": state, "active": fmt.Sprint(t.open)}
}

func (d *updateDesk) update(w http.ResponseWriter, r *http.Request, id, severity string) {
	var kind *updateKind
	first := false
	d.set(id, func(t *updateTicket) {
		kind, first = t.kind, !t.failed
		t.failed = true
	})
	if first && kind.fail != nil {
		if kind.commits {
			d.set(id, func(t *updateTicket) { t.severity = severity })
		}
		kind.fail(&visit{w: w, r: r})
		return
	}
	var t updateTicket
	d.set(id, func(one *updateTicket) {
		one.severity = severity
		t = *one
	})
	sayJSON(w, http.StatusOK, map[string]any{"result": t.fields()})
}

// set looks at a ticket, or changes it.
func (d *updateDesk) set(id string, change func(*updateTicket)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.tickets {
		if t.id == id {
			change(t)
		}
	}
}

// describe are the tickets of a fault, the oldest first.
func (d *updateDesk) describe(element string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []string
	for _, t := range d.tickets {
		switch {
		case t.element != element:
		case t.gone:
			all = append(all, "gone")
		case t.open:
			all = append(all, "open with "+t.severity)
		default:
			all = append(all, "closed with "+t.severity)
		}
	}
	return strings.Join(all, "; ")
}

// hasOpen reports whether somebody sees the severity.
func (d *updateDesk) hasOpen(element, severity string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.tickets {
		if t.element == element && t.open && !t.gone && t.severity == severity {
			return true
		}
	}
	return false
}
