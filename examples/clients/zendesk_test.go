package clients_test

import (
	"net/http"
	"strconv"
	"time"
)

// zendesk is the ticket API of Zendesk Support, which knows an Idempotency-Key
// again.
func zendesk(d *desk, mux *http.ServeMux) {
	const api = "/api/v2/tickets"
	mux.HandleFunc("POST "+api+".json", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Ticket zendeskTicket }
		body := read(r, &in)
		key := r.Header.Get("Idempotency-Key")
		if before := d.find(func(t *ticket) bool { return key != "" && t.key == key }); len(before) > 0 {
			recalled(w, body, before[0])
			return
		}
		want := ticket{key: key, body: body, fault: in.Ticket.field(3601), severity: in.Ticket.Priority, token: in.Ticket.External, title: in.Ticket.Subject}
		d.take(w, want, func(w http.ResponseWriter, t ticket) {
			w.Header().Set("X-Idempotency-Lookup", "miss")
			showTicket(w, http.StatusCreated, t)
		})
	})
	mux.HandleFunc("GET "+api+".json", func(w http.ResponseWriter, r *http.Request) {
		external := r.FormValue("external_id")
		found := d.find(func(t *ticket) bool { return external == "" || t.token == external })
		write(w, http.StatusOK, object{"tickets": list(found, zendeskShows), "count": len(found), "next_page": nil})
	})
	mux.HandleFunc("GET "+api+"/{id}", func(w http.ResponseWriter, r *http.Request) {
		d.with(w, r.PathValue("id"), func(t *ticket) { write(w, http.StatusOK, object{"ticket": zendeskShows(*t)}) })
	})
	mux.HandleFunc("PUT "+api+"/{id}", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Ticket zendeskTicket }
		read(r, &in)
		d.with(w, r.PathValue("id"), func(t *ticket) {
			t.grade(in.Ticket.Priority)
			t.done = t.done || in.Ticket.Status == "solved"
			showTicket(w, http.StatusOK, *t)
		})
	})
}

type zendeskTicket struct {
	Subject  string
	Priority string
	Status   string
	External string `json:"external_id"`
	Fields   []struct {
		ID    int
		Value string
	} `json:"custom_fields"`
}

func (t zendeskTicket) field(id int) string {
	for _, f := range t.Fields {
		if f.ID == id {
			return f.Value
		}
	}
	return ""
}

// recalled answers a key that came before: only with the same body.
func recalled(w http.ResponseWriter, body string, before ticket) {
	if body != before.body {
		write(w, http.StatusBadRequest, object{"error": "Idempotency-Key: the parameters don't match"})
		return
	}
	w.Header().Set("X-Idempotency-Lookup", "hit")
	showTicket(w, http.StatusCreated, before)
}

// showTicket is what a create and an update are answered with.
func showTicket(w http.ResponseWriter, status int, t ticket) {
	shown := zendeskShows(t)
	write(w, status, object{"ticket": shown, "audit": object{"id": t.n, "ticket_id": t.n, "events": []any{}}})
}

func zendeskShows(t ticket) object {
	status := "new"
	if t.done {
		status = "solved"
	}
	return object{
		"id": t.n, "url": "http://zendesk.example.com/api/v2/tickets/" + strconv.Itoa(t.n) + ".json", "subject": t.title,
		"priority": t.severity, "status": status, "external_id": t.token, "created_at": t.created.UTC().Format(time.RFC3339),
	}
}
