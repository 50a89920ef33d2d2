package clients_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// serviceNow is the incident table of the Table API.
func serviceNow(d *desk, mux *http.ServeMux) {
	const table = "/api/now/table/incident"
	mux.HandleFunc("POST "+table, func(w http.ResponseWriter, r *http.Request) {
		var in incident
		read(r, &in)
		want := ticket{fault: in.CI, severity: in.Urgency, token: in.Token, title: in.Title}
		d.take(w, want, func(w http.ResponseWriter, t ticket) {
			w.Header().Set("Location", "http://"+r.Host+table+"/"+sysID(t))
			write(w, http.StatusCreated, object{"result": showIncident(t)})
		})
	})
	mux.HandleFunc("GET "+table, func(w http.ResponseWriter, r *http.Request) {
		found := d.find(incidentQuery(r.FormValue("sysparm_query")))
		w.Header().Set("X-Total-Count", strconv.Itoa(len(found)))
		write(w, http.StatusOK, object{"result": list(found, showIncident)})
	})
	mux.HandleFunc("GET "+table+"/{id}", func(w http.ResponseWriter, r *http.Request) {
		d.with(w, r.PathValue("id"), func(t *ticket) { write(w, http.StatusOK, object{"result": showIncident(*t)}) })
	})
	change := func(w http.ResponseWriter, r *http.Request) {
		var in incident
		read(r, &in)
		d.with(w, r.PathValue("id"), func(t *ticket) {
			t.grade(in.Urgency)
			t.done = t.done || in.State == "6"
			write(w, http.StatusOK, object{"result": showIncident(*t)})
		})
	}
	mux.HandleFunc("PATCH "+table+"/{id}", change)
	mux.HandleFunc("PUT "+table+"/{id}", change)
}

type incident struct {
	CI      string `json:"cmdb_ci"`
	Urgency string `json:"urgency"`
	Token   string `json:"correlation_id"`
	Title   string `json:"short_description"`
	State   string `json:"state"`
}

// incidentQuery reads the first condition of an encoded query. One that it
// does not know is ignored, as the real one does.
func incidentQuery(query string) func(*ticket) bool {
	condition, _, _ := strings.Cut(query, "^")
	field, value, _ := strings.Cut(condition, "=")
	return func(t *ticket) bool {
		switch field {
		case "correlation_id":
			return t.token == value
		case "sys_id":
			return sysID(*t) == value
		}
		return true
	}
}

func sysID(t ticket) string { return fmt.Sprintf("%032x", t.n) }

func showIncident(t ticket) object {
	state := "1"
	if t.done {
		state = "6"
	}
	return object{
		"sys_id": sysID(t), "number": fmt.Sprintf("INC%07d", t.n), "state": state, "active": strconv.FormatBool(!t.done),
		"urgency": t.severity, "correlation_id": t.token, "short_description": t.title, "cmdb_ci": t.fault,
		"sys_created_on": t.created.UTC().Format("2006-01-02 15:04:05"),
	}
}
