package clients_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
)

var labelAsked = regexp.MustCompile(`labels = "([^"]+)"`)

// jira is one project of Jira Data Center by REST v2.
func jira(d *desk, mux *http.ServeMux) {
	const api = "/rest/api/2"
	mux.HandleFunc("GET "+api+"/serverInfo", func(w http.ResponseWriter, r *http.Request) {
		write(w, http.StatusOK, object{"version": "9.12.0", "versionNumbers": []int{9, 12, 0}, "deploymentType": "Server", "baseUrl": "http://" + r.Host})
	})
	mux.HandleFunc("POST "+api+"/issue", func(w http.ResponseWriter, r *http.Request) {
		var in issue
		read(r, &in)
		want := ticket{fault: in.Fields.Host, severity: in.Fields.Priority.Name, labels: in.Fields.Labels, title: in.Fields.Summary}
		d.take(w, want, func(w http.ResponseWriter, t ticket) {
			shown := showIssue(t)
			delete(shown, "fields")
			write(w, http.StatusCreated, shown)
		})
	})
	mux.HandleFunc("GET "+api+"/issue/{id}", func(w http.ResponseWriter, r *http.Request) {
		d.with(w, r.PathValue("id"), func(t *ticket) { write(w, http.StatusOK, showIssue(*t)) })
	})
	mux.HandleFunc("PUT "+api+"/issue/{id}", func(w http.ResponseWriter, r *http.Request) {
		var in issue
		read(r, &in)
		d.with(w, r.PathValue("id"), func(t *ticket) {
			t.grade(in.Fields.Priority.Name)
			w.WriteHeader(http.StatusNoContent)
		})
	})
	mux.HandleFunc("POST "+api+"/issue/{id}/transitions", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Transition struct{ ID json.Number } }
		read(r, &in)
		d.with(w, r.PathValue("id"), func(t *ticket) {
			t.done = t.done || in.Transition.ID == "31"
			w.WriteHeader(http.StatusNoContent)
		})
	})
	mux.HandleFunc("GET "+api+"/search", func(w http.ResponseWriter, r *http.Request) {
		asked := labelAsked.FindStringSubmatch(r.FormValue("jql"))
		if asked == nil {
			write(w, http.StatusBadRequest, object{"errorMessages": []string{"this JQL is not known here"}})
			return
		}
		found := d.find(func(t *ticket) bool { return slices.Contains(t.labels, asked[1]) })
		write(w, http.StatusOK, object{"startAt": 0, "maxResults": 50, "total": len(found), "issues": list(found, showIssue)})
	})
}

type issue struct {
	Fields struct {
		Host     string `json:"customfield_10071"`
		Summary  string
		Labels   []string
		Priority struct{ Name string }
	}
}

func showIssue(t ticket) object {
	status := object{"name": "Open", "statusCategory": object{"key": "new"}}
	if t.done {
		status = object{"name": "Done", "statusCategory": object{"key": "done"}}
	}
	id := strconv.Itoa(10000 + t.n)
	return object{
		"id": id, "key": "OPS-" + strconv.Itoa(t.n), "self": "http://jira.example.com/rest/api/2/issue/" + id,
		"fields": object{
			"summary": t.title, "labels": t.labels, "status": status, "priority": object{"name": t.severity},
			"created": t.created.Format("2006-01-02T15:04:05.000-0700"),
		},
	}
}
