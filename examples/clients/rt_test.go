package clients_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// requestTracker is both APIs of Request Tracker over one table of tickets, with
// a custom field OneTicket.
func requestTracker(d *desk, mux *http.ServeMux) {
	restOne(d, mux)
	restTwo(d, mux)
}

// restOne is REST 1.0: forms in, text out, and a 200 whatever happens.
func restOne(d *desk, mux *http.ServeMux) {
	const api = "/REST/1.0"
	say := func(w http.ResponseWriter, format string, args ...any) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintf(w, "RT/5.0.3 200 Ok\n\n"+format+"\n\n", args...)
	}
	mux.HandleFunc("POST "+api+"/{$}", func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "RT_SID", Value: "s", Path: "/"})
		say(w, "")
	})
	mux.HandleFunc("POST "+api+"/ticket/new", func(w http.ResponseWriter, r *http.Request) {
		f := fieldsOf(r)
		want := ticket{fault: f["CF.{Host}"], severity: f["Priority"], token: f["CF.{OneTicket}"], title: f["Subject"]}
		d.take(w, want, func(w http.ResponseWriter, t ticket) { say(w, "# Ticket %d created.", t.n) })
	})
	mux.HandleFunc("POST "+api+"/ticket/{id}/edit", func(w http.ResponseWriter, r *http.Request) {
		f := fieldsOf(r)
		d.with(w, r.PathValue("id"), func(t *ticket) {
			t.grade(f["Priority"])
			t.done = t.done || f["Status"] == "resolved"
			say(w, "# Ticket %d updated.", t.n)
		})
	})
	mux.HandleFunc("GET "+api+"/ticket/{id}/show", func(w http.ResponseWriter, r *http.Request) {
		d.with(w, r.PathValue("id"), func(t *ticket) { say(w, "%s", showOne(*t)) })
	})
	mux.HandleFunc("GET "+api+"/search/ticket", func(w http.ResponseWriter, r *http.Request) {
		var found []string
		for _, t := range d.find(trackerQuery(r.FormValue("query"))) {
			found = append(found, showOne(t))
		}
		if len(found) == 0 {
			found = []string{"No matching results."}
		}
		say(w, "%s", strings.Join(found, "\n\n--\n\n"))
	})
}

// fieldsOf are the lines of the form's field content.
func fieldsOf(r *http.Request) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(r.PostFormValue("content")) {
		name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ": ")
		fields[name] = value
	}
	return fields
}

func showOne(t ticket) string {
	return fmt.Sprintf("id: ticket/%d\nQueue: General\nSubject: %s\nStatus: %s\nPriority: %s\nRequestors: \nCF.{Host}: %s\nCF.{OneTicket}: %s",
		t.n, t.title, trackerStatus(t), t.severity, t.fault, t.token)
}

// restTwo is REST 2.0.
func restTwo(d *desk, mux *http.ServeMux) {
	const api = "/REST/2.0"
	mux.HandleFunc("POST "+api+"/ticket", func(w http.ResponseWriter, r *http.Request) {
		var in trackerTicket
		read(r, &in)
		want := ticket{fault: in.CustomFields["Host"], severity: in.Priority, token: in.CustomFields["OneTicket"], title: in.Subject}
		d.take(w, want, func(w http.ResponseWriter, t ticket) {
			url := fmt.Sprintf("http://%s%s/ticket/%d", r.Host, api, t.n)
			w.Header().Set("Location", url)
			write(w, http.StatusCreated, object{"id": strconv.Itoa(t.n), "type": "ticket", "_url": url})
		})
	})
	mux.HandleFunc("GET "+api+"/ticket/{id}", func(w http.ResponseWriter, r *http.Request) {
		d.with(w, r.PathValue("id"), func(t *ticket) { write(w, http.StatusOK, showTwo(*t)) })
	})
	mux.HandleFunc("PUT "+api+"/ticket/{id}", func(w http.ResponseWriter, r *http.Request) {
		var in trackerTicket
		read(r, &in)
		d.with(w, r.PathValue("id"), func(t *ticket) {
			t.grade(in.Priority)
			t.done = t.done || in.Status == "resolved"
			write(w, http.StatusOK, []string{fmt.Sprintf("Ticket %d: updated", t.n)})
		})
	})
	mux.HandleFunc("GET "+api+"/tickets", func(w http.ResponseWriter, r *http.Request) {
		found := d.find(trackerQuery(r.FormValue("query")))
		write(w, http.StatusOK, object{"count": len(found), "total": len(found), "page": 1, "per_page": 20, "items": list(found, showTwo)})
	})
}

type trackerTicket struct {
	Subject, Priority, Status string
	CustomFields              map[string]string
}

var tokenAsked = regexp.MustCompile(`^'CF\.\{OneTicket\}' = '([^']+)'$`)

func trackerQuery(query string) func(*ticket) bool {
	m := tokenAsked.FindStringSubmatch(query)
	return func(t *ticket) bool { return m != nil && t.token == m[1] }
}

func trackerStatus(t ticket) string {
	if t.done {
		return "resolved"
	}
	return "new"
}

func showTwo(t ticket) object {
	return object{
		"id": t.n, "type": "ticket", "Subject": t.title, "Status": trackerStatus(t), "Priority": t.severity, "Created": t.created.UTC().Format(time.RFC3339),
		"Queue": object{"id": "1", "Name": "General"}, "_url": fmt.Sprintf("http://rt.example.com/REST/2.0/ticket/%d", t.n),
		"CustomFields": []object{{"id": "1", "name": "Host", "values": []string{t.fault}}, {"id": "2", "name": "OneTicket", "values": []string{t.token}}},
	}
}
