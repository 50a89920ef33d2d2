package clients_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// alerts is Opsgenie's Alert API: a create is accepted, and what came of it is
// told under the id of the request. One with the alias of an open alert counts.
func alerts(d *desk, mux *http.ServeMux) {
	const api = "/v2/alerts"
	var requests ledger
	create := func(w http.ResponseWriter, r *http.Request) {
		var in alert
		read(r, &in)
		want := ticket{fault: faultIn(in.Message), severity: in.Priority, token: in.Alias, title: in.Message, folds: true}
		if want.token == "" {
			want.token = fmt.Sprint("own-", time.Now().UnixNano())
		}
		d.take(w, want, func(w http.ResponseWriter, t ticket) { accept(w, requests.add(alertID(t))) })
	}
	mux.HandleFunc("POST "+api, create)
	mux.HandleFunc("POST "+api+"/{$}", create)
	mux.HandleFunc("GET "+api+"/requests/{id}", func(w http.ResponseWriter, r *http.Request) {
		made, known := requests.of(r.PathValue("id"))
		if !known {
			write(w, http.StatusNotFound, object{"message": "Request not found. It might not be processed, yet.", "took": 0.01, "requestId": "r"})
			return
		}
		write(w, http.StatusOK, object{"data": object{"success": true, "action": "Create", "isSuccess": true, "status": "Created alert", "alertId": made}, "took": 0.01, "requestId": "r"})
	})
	mux.HandleFunc("GET "+api+"/{id}", func(w http.ResponseWriter, r *http.Request) {
		d.alert(w, r, func(t *ticket) {
			write(w, http.StatusOK, object{"data": showAlert(*t), "took": 0.01, "requestId": "r"})
		})
	})
	mux.HandleFunc("PUT "+api+"/{id}/priority", func(w http.ResponseWriter, r *http.Request) {
		var in alert
		read(r, &in)
		d.alert(w, r, func(t *ticket) {
			if in.Priority != t.severity { // who folds may be told again what it knows
				t.grade(in.Priority)
			}
			accept(w, requests.add(alertID(*t)))
		})
	})
	mux.HandleFunc("POST "+api+"/{id}/close", func(w http.ResponseWriter, r *http.Request) {
		d.alert(w, r, func(t *ticket) { t.done = true; accept(w, requests.add(alertID(*t))) })
	})
}

type alert struct{ Message, Alias, Priority string }

func accept(w http.ResponseWriter, request string) {
	write(w, http.StatusAccepted, object{"result": "Request will be processed", "took": 0.01, "requestId": request})
}

// alert calls f for the alert that the request names, by its id or its alias.
func (d *desk) alert(w http.ResponseWriter, r *http.Request, f func(*ticket)) {
	id := r.PathValue("id")
	if r.FormValue("identifierType") == "alias" {
		found := d.find(func(t *ticket) bool { return t.token == id })
		if len(found) == 0 {
			write(w, http.StatusNotFound, object{"message": "Alert not found", "took": 0.01, "requestId": "r"})
			return
		}
		id = alertID(found[len(found)-1])
	}
	d.with(w, id, f)
}

// alertID is like a UUID with the time of the alert.
func alertID(t ticket) string {
	return fmt.Sprintf("%08d-0000-4000-8000-000000000000-1764400000000", t.n)
}

func showAlert(t ticket) object {
	status := "open"
	if t.done {
		status = "closed"
	}
	return object{
		"id": alertID(t), "tinyId": fmt.Sprint(t.n), "alias": t.token, "message": t.title, "status": status, "priority": t.severity,
		"acknowledged": false, "isSeen": false, "tags": []string{}, "snoozed": false, "count": 1, "createdAt": t.created.UTC().Format(time.RFC3339Nano),
		"source": "test", "owner": "", "teams": []any{}, "responders": []any{}, "actions": []string{}, "entity": "", "description": strings.ToLower(t.title),
	}
}

// A ledger knows which alert came of which request.
type ledger struct {
	mu   sync.Mutex
	made []string
}

func (l *ledger) add(alert string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made = append(l.made, alert)
	return fmt.Sprintf("request-%d", len(l.made))
}

func (l *ledger) of(request string) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var n int
	_, err := fmt.Sscanf(request, "request-%d", &n)
	if err != nil || n < 1 || n > len(l.made) {
		return "", false
	}
	return l.made[n-1], true
}
