package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// soap is a SOAP 1.1 help desk.
type soap struct{}

func (soap) id(n int) string { return "HD-" + strconv.Itoa(n) }

var soapNumber = regexp.MustCompile(`<(?:\w+:)?IncidentNumber[^>]*>\s*([^<\s]+)`)

func (soap) ids(a *answer) []string {
	if m := soapNumber.FindSubmatch(a.Body); m != nil {
		return []string{string(m[1])}
	}
	return nil
}

func (soap) route(_ *desk, r *request) kind {
	switch {
	case r.method == http.MethodGet:
		return lookUp
	case r.method == http.MethodPost && r.path == "/services/HelpDesk" &&
		strings.Trim(r.header.Get("SOAPAction"), `"`) == "urn:HelpDesk/Create":
		return create
	}
	return other
}

func (soap) elements(r *request) []element {
	return []element{{native: nonEmpty(r.header.Get("Idempotency-Key"))}}
}

func (soap) created(_ *desk, _ *request, made []*ticket) *answer {
	const form = `<?xml version="1.0" encoding="UTF-8"?>` +
		`<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>` +
		`<CreateResponse xmlns="urn:example:helpdesk"><IncidentNumber>%s</IncidentNumber></CreateResponse>` +
		`</s:Body></s:Envelope>`
	return newAnswer(http.StatusOK, "text/xml; charset=utf-8", fmt.Appendf(nil, form, made[0].id))
}

func (soap) change(*desk, *request, kind) *answer { return answerText(http.StatusNotFound, "") }

func (soap) read(*desk, *request) *answer {
	return newAnswer(http.StatusOK, "text/xml; charset=utf-8",
		[]byte(`<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body/></s:Envelope>`))
}

// gql is a GraphQL incident API: reads and writes share one URL.
type gql struct{}

func (gql) id(n int) string { return "urn:incident:" + strconv.Itoa(n) }

func (gql) ids(a *answer) []string {
	return nonEmpty(textAt(readJSON(a.Body), "data", "raiseIncident"))
}

var (
	gqlComment = regexp.MustCompile(`#[^\n]*`)
	gqlText    = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	gqlRaise   = regexp.MustCompile(`^mutation\b[^{]*\{\s*(?:\w+\s*:\s*)?raiseIncident\b`)
)

func (gql) route(_ *desk, r *request) kind {
	if r.method == http.MethodGet {
		return lookUp
	}
	document := gqlText.ReplaceAllString(textAt(r.json, "query"), `""`)
	document = strings.TrimSpace(gqlComment.ReplaceAllString(document, ""))
	if r.path == "/api/graphql" && gqlRaise.MatchString(document) {
		return create
	}
	return other
}

func (gql) elements(r *request) []element {
	return []element{{native: nonEmpty(r.header.Get("Idempotency-Key"))}}
}

func (gql) created(_ *desk, _ *request, made []*ticket) *answer {
	return answerJSON(http.StatusOK, object{"data": object{"raiseIncident": made[0].id}})
}

func (gql) change(*desk, *request, kind) *answer { return answerText(http.StatusNotFound, "") }

func (gql) read(d *desk, _ *request) *answer {
	list := []any{}
	for _, t := range d.tickets {
		list = append(list, object{"urn": t.id, "title": ""})
	}
	return answerJSON(http.StatusOK, object{"data": object{"incidents": list}})
}

// put is an API where the client chooses the id.
type put struct{}

const putIncidents = "/v1/incidents/"

// id: the client names the ticket, so a number says nothing.
func (put) id(n int) string { return strconv.Itoa(n) }

func (put) ids(a *answer) []string { return nonEmpty(textAt(readJSON(a.Body), "ref")) }

func (put) route(d *desk, r *request) kind {
	ref, one := pathTail(r.path, putIncidents)
	switch {
	case r.method == http.MethodGet:
		return lookUp
	case r.method != http.MethodPut || !one:
		return other
	case d.openFor(ref) != nil:
		return update
	}
	return create
}

func (put) elements(r *request) []element {
	ref, _ := pathTail(r.path, putIncidents)
	return []element{{native: []string{ref}, ref: ref}}
}

func (put) created(_ *desk, _ *request, made []*ticket) *answer {
	return answerJSON(http.StatusCreated, object{"ref": made[0].ref, "status": "open"})
}

func (put) change(d *desk, r *request, k kind) *answer {
	ref, _ := pathTail(r.path, putIncidents)
	t := d.openFor(ref)
	if t == nil {
		return answerJSON(http.StatusNotFound, object{"error": "not found"})
	}
	d.set(t, k, "")
	return answerJSON(http.StatusOK, object{"ref": t.ref, "status": "open"})
}

func (put) read(d *desk, r *request) *answer {
	ref, _ := pathTail(r.path, putIncidents)
	if t := d.openFor(ref); t != nil {
		return answerJSON(http.StatusOK, object{"ref": t.ref, "status": "open"})
	}
	return answerJSON(http.StatusNotFound, object{"error": "not found"})
}
