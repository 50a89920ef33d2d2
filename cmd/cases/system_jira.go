package main

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// jira is an issue tracker, REST v2.
type jira struct{}

const (
	jiraIssues  = "/rest/api/2/issue"
	jiraResolve = "31" // the transition that resolves
	jiraReopen  = "41"
	jiraStamp   = "2006-01-02T15:04:05.000-0700"
)

func (jira) id(n int) string { return "OPS-" + strconv.Itoa(n) }

func (jira) ids(a *answer) []string {
	v := readJSON(a.Body)
	if issues := listAt(v, "issues"); issues != nil {
		var ids []string
		for _, i := range issues {
			ids = append(ids, textAt(i, "key"))
		}
		return ids
	}
	return nonEmpty(textAt(v, "key"))
}

func (jira) route(_ *desk, r *request) kind {
	tail, deeper := strings.CutPrefix(r.path, jiraIssues+"/")
	switch {
	case r.method == http.MethodGet:
		return lookUp
	case r.method == http.MethodPost && (r.path == jiraIssues || tail == "bulk"):
		return create
	case r.method == http.MethodPost && deeper && strings.HasSuffix(tail, "/transitions"):
		switch textAt(r.json, "transition", "id") {
		case jiraResolve:
			return resolve
		case jiraReopen:
			return reopen
		}
		return update
	case r.method == http.MethodPut && deeper:
		return update
	}
	return other
}

func (jira) elements(r *request) []element {
	if !strings.HasSuffix(r.path, "/bulk") {
		return []element{jiraElement(r.json)}
	}
	var out []element
	for _, i := range listAt(r.json, "issueUpdates") {
		out = append(out, jiraElement(i))
	}
	return out
}

func jiraElement(issue any) element {
	var labels []string
	labelList := listAt(issue, "fields", "labels")
	for i := range labelList {
		labels = append(labels, textAt(labelList, strconv.Itoa(i)))
	}
	return element{native: labels}
}

func (jira) created(_ *desk, r *request, made []*ticket) *answer {
	if !strings.HasSuffix(r.path, "/bulk") {
		return answerJSON(http.StatusCreated, jiraIssue(r, made[0]))
	}
	issues := []any{}
	for _, t := range made {
		issues = append(issues, jiraIssue(r, t))
	}
	return answerJSON(http.StatusCreated, object{"issues": issues, "errors": []any{}})
}

func jiraIssue(r *request, t *ticket) object {
	id := jiraNumber(t)
	return object{"id": id, "key": t.id, "self": "https://" + r.header.Get("Host") + jiraIssues + "/" + id}
}

func jiraNumber(t *ticket) string { return strconv.Itoa(10000 + t.n) }

// jiraFind finds an issue by its key or its number.
func jiraFind(d *desk, name string) *ticket {
	for _, t := range d.tickets {
		if jiraNumber(t) == name {
			return t
		}
	}
	return d.find(name)
}

// jiraFull is an issue as a search or a read shows it.
func jiraFull(r *request, t *ticket) object {
	category, name := "new", "Open"
	if !t.open {
		category, name = "done", "Done"
	}
	issue := jiraIssue(r, t)
	issue["fields"] = object{
		"labels": t.native, "created": t.created.UTC().Format(jiraStamp),
		"status": object{"name": name, "statusCategory": object{"key": category}},
	}
	return issue
}

func (jira) change(d *desk, r *request, k kind) *answer {
	key, _, _ := strings.Cut(strings.TrimPrefix(r.path, jiraIssues+"/"), "/")
	t := jiraFind(d, key)
	if t == nil {
		return answerJSON(http.StatusNotFound, object{"errorMessages": []string{"Issue does not exist"}})
	}
	d.set(t, k, "")
	return &answer{Status: http.StatusNoContent, Line: "HTTP/1.1 204 No Content"}
}

var jiraLabel = regexp.MustCompile(`labels\s*(?:=|in\s*\()\s*"?([^"\s)]+)"?`)

func (jira) read(d *desk, r *request) *answer {
	if key, ok := pathTail(r.path, jiraIssues+"/"); ok {
		if t := jiraFind(d, key); t != nil {
			return answerJSON(http.StatusOK, jiraFull(r, t))
		}
		return answerJSON(http.StatusNotFound, object{"errorMessages": []string{"Issue does not exist"}})
	}
	if !strings.HasPrefix(r.path, "/rest/api/2/search") {
		return answerJSON(http.StatusOK, object{})
	}
	found := d.tickets
	if m := jiraLabel.FindStringSubmatch(r.query.Get("jql")); m != nil {
		found = d.holding(m[1])
	}
	issues := []any{}
	for _, t := range found {
		issues = append(issues, jiraFull(r, t))
	}
	return answerJSON(http.StatusOK, object{"startAt": 0, "maxResults": 50, "total": len(issues), "issues": issues})
}
