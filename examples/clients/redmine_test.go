package clients_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// redmine is the REST API of Redmine, in JSON and in XML.
func redmine(d *desk, mux *http.ServeMux) {
	create := func(w http.ResponseWriter, r *http.Request) {
		in := readIssue(r)
		want := ticket{fault: hostIn(in.Description), severity: in.Priority.String(), title: in.Subject, token: in.field("7")}
		d.take(w, want, func(w http.ResponseWriter, t ticket) {
			w.Header().Set("Location", fmt.Sprintf("http://%s/issues/%d", r.Host, t.n))
			writeIssue(w, r, http.StatusCreated, t)
		})
	}
	for _, path := range []string{"/issues.json", "/issues.xml", "/projects/ops/issues.json"} {
		mux.HandleFunc("POST "+path, create)
	}
	mux.HandleFunc("GET /issues.json", func(w http.ResponseWriter, r *http.Request) {
		token := r.FormValue("cf_7")
		found := d.find(func(t *ticket) bool { return token == "" || t.token == token })
		write(w, http.StatusOK, object{"issues": list(found, showBug), "total_count": len(found), "offset": 0, "limit": 100})
	})
	mux.HandleFunc("GET /issues/{id}", func(w http.ResponseWriter, r *http.Request) {
		d.with(w, r.PathValue("id"), func(t *ticket) { writeIssue(w, r, http.StatusOK, *t) })
	})
	mux.HandleFunc("PUT /issues/{id}", func(w http.ResponseWriter, r *http.Request) {
		in := readIssue(r)
		d.with(w, r.PathValue("id"), func(t *ticket) {
			t.grade(in.Priority.String())
			t.done = t.done || in.Status.String() == "5"
			w.WriteHeader(http.StatusNoContent)
		})
	})
}

type redmineIssue struct {
	XMLName     xml.Name    `json:"-" xml:"issue"`
	Subject     string      `json:"subject" xml:"subject"`
	Description string      `json:"description" xml:"description"`
	Priority    json.Number `json:"priority_id" xml:"priority_id"`
	Status      json.Number `json:"status_id" xml:"status_id"`
	Fields      []struct {
		ID    json.Number `json:"id" xml:"id,attr"`
		Value string      `json:"value" xml:"value"`
	} `json:"custom_fields" xml:"custom_fields>custom_field"`
}

func (i redmineIssue) field(id json.Number) string {
	for _, f := range i.Fields {
		if f.ID == id {
			return f.Value
		}
	}
	return ""
}

func readIssue(r *http.Request) redmineIssue {
	var in struct{ Issue redmineIssue }
	if strings.HasSuffix(r.URL.Path, ".xml") {
		_ = xml.NewDecoder(r.Body).Decode(&in.Issue) // a body that is none asks for nothing
		return in.Issue
	}
	read(r, &in)
	return in.Issue
}

var hosted = regexp.MustCompile(`(?m)^Host: *(\S+)`)

// hostIn is the host in a description of the clients here.
func hostIn(description string) string {
	if m := hosted.FindStringSubmatch(description); m != nil {
		return m[1]
	}
	return ""
}

func writeIssue(w http.ResponseWriter, r *http.Request, status int, t ticket) {
	if strings.HasSuffix(r.URL.Path, ".xml") {
		w.Header().Set("Content-Type", "application/xml; charset=utf-8")
		w.WriteHeader(status)
		fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><issue><id>%d</id><project id="1" name="ops"/><status id="%s" name="x" is_closed="%t"/><subject>%s</subject></issue>`,
			t.n, redmineStatus(t), t.done, t.title)
		return
	}
	write(w, status, object{"issue": showBug(t)})
}

func showBug(t ticket) object {
	n, _ := strconv.Atoi(redmineStatus(t)) // ours
	return object{
		"id": t.n, "project": object{"id": 1, "name": "ops"}, "tracker": object{"id": 1, "name": "Bug"}, "subject": t.title,
		"status": object{"id": n, "name": "x", "is_closed": t.done}, "priority": object{"id": t.severity, "name": "x"},
		"custom_fields": []object{{"id": 7, "name": "OneTicket", "value": t.token}},
		"created_on":    t.created.UTC().Format(time.RFC3339), "updated_on": t.created.UTC().Format(time.RFC3339),
	}
}

func redmineStatus(t ticket) string {
	if t.done {
		return "5"
	}
	return "1"
}
