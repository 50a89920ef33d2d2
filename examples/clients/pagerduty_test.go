package clients_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// events is PagerDuty's Events API v2: an event with the key of an open alert is
// added to it, and says what it is like from then on.
func events(d *desk, mux *http.ServeMux) {
	mux.HandleFunc("POST /v2/enqueue", func(w http.ResponseWriter, r *http.Request) {
		var in event
		read(r, &in)
		if in.Action == "resolve" {
			d.each(func(t *ticket) { t.done = t.done || t.token == in.Key })
			write(w, http.StatusAccepted, object{"status": "success", "message": "Event processed", "dedup_key": in.Key})
			return
		}
		want := ticket{fault: in.Payload.Source, severity: in.Payload.Severity, token: in.Key, title: in.Payload.Summary, folds: true, regrades: true}
		if want.token == "" {
			want.token = strconv.FormatInt(time.Now().UnixNano(), 16)
		}
		d.take(w, want, func(w http.ResponseWriter, t ticket) {
			write(w, http.StatusAccepted, object{"status": "success", "message": "Event processed", "dedup_key": t.token})
		})
	})
}

type event struct {
	Action  string `json:"event_action"`
	Key     string `json:"dedup_key"`
	Payload struct{ Summary, Source, Severity string }
}

// incidents is PagerDuty's REST API: a second incident with the key of an open
// one is refused.
func incidents(d *desk, mux *http.ServeMux) {
	mux.HandleFunc("POST /incidents", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Incident pagerDutyIncident }
		read(r, &in)
		i := in.Incident
		if open := d.find(func(t *ticket) bool { return i.Key != "" && t.token == i.Key && !t.done }); len(open) > 0 {
			write(w, http.StatusBadRequest, object{"error": object{"message": "Invalid Input Provided", "code": 2001,
				"errors": []string{"Open incident with matching dedup key already exists on this service"}}})
			return
		}
		want := ticket{fault: faultIn(i.Title), severity: i.Urgency, token: i.Key, title: i.Title}
		d.take(w, want, func(w http.ResponseWriter, t ticket) {
			write(w, http.StatusCreated, object{"incident": showPagerDuty(t)})
		})
	})
	mux.HandleFunc("GET /incidents", func(w http.ResponseWriter, r *http.Request) {
		key := r.FormValue("incident_key")
		found := d.find(func(t *ticket) bool { return key == "" || t.token == key })
		write(w, http.StatusOK, object{"incidents": list(found, showPagerDuty), "limit": 100, "offset": 0, "more": false})
	})
	mux.HandleFunc("GET /incidents/{id}", func(w http.ResponseWriter, r *http.Request) {
		d.with(w, r.PathValue("id"), func(t *ticket) { write(w, http.StatusOK, object{"incident": showPagerDuty(*t)}) })
	})
	mux.HandleFunc("PUT /incidents/{id}", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Incident pagerDutyIncident }
		read(r, &in)
		d.with(w, r.PathValue("id"), func(t *ticket) {
			t.grade(in.Incident.Urgency)
			t.done = t.done || in.Incident.Status == "resolved"
			write(w, http.StatusOK, object{"incident": showPagerDuty(*t)})
		})
	})
}

type pagerDutyIncident struct {
	Title   string
	Urgency string
	Status  string
	Key     string `json:"incident_key"`
}

var titled = regexp.MustCompile(` on ([^ ,]+)`)

// faultIn is the fault in a title of the clients here.
func faultIn(title string) string {
	if m := titled.FindStringSubmatch(title); m != nil {
		return m[1]
	}
	return ""
}

func incidentID(t ticket) string { return fmt.Sprintf("Q%07d", t.n) }

func showPagerDuty(t ticket) object {
	status := "triggered"
	if t.done {
		status = "resolved"
	}
	return object{
		"id": incidentID(t), "type": "incident", "summary": t.title, "title": t.title, "incident_number": t.n, "status": status, "urgency": t.severity,
		"incident_key": t.token, "self": "https://api.pagerduty.com/incidents/" + incidentID(t), "created_at": t.created.UTC().Format(time.RFC3339),
		"service": object{"id": "PSVC1", "type": "service_reference"},
	}
}
