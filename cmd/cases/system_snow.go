package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// snow is the Table API of an ITSM without native idempotency.
type snow struct{}

const snowStamp = "2006-01-02 15:04:05"

var snowTable = regexp.MustCompile(`^/api/now(?:/v\d+)?/table/(\w+)(?:/(\w+))?$`)

// nativeLength is how much of correlation_id the system keeps.
const nativeLength = 100

func (snow) id(n int) string { return fmt.Sprintf("%032x", n) }

func (snow) ids(a *answer) []string {
	result := member(readJSON(a.Body), "result")
	if list, ok := result.([]any); ok && len(list) > 0 {
		result = list[0]
	}
	return nonEmpty(textAt(result, "sys_id"))
}

func (snow) route(d *desk, r *request) kind {
	m := snowTable.FindStringSubmatch(r.path)
	switch {
	case r.method == http.MethodGet:
		return lookUp
	case m == nil || m[1] != "incident":
		return other
	case m[2] == "" && r.method == http.MethodPost:
		return create
	case m[2] != "" && oneOf(r.method, http.MethodPatch, http.MethodPut):
		return snowChange(d.find(m[2]), textAt(r.json, "state"))
	}
	return other
}

func snowChange(t *ticket, state string) kind {
	switch {
	case oneOf(state, "6", "7"):
		return resolve
	case t != nil && !t.open && state != "":
		return reopen
	}
	return update
}

func (snow) elements(r *request) []element {
	key := []rune(textAt(r.json, "correlation_id"))
	return []element{{native: nonEmpty(string(key[:min(len(key), nativeLength)]))}}
}

func (snow) created(_ *desk, r *request, made []*ticket) *answer {
	t := made[0]
	location := "https://" + r.header.Get("Host") + "/api/now/table/incident/" + t.id
	result := object{"sys_id": t.id, "number": snowNumber(t), "correlation_id": strings.Join(t.native, ",")}
	return answerJSON(http.StatusCreated, object{"result": result}, "Location", location)
}

func snowNumber(t *ticket) string { return fmt.Sprintf("INC%07d", t.n) }

// record is a ticket as the API shows it.
func (snow) record(t *ticket) object {
	return object{
		"sys_id": t.id, "number": snowNumber(t), "correlation_id": strings.Join(t.native, ","),
		"state": t.state, "active": strconv.FormatBool(t.open), "sys_created_on": t.created.UTC().Format(snowStamp),
		"opened_at": t.created.UTC().Format(snowStamp),
	}
}

func (s snow) change(d *desk, r *request, k kind) *answer {
	m := snowTable.FindStringSubmatch(r.path)
	t := d.find(m[2])
	if t == nil {
		return s.missing()
	}
	d.set(t, k, textAt(r.json, "state"))
	return answerJSON(http.StatusOK, object{"result": s.record(t)})
}

func (snow) missing() *answer {
	return answerJSON(http.StatusNotFound, object{"error": object{"message": "No Record found"}, "status": "failure"})
}

func (s snow) read(d *desk, r *request) *answer {
	m := snowTable.FindStringSubmatch(r.path)
	switch {
	case r.method == http.MethodPost:
		return answerJSON(http.StatusCreated, object{"result": object{"sys_id": strings.Repeat("f", 32), "number": "PRB0000001"}})
	case m == nil || m[1] != "incident":
		return answerJSON(http.StatusOK, object{"result": []any{}})
	case m[2] != "":
		if t := d.find(m[2]); t != nil {
			return answerJSON(http.StatusOK, object{"result": s.record(t)})
		}
		return s.missing()
	}
	found := s.query(d, r.query.Get("sysparm_query"), r.query.Get("correlation_id"))
	return answerJSON(http.StatusOK, object{"result": found}, "X-Total-Count", strconv.Itoa(len(found)))
}

// query answers an encoded query. A condition that it does not know is
// ignored, as the real one does.
func (s snow) query(d *desk, query, correlation string) []any {
	state := ""
	active := ""
	for _, c := range strings.Split(query, "^") {
		if v, ok := strings.CutPrefix(c, "correlation_id="); ok {
			correlation = v
		}
		if v, ok := strings.CutPrefix(c, "active="); ok {
			active = v
		}
		if v, ok := strings.CutPrefix(c, "state="); ok {
			state = v
		}
	}
	found := []any{}
	for _, t := range d.tickets {
		if (correlation == "" || strings.Join(t.native, ",") == correlation) && (state == "" || t.state == state) &&
			(active == "" || active == strconv.FormatBool(t.open)) {
			found = append(found, s.record(t))
		}
	}
	return found
}
