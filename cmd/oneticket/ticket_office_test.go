package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A ticketOffice keeps tickets in the shape of one of three systems: a ticket can be
// made, found by its token, read, changed, closed, linked and merged.
type ticketOffice struct {
	*httptest.Server
	system string

	mu       sync.Mutex
	tickets  []*officeTicket
	doubles  int             // so many creates make two tickets, and lose their answer
	refuses  map[string]bool // values of Authorization whose changes are refused
	changes  int             // that were made
	changers []string        // their values of Authorization
	onRead   func()          // called before a ticket is read, with the office locked
	held     chan struct{}   // a create is answered when this is closed; nil: at once
	loses    bool            // a create makes its ticket, and loses its answer
	drops    bool            // a create makes nothing, and loses its answer
	base     string          // what stands before the API's own path
}

type officeTicket struct {
	id, token, severity string
	open                bool
	names               string // what is written in it of another ticket
}

func newTicketOffice(t *testing.T, system string) *ticketOffice {
	o := &ticketOffice{system: system, refuses: map[string]bool{}}
	o.Server = httptest.NewServer(o)
	t.Cleanup(o.Server.Close)
	return o
}

func (o *ticketOffice) of(id string) *officeTicket {
	for _, t := range o.tickets {
		if t.id == id {
			return t
		}
	}
	return nil
}

// is what the office says of a ticket now.
func (o *ticketOffice) is(i int) officeTicket {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i >= len(o.tickets) {
		return officeTicket{}
	}
	return *o.tickets[i]
}

func (o *ticketOffice) size() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.tickets)
}

func (o *ticketOffice) changed() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.changes
}

func (o *ticketOffice) set(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f()
}

// newID is one as the system makes it.
func (o *ticketOffice) newID() string {
	n := len(o.tickets) + 1
	switch o.system {
	case "jira":
		return fmt.Sprint("OPS-", n)
	case "zendesk":
		return fmt.Sprint(35000 + n)
	}
	return fmt.Sprintf("%032x", n)
}

// tokenOf is where a create of the system carries its token.
func (o *ticketOffice) tokenOf(body any) string {
	switch o.system {
	case "jira":
		labels, _ := inside(body, "fields", "labels").([]any)
		for _, label := range labels {
			if strings.HasPrefix(fmt.Sprint(label), "idem") {
				return fmt.Sprint(label)
			}
		}
		return ""
	case "zendesk":
		return textInside(body, "ticket", "external_id")
	}
	return textInside(body, "correlation_id")
}

func (o *ticketOffice) severityOf(body any) string {
	switch o.system {
	case "jira":
		return textInside(body, "fields", "priority", "name")
	case "zendesk":
		return textInside(body, "ticket", "priority")
	}
	return textInside(body, "urgency")
}

func inside(v any, path ...string) any {
	for _, name := range path {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

func textInside(v any, path ...string) string {
	if v = inside(v, path...); v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

var idInPath = regexp.MustCompile(`^/(?:api/now/table/incident|rest/api/2/issue|api/v2/tickets)/([0-9A-Za-z-]+?)(?:[.]json)?(/transitions|/merge[.]json)?$`)

func (o *ticketOffice) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender went away in the middle
	}
	var body any
	_ = json.Unmarshal(raw, &body) // a read has none
	o.mu.Lock()
	defer o.mu.Unlock()
	if !strings.HasPrefix(r.URL.Path, o.base+"/") {
		o.answer(w, http.StatusNotFound, map[string]any{})
		return
	}
	r.URL.Path = strings.TrimPrefix(r.URL.Path, o.base)
	in := idInPath.FindStringSubmatch(r.URL.Path)
	switch {
	case r.URL.Path == "/rest/api/2/issueLink":
		o.change(w, r, textInside(body, "inwardIssue", "key"), func(t *officeTicket) { t.names = textInside(body, "outwardIssue", "key") })
	case in != nil && in[2] == "/merge.json":
		ids, _ := inside(body, "ids").([]any)
		o.change(w, r, fmt.Sprintf("%.0f", ids[0]), func(t *officeTicket) { t.open, t.names = false, in[1] })
	case in != nil && r.Method == http.MethodGet:
		if o.onRead != nil {
			o.onRead()
		}
		o.read(w, in[1])
	case in != nil:
		o.change(w, r, in[1], func(t *officeTicket) { o.write(t, body, string(raw)) })
	case r.Method == http.MethodGet:
		o.find(w, r)
	default:
		o.create(w, body)
	}
}

func (o *ticketOffice) create(w http.ResponseWriter, body any) {
	if o.drops {
		panic(http.ErrAbortHandler)
	}
	t := &officeTicket{id: o.newID(), token: o.tokenOf(body), severity: o.severityOf(body), open: true}
	o.tickets = append(o.tickets, t)
	if o.doubles > 0 {
		o.doubles--
		o.tickets = append(o.tickets, &officeTicket{id: o.newID(), token: t.token, severity: t.severity, open: true})
		panic(http.ErrAbortHandler)
	}
	if o.loses {
		panic(http.ErrAbortHandler)
	}
	if o.held != nil {
		o.mu.Unlock()
		<-o.held
		o.mu.Lock()
	}
	o.answer(w, http.StatusCreated, map[string]any{"servicenow": map[string]any{"result": o.shown(t)}, "jira": o.shown(t), "zendesk": map[string]any{"ticket": o.shown(t)}}[o.system])
}

// write is what a change of the ticket's own fields does.
func (o *ticketOffice) write(t *officeTicket, body any, text string) {
	if s := o.severityOf(body); s != "" {
		t.severity = s
	}
	closes := textInside(body, "state") == "6" || textInside(body, "transition", "id") == "31" || textInside(body, "ticket", "status") == "solved"
	t.open = t.open && !closes
	for _, other := range o.tickets {
		if other != t && strings.Contains(text, other.id) {
			t.names = other.id
		}
	}
}

func (o *ticketOffice) change(w http.ResponseWriter, r *http.Request, id string, do func(*officeTicket)) {
	t, by := o.of(id), r.Header.Get("Authorization")
	switch {
	case t == nil:
		o.answer(w, http.StatusNotFound, map[string]any{})
	case o.refuses[by]:
		o.answer(w, http.StatusForbidden, map[string]any{"error": "not yours to change"})
	default:
		do(t)
		o.changes, o.changers = o.changes+1, append(o.changers, by)
		switch {
		case strings.HasSuffix(r.URL.Path, "merge.json"):
			o.answer(w, http.StatusOK, map[string]any{"job_status": map[string]any{"id": "8b726e606741012ffc2d782bcb7848fe", "status": "queued"}})
		case o.system == "jira" && strings.HasSuffix(r.URL.Path, "issueLink"):
			w.WriteHeader(http.StatusCreated)
		case o.system == "jira":
			w.WriteHeader(http.StatusNoContent)
		default:
			o.read(w, id)
		}
	}
}

func (o *ticketOffice) read(w http.ResponseWriter, id string) {
	t := o.of(id)
	if t == nil {
		o.answer(w, http.StatusNotFound, map[string]any{})
		return
	}
	o.answer(w, http.StatusOK, map[string]any{"servicenow": map[string]any{"result": o.shown(t)}, "jira": o.shown(t), "zendesk": map[string]any{"ticket": o.shown(t)}}[o.system])
}

// find answers a look-up of the token.
func (o *ticketOffice) find(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	text := asked.Get("sysparm_query") + asked.Get("jql") + asked.Get("external_id")
	found := []any{}
	for _, t := range o.tickets {
		if t.token != "" && strings.Contains(text, t.token) {
			found = append(found, o.shown(t))
		}
	}
	o.answer(w, http.StatusOK, map[string]any{
		"servicenow": map[string]any{"result": found},
		"jira":       map[string]any{"issues": found, "total": len(found)},
		"zendesk":    map[string]any{"tickets": found, "next_page": nil},
	}[o.system])
}

func (o *ticketOffice) shown(t *officeTicket) map[string]any {
	place := slices.Index(o.tickets, t)
	at := fmt.Sprintf("2099-01-02T03:04:%02d", place%60)
	switch o.system {
	case "jira":
		status := map[bool]string{true: "new", false: "done"}[t.open]
		return map[string]any{"id": strconv.Itoa(10000 + place), "key": t.id, "self": "http://jira/rest/api/2/issue/" + t.id, "fields": map[string]any{
			"labels": []string{t.token}, "created": at + ".000+0000", "status": map[string]any{"statusCategory": map[string]any{"key": status}},
		}}
	case "zendesk":
		id, _ := strconv.Atoi(t.id)
		return map[string]any{"id": id, "external_id": t.token, "created_at": at + "Z", "priority": t.severity, "status": map[bool]string{true: "new", false: "closed"}[t.open]}
	}
	return map[string]any{
		"sys_id": t.id, "correlation_id": t.token, "urgency": t.severity, "sys_created_on": strings.Replace(at, "T", " ", 1),
		"state": map[bool]string{true: "1", false: "6"}[t.open], "active": strconv.FormatBool(t.open),
	}
}

func (o *ticketOffice) answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // who asked may have gone
}

// createOf is a create of the system for an element, its path first.
func (o *ticketOffice) createOf(element, severity, title string) (path, body string) {
	switch o.system {
	case "jira":
		return "/rest/api/2/issue", fmt.Sprintf(`{"fields":{"project":{"key":"OPS"},"issuetype":{"name":"Bug"},"host":%q,"check":"link","priority":{"name":%q},"summary":%q,"labels":["monitoring"]}}`, element, severity, title)
	case "zendesk":
		return "/api/v2/tickets.json", fmt.Sprintf(`{"ticket":{"host":%q,"check":"link","priority":%q,"subject":%q}}`, element, severity, title)
	}
	return "/api/now/table/incident", fmt.Sprintf(`{"cmdb_ci":%q,"category":"link","urgency":%q,"short_description":%q}`, element, severity, title)
}

// identities are the rules' for createOf.
var identities = map[string]string{
	"servicenow": "{ host = body.cmdb_ci, check = body.category }",
	"jira":       "{ host = body.fields.host, check = body.fields.check }",
	"zendesk":    "{ host = body.ticket.host, check = body.ticket.check }",
}

const (
	clientUser = "Basic Ym90OnNlY3JldA==" // bot:secret
	ownUser    = "Basic cm9ib3Q6b3du"     // robot:own
)
