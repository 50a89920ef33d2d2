package main

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// zd is a help desk with native idempotency.
type zd struct{}

const zdTickets = "/api/v2/tickets"

func (zd) id(n int) string { return strconv.Itoa(n) }

func (zd) ids(a *answer) []string { return nonEmpty(textAt(readJSON(a.Body), "ticket", "id")) }

// zdPath is the path without its .json.
func zdPath(r *request) string { return strings.TrimSuffix(r.path, ".json") }

func (zd) route(d *desk, r *request) kind {
	id, one := pathTail(zdPath(r), zdTickets+"/")
	switch {
	case r.method == http.MethodGet:
		return lookUp
	case r.method == http.MethodPost && zdPath(r) == zdTickets:
		return create
	case r.method == http.MethodPut && one:
		return zdChange(d.find(id), textAt(r.json, "ticket", "status"))
	}
	return other
}

func zdChange(t *ticket, status string) kind {
	switch {
	case oneOf(status, "solved", "closed"):
		return resolve
	case t != nil && !t.open && status != "":
		return reopen
	}
	return update
}

func (zd) elements(r *request) []element {
	return []element{{native: nonEmpty(r.header.Get("Idempotency-Key"), textAt(r.json, "ticket", "external_id"))}}
}

// remembered answers a key that was used before.
func (zd) remembered(d *desk, r *request) *answer {
	before, ok := d.answered[r.header.Get("Idempotency-Key")]
	switch {
	case !ok:
		return nil
	case before.body != string(r.body):
		return answerJSON(http.StatusBadRequest, object{"error": "Idempotency-Key: the parameters don't match"})
	}
	hit := *before.answer
	hit.Header = nil
	for _, h := range before.answer.Header {
		if h.Name == "x-idempotency-lookup" {
			h.Value = "hit"
		}
		hit.Header = append(hit.Header, h)
	}
	return &hit
}

func (zd) created(d *desk, r *request, made []*ticket) *answer {
	a := answerJSON(http.StatusCreated, object{"ticket": zdTicket(made[0])}, "x-idempotency-lookup", "miss")
	if key := r.header.Get("Idempotency-Key"); key != "" {
		if d.answered == nil {
			d.answered = map[string]remembered{}
		}
		d.answered[key] = remembered{string(r.body), a}
	}
	return a
}

func zdTicket(t *ticket) object {
	status := "new"
	if !t.open {
		status = "solved"
	}
	external := ""
	if len(t.native) > 0 {
		external = t.native[len(t.native)-1]
	}
	return object{"id": t.n, "status": status, "external_id": external, "created_at": t.created.UTC().Format(time.RFC3339)}
}

func (zd) change(d *desk, r *request, k kind) *answer {
	id, _ := pathTail(zdPath(r), zdTickets+"/")
	t := d.find(id)
	if t == nil {
		return answerJSON(http.StatusNotFound, object{"error": "RecordNotFound"})
	}
	d.set(t, k, textAt(r.json, "ticket", "status"))
	return answerJSON(http.StatusOK, object{"ticket": zdTicket(t)})
}

func (zd) read(d *desk, r *request) *answer {
	if id, ok := pathTail(zdPath(r), zdTickets+"/"); ok {
		if t := d.find(id); t != nil {
			return answerJSON(http.StatusOK, object{"ticket": zdTicket(t)})
		}
		return answerJSON(http.StatusNotFound, object{"error": "RecordNotFound"})
	}
	found := d.tickets
	if key := r.query.Get("external_id"); key != "" {
		found = d.holding(key)
	}
	list := []any{}
	for _, t := range found {
		list = append(list, zdTicket(t))
	}
	return answerJSON(http.StatusOK, object{"tickets": list, "count": len(list), "next_page": nil})
}
