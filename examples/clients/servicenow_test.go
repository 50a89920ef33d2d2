package clients_test

import (
	"encoding/xml"
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
		d.take(w, in.ticket(), func(w http.ResponseWriter, t ticket) {
			w.Header().Set("Location", "http://"+r.Host+table+"/"+sysID(t))
			write(w, http.StatusCreated, object{"result": displayed(r, t)})
		})
	})
	mux.HandleFunc("POST /incident.do", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Insert incident `xml:"Body>insert"`
		}
		_ = xml.NewDecoder(r.Body).Decode(&in) // a body that is none asks for nothing
		d.take(w, in.Insert.ticket(), func(w http.ResponseWriter, t ticket) {
			w.Header().Set("Content-Type", "text/xml;charset=utf-8")
			fmt.Fprintf(w, `<SOAP-ENV:Envelope xmlns:SOAP-ENV="http://schemas.xmlsoap.org/soap/envelope/"><SOAP-ENV:Body><insertResponse xmlns="http://www.service-now.com/incident"><sys_id>%s</sys_id><number>INC%07d</number></insertResponse></SOAP-ENV:Body></SOAP-ENV:Envelope>`, sysID(t), t.n)
		})
	})
	mux.HandleFunc("GET "+table, func(w http.ResponseWriter, r *http.Request) {
		found := d.find(incidentQuery(r.FormValue("sysparm_query")))
		w.Header().Set("X-Total-Count", strconv.Itoa(len(found)))
		write(w, http.StatusOK, object{"result": list(found, func(t ticket) object { return displayed(r, t) })})
	})
	mux.HandleFunc("GET "+table+"/{id}", func(w http.ResponseWriter, r *http.Request) {
		d.with(w, r.PathValue("id"), func(t *ticket) { write(w, http.StatusOK, object{"result": displayed(r, *t)}) })
	})
	change := func(w http.ResponseWriter, r *http.Request) {
		var in incident
		read(r, &in)
		d.with(w, r.PathValue("id"), func(t *ticket) {
			t.grade(in.Urgency)
			t.done = t.done || in.State == "6"
			write(w, http.StatusOK, object{"result": displayed(r, *t)})
		})
	}
	mux.HandleFunc("PATCH "+table+"/{id}", change)
	mux.HandleFunc("PUT "+table+"/{id}", change)
}

type incident struct {
	CI      string `json:"cmdb_ci" xml:"cmdb_ci"`
	Urgency string `json:"urgency" xml:"urgency"`
	Token   string `json:"correlation_id" xml:"correlation_id"`
	Title   string `json:"short_description" xml:"short_description"`
	State   string `json:"state" xml:"state"`
}

func (in incident) ticket() ticket {
	return ticket{fault: in.CI, severity: in.Urgency, token: in.Token, title: in.Title}
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

// displayed is the record as the request wants it shown: with
// sysparm_display_value=all each field is an object.
func displayed(r *http.Request, t ticket) object {
	shown := showIncident(t)
	if r.FormValue("sysparm_display_value") != "all" {
		return shown
	}
	for name, value := range shown {
		shown[name] = object{"value": value, "display_value": value}
	}
	return shown
}

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
