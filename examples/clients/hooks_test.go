package clients_test

import (
	"encoding/xml"
	"net/http"
	"strconv"
	"time"
)

// hooks is a ticket system of somebody's own: each kind of webhook opens a
// ticket, which can be asked for by its Idempotency-Key, and is changed by PATCH.
func hooks(d *desk, mux *http.ServeMux) {
	kinds := map[string]func(*http.Request) ticket{
		"/hooks/json": hookJSON, "/hooks/form": hookForm, "/hooks/xml": hookXML, "/hooks/alertmanager": hookAlertmanager,
	}
	for path, read := range kinds {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			want := read(r)
			want.key = r.Header.Get("Idempotency-Key")
			d.take(w, want, func(w http.ResponseWriter, t ticket) { write(w, http.StatusCreated, showHook(t)) })
		})
	}
	mux.HandleFunc("GET /tickets", func(w http.ResponseWriter, r *http.Request) {
		key := r.FormValue("key")
		write(w, http.StatusOK, object{"tickets": list(d.find(func(t *ticket) bool { return t.key == key }), showHook)})
	})
	mux.HandleFunc("GET /tickets/{id}", func(w http.ResponseWriter, r *http.Request) {
		d.with(w, r.PathValue("id"), func(t *ticket) { write(w, http.StatusOK, showHook(*t)) })
	})
	mux.HandleFunc("PATCH /tickets/{id}", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Severity, Status string }
		read(r, &in)
		d.with(w, r.PathValue("id"), func(t *ticket) {
			t.grade(in.Severity)
			t.done = t.done || in.Status == "closed"
			write(w, http.StatusOK, showHook(*t))
		})
	})
}

func hookJSON(r *http.Request) ticket {
	var in struct{ Host, Title, Type string }
	read(r, &in)
	return ticket{fault: in.Host, severity: in.Type, title: in.Title}
}

func hookForm(r *http.Request) ticket {
	return ticket{fault: r.PostFormValue("host"), severity: r.PostFormValue("type"), title: r.PostFormValue("title")}
}

func hookXML(r *http.Request) ticket {
	var in struct {
		Host  string `xml:"Body>Notification>host"`
		Type  string `xml:"Body>Notification>MessageType"`
		Title string `xml:"Body>Notification>Subject"`
	}
	_ = xml.NewDecoder(r.Body).Decode(&in) // a body that is none asks for nothing
	return ticket{fault: in.Host, severity: in.Type, title: in.Title}
}

func hookAlertmanager(r *http.Request) ticket {
	var in struct {
		Group  map[string]string `json:"groupLabels"`
		Alerts []struct{ Labels map[string]string }
		Key    string `json:"groupKey"`
	}
	read(r, &in)
	t := ticket{fault: in.Group["host"], title: in.Key}
	if len(in.Alerts) > 0 {
		t.severity = in.Alerts[0].Labels["severity"]
	}
	return t
}

func showHook(t ticket) object {
	status := "open"
	if t.done {
		status = "closed"
	}
	return object{"id": strconv.Itoa(t.n), "idempotency_key": t.key, "status": status, "severity": t.severity, "title": t.title, "created_at": t.created.UTC().Format(time.RFC3339)}
}
