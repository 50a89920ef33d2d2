package main

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// pd is an event intake: create and resolve share one route.
type pd struct{}

func (pd) id(n int) string { return "T" + strconv.Itoa(n) }

func (pd) ids(a *answer) []string { return nonEmpty(textAt(readJSON(a.Body), "dedup_key")) }

func (pd) route(_ *desk, r *request) kind {
	switch {
	case r.method == http.MethodGet:
		return lookUp
	case r.method != http.MethodPost || r.path != "/v2/enqueue":
		return other
	}
	switch textAt(r.json, "event_action") {
	case "trigger":
		return create
	case "resolve":
		return resolve
	default:
		return update
	}
}

func (pd) elements(r *request) []element {
	return []element{{native: nonEmpty(textAt(r.json, "dedup_key")), ref: pdRef(r)}}
}

// pdRef is the fault as the event names it, kept apart by team.
func pdRef(r *request) string {
	p := member(r.json, "payload")
	return refOf(textAt(r.json, "routing_key"), textAt(p, "source"), textAt(p, "component"), textAt(p, "class"))
}

// refOf joins fields so that different ones stay different.
func refOf(fields ...string) string {
	text, err := json.Marshal(fields)
	if err != nil {
		return ""
	}
	return string(text)
}

func (pd) created(_ *desk, _ *request, made []*ticket) *answer {
	return answerJSON(http.StatusAccepted, object{"status": "success", "message": "Event processed", "dedup_key": made[0].id})
}

func (pd) change(d *desk, r *request, k kind) *answer {
	t := d.openFor(pdRef(r))
	if key := textAt(r.json, "dedup_key"); key != "" {
		t = d.find(key)
		for _, held := range d.holding(key) {
			t = held
		}
	}
	name := ""
	if t != nil {
		d.set(t, k, "")
		name = t.id
	}
	return answerJSON(http.StatusAccepted, object{"status": "success", "message": "Event processed", "dedup_key": name})
}

func (pd) read(*desk, *request) *answer { return answerJSON(http.StatusOK, object{}) }

// am is a bridge that makes one ticket for each firing alert of an
// Alertmanager webhook.
type am struct{}

func (am) id(n int) string { return "T" + strconv.Itoa(n) }

func (am) ids(a *answer) []string {
	var ids []string
	for _, t := range listAt(readJSON(a.Body), "tickets") {
		ids = append(ids, textAt(t, "id"))
	}
	return ids
}

func (am) route(_ *desk, r *request) kind {
	switch {
	case r.method == http.MethodGet:
		return lookUp
	case r.method != http.MethodPost || r.path != "/hooks/tickets":
		return other
	}
	for _, a := range listAt(r.json, "alerts") {
		if textAt(a, "status") == "firing" {
			return create
		}
	}
	return resolve
}

func amRef(alert any) string {
	l := member(alert, "labels")
	return refOf(textAt(l, "alertname"), textAt(l, "instance"), textAt(l, "mountpoint"))
}

func (am) elements(r *request) []element {
	var out []element
	for _, a := range listAt(r.json, "alerts") {
		if textAt(a, "status") == "firing" {
			out = append(out, element{native: nonEmpty(r.header.Get("Idempotency-Key")), ref: amRef(a)})
		}
	}
	return out
}

func (am) created(d *desk, r *request, made []*ticket) *answer {
	entries := []any{}
	for _, a := range listAt(r.json, "alerts") {
		var t *ticket
		if textAt(a, "status") != "firing" {
			t = amResolve(d, a)
		} else if len(made) > 0 {
			t, made = made[0], made[1:]
		}
		if t != nil {
			entries = append(entries, object{"fingerprint": textAt(a, "fingerprint"), "id": t.id})
		}
	}
	return answerJSON(http.StatusOK, object{"tickets": entries})
}

func amResolve(d *desk, alert any) *ticket {
	t := d.openFor(amRef(alert))
	if t != nil {
		d.set(t, resolve, "")
	}
	return t
}

func (s am) change(d *desk, r *request, _ kind) *answer { return s.created(d, r, nil) }

func (am) read(*desk, *request) *answer { return answerJSON(http.StatusOK, object{}) }
