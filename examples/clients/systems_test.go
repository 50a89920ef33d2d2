package clients_test

import (
	"net/http"
	"strconv"
)

// A system is one kind of ticket system, and how it names a ticket.
type system struct {
	routes func(*desk, *http.ServeMux)
	named  func(ticket) string
	secure bool // its clients take https only
	folds  bool // repeats are sent on, and it adds them to the open ticket
}

// systems are the stand-ins, by the name of the backend.
var systems = map[string]system{
	"servicenow": {routes: serviceNow, named: sysID},
	"secured":    {routes: serviceNow, named: sysID, secure: true},
	"jira":       {routes: jira, named: func(t ticket) string { return "OPS-" + strconv.Itoa(t.n) }},
	"zendesk":    {routes: zendesk, named: plainNumber},
	"pagerduty":  {routes: events, named: func(t ticket) string { return t.token }, secure: true, folds: true},
	"incidents":  {routes: incidents, named: incidentID, secure: true},
	"opsgenie":   {routes: alerts, named: alertID, folds: true},
	"notified":   {routes: alerts, named: alertID, secure: true, folds: true},
	"redmine":    {routes: redmine, named: plainNumber},
	"rt":         {routes: requestTracker, named: plainNumber},
	"hooks":      {routes: hooks, named: plainNumber},
}

func plainNumber(t ticket) string { return strconv.Itoa(t.n) }
