package main_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

const withCredentials = `credentials = { Authorization = "` + ownUser + `" }`

const jiraCloses = `
  merge_close = {
    path    = "/rest/api/2/issue/${ticket.id}/transitions"
    body    = { transition = { id = "31" }, update = { comment = [{ add = { body = "Duplicate of ${survivor.id}." } }] } }
    success = [204]
  }`

// worst is a severity of the system, and lesser one of less.
var worst, lesser = map[string]string{"servicenow": "1", "jira": "Highest", "zendesk": "urgent"},
	map[string]string{"servicenow": "3", "jira": "Low", "zendesk": "low"}

// TestADoubleOfALostAnswerIsMerged: the ticket system makes two tickets of one
// create, whose answer is lost. The look-up finds both.
func TestADoubleOfALostAnswerIsMerged(t *testing.T) {
	for _, c := range []struct {
		system, merge, more string
		closed              bool
	}{
		{"servicenow", "close", "", true},
		{"servicenow", "link", "", false},
		{"jira", "close", jiraCloses, true},
		{"jira", "link", "", false},
		{"zendesk", "close", "", true},
		{"zendesk", "link", "", false},
	} {
		t.Run(c.system+", "+c.merge, func(t *testing.T) {
			o := newTicketOffice(t, c.system)
			o.doubles = 1
			s := newOfficeSidecar(t, o, withCredentials, `merge = "`+c.merge+`"`+c.more)
			s.start()
			client := newClient(t)
			first := s.fire(o, client, "core-1", lesser[c.system], "down")
			if first.status != 201 || !strings.Contains(first.body, o.is(0).id) {
				t.Fatalf("the client of a lost answer saw %d %q", first.status, first.body)
			}
			waitFor(t, "the merge", func() bool { return s.metric("oneticket_merges_total", `rule="faults"`, `result="merged"`) == 1 })
			stays, double := o.is(0), o.is(1)
			if !stays.open || stays.names != "" || double.open == c.closed || double.names != stays.id {
				t.Errorf("%+v stays, and %+v is the double", stays, double)
			}
			if !slices.Equal(o.changers, []string{ownUser}) {
				t.Errorf("it was merged by %q", o.changers)
			}
			if again := s.fire(o, client, "core-1", lesser[c.system], "down"); !again.replayed || again.body != first.body || o.size() != 2 {
				t.Errorf("a re-fire saw %d %q; %d tickets", again.status, again.body, o.size())
			}
			if strings.Contains(s.log.String(), ownUser) {
				t.Error("the log has the credentials")
			}
		})
	}
}

// TestTheOldTicketOfARefusedUpdateIsMerged: the client may create but not edit.
// What got worse has a new ticket, and the old one is closed when that is there.
func TestTheOldTicketOfARefusedUpdateIsMerged(t *testing.T) {
	for _, system := range []string{"servicenow", "jira", "zendesk"} {
		t.Run(system, func(t *testing.T) {
			o := newTicketOffice(t, system)
			o.refuses[clientUser] = true
			more := ""
			if system == "jira" {
				more = jiraCloses
			}
			s := newOfficeSidecar(t, o, withCredentials, `merge = "close"`+more)
			s.start()
			client := newClient(t)
			s.fire(o, client, "core-1", lesser[system], "down")
			worse := s.fire(o, client, "core-1", worst[system], "down")
			if worse.decision() != "create; reason=update_failed" || o.size() != 2 {
				t.Fatalf("decided %q; %d tickets", worse.decision(), o.size())
			}
			waitFor(t, "the merge", func() bool { return s.metric("oneticket_merges_total", `result="merged"`) == 1 })
			if old, stays := o.is(0), o.is(1); old.open || old.names != stays.id || !stays.open {
				t.Errorf("%+v is old, and %+v stays", old, stays)
			}
			if again := s.fire(o, client, "core-1", worst[system], "down"); again.body != worse.body || !again.replayed {
				t.Errorf("a re-fire saw %d %q", again.status, again.body)
			}
		})
	}
}

// TestAReloadDecidesWhatBecomesOfDoubles from then on.
func TestAReloadDecidesWhatBecomesOfDoubles(t *testing.T) {
	o := newTicketOffice(t, "servicenow")
	s := newOfficeSidecar(t, o, withCredentials, `merge = "report"`)
	s.start()
	client := newClient(t)
	s.rewrite(`merge = "report"`, `merge = "link"`)
	if status, said := s.reload(); status != http.StatusOK {
		t.Fatalf("%d %s", status, said)
	}
	o.set(func() { o.doubles = 1 })
	s.fire(o, client, "core-1", "3", "down")
	waitFor(t, "the merge", func() bool { return s.metric("oneticket_merges_total", `result="merged"`) == 1 })
}

// TestADoubleThatIsOnlyReported: by the default, and without credentials.
func TestADoubleThatIsOnlyReported(t *testing.T) {
	for name, c := range map[string]struct{ credentials, settings string }{
		"by the default":      {withCredentials, ""},
		"without credentials": {"", `merge = "close"`},
	} {
		t.Run(name, func(t *testing.T) {
			o := newTicketOffice(t, "servicenow")
			o.doubles = 1
			s := newOfficeSidecar(t, o, c.credentials, c.settings)
			s.start()
			client := newClient(t)
			s.fire(o, client, "core-1", "3", "down")
			waitFor(t, "the report", func() bool { return s.metric("oneticket_duplicates_total", `kind="known"`) == 1 })
			time.Sleep(2500 * time.Millisecond) // a merge is tried after one second
			if got := s.metric("oneticket_merges_total"); got != 0 || o.changed() != 0 || !o.is(1).open {
				t.Errorf("%v merges, %d changes", got, o.changed())
			}
			if !strings.Contains(s.log.String(), o.is(1).id) {
				t.Errorf("the log does not name the double: %s", s.log)
			}
		})
	}
}

// TestADoubleIsNotMergedIntoAClosedTicket: a person has closed the ticket of the
// record, so the double is the only one that is open.
func TestADoubleIsNotMergedIntoAClosedTicket(t *testing.T) {
	o := newTicketOffice(t, "servicenow")
	o.doubles = 1
	s := newOfficeSidecar(t, o, withCredentials, `merge = "close"`)
	s.start()
	o.onRead = func() { o.tickets[0].open = false }
	s.fire(o, newClient(t), "core-1", "3", "down")
	waitFor(t, "the end of the merge", func() bool { return s.metric("oneticket_merges_total", `result="no_survivor"`) == 1 })
	if !o.is(1).open || o.changed() != 0 {
		t.Errorf("%+v; %d changes", o.is(1), o.changed())
	}
}
