package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// desk is a running ticket system and its one user.
type desk struct {
	*testing.T
	url string
}

func open(t *testing.T, keep int) *desk {
	t.Helper()
	srv := httptest.NewServer(newServer(newTable(keep), "automation", "demo"))
	t.Cleanup(srv.Close)
	return &desk{t, srv.URL}
}

func (d *desk) request(method, path, body string) *http.Request {
	d.Helper()
	r, err := http.NewRequestWithContext(d.Context(), method, d.url+path, strings.NewReader(body))
	if err != nil {
		d.Fatal(err)
	}
	r.SetBasicAuth("automation", "demo")
	return r
}

// do sends the request, checks the status and decodes the answer into v.
func (d *desk) do(method, path, body string, status int, v any) http.Header {
	d.Helper()
	resp, err := http.DefaultClient.Do(d.request(method, path, body))
	if err != nil {
		d.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		d.Fatal(err)
	}
	if resp.StatusCode != status {
		d.Fatalf("%s %s: status %d, want %d: %s", method, path, resp.StatusCode, status, data)
	}
	if v != nil {
		if err := json.Unmarshal(data, v); err != nil {
			d.Fatalf("%s %s: %v: %s", method, path, err, data)
		}
	}
	return resp.Header
}

func (d *desk) create(body string) ticket {
	d.Helper()
	var got struct{ Result ticket }
	d.do("POST", "/api/now/table/incident", body, 201, &got)
	return got.Result
}

func (d *desk) stats() Stats {
	d.Helper()
	var got Stats
	d.do("GET", "/stats", "", 200, &got)
	return got
}

func TestCreateGivesNumberSysIDAndLocation(t *testing.T) {
	d := open(t, 10)
	var got struct{ Result ticket }
	header := d.do("POST", "/api/now/v2/table/incident", `{"cmdb_ci":"rtr-1","urgency":2}`, 201, &got)
	row := got.Result
	if row["number"] != "INC0000001" || row["urgency"] != "2" || row["cmdb_ci"] != "rtr-1" {
		t.Errorf("ticket %v", row)
	}
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(row["sys_id"]) {
		t.Errorf("sys_id %q is not 32 hex digits", row["sys_id"])
	}
	if want := d.url + "/api/now/table/incident/" + row["sys_id"]; header.Get("Location") != want {
		t.Errorf("Location %q, want %q", header.Get("Location"), want)
	}
	if next := d.create(`{}`); next["number"] != "INC0000002" {
		t.Errorf("second number %q", next["number"])
	}
}

func TestTicketIsFoundByCorrelationID(t *testing.T) {
	d := open(t, 10)
	d.create(`{"correlation_id":"idem:1"}`)
	want := d.create(`{"correlation_id":"idem:2"}`)
	for name, c := range map[string]struct {
		query string
		found int
	}{
		"by its token":      {"correlation_id=idem:2^ORDERBYDESCsys_created_on&sysparm_limit=1", 1},
		"nobody's token":    {"correlation_id=idem:3", 0},
		"all but one":       {"correlation_id!=idem:1", 1},
		"in a list":         {"correlation_idINidem:1,idem:2", 2},
		"ignored condition": {"correlation_idSTARTSWITHzzz", 2},
		"two conditions":    {"correlation_id=idem:2^state=7", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var got struct{ Result []ticket }
			d.do("GET", "/api/now/table/incident?sysparm_fields=sys_id,state&sysparm_query="+c.query, "", 200, &got)
			if len(got.Result) != c.found {
				t.Fatalf("%d tickets, want %d", len(got.Result), c.found)
			}
			if c.found == 1 && (got.Result[0]["sys_id"] != want["sys_id"] || len(got.Result[0]) != 2) {
				t.Errorf("found %v, want state and sys_id of %v", got.Result[0], want)
			}
		})
	}
}

func TestUpdateChangesTheTicketAndNothingElse(t *testing.T) {
	d := open(t, 10)
	row := d.create(`{"urgency":"3"}`)
	var got struct{ Result ticket }
	path := "/api/now/table/incident/" + row["sys_id"]
	d.do("PATCH", path, `{"urgency":"1","number":"INC9"}`, 200, nil)
	d.do("GET", path, "", 200, &got)
	if got.Result["urgency"] != "1" || got.Result["number"] != row["number"] {
		t.Errorf("ticket after the update: %v", got.Result)
	}
	d.do("PATCH", "/api/now/table/incident/"+strings.Repeat("0", 32), `{}`, 404, nil)
	if s := d.stats(); s.Updates != 1 || s.Tickets != 1 || s.Reads != 1 || s.Refused != 1 || s.Requests != 4 {
		t.Errorf("stats %+v", s)
	}
}

func TestWrongPasswordOpensNothing(t *testing.T) {
	d := open(t, 10)
	r := d.request("POST", "/api/now/table/incident", `{}`)
	r.SetBasicAuth("automation", "guess")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if s := d.stats(); resp.StatusCode != 401 || s.Tickets != 0 || s.Refused != 1 {
		t.Errorf("status %d, stats %+v", resp.StatusCode, s)
	}
}

func TestBrokenRequestsAreRefused(t *testing.T) {
	d := open(t, 10)
	d.do("POST", "/api/now/table/incident", `{"cmdb_ci":`, 400, nil)
	d.do("POST", "/api/now/latest/table/incident", `{}`, 400, nil)
	d.do("POST", "/faults?delay=soon", "", 400, nil)
	if s := d.stats(); s.Tickets != 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestLostAcknowledgementLeavesATicket(t *testing.T) {
	d := open(t, 10)
	d.do("POST", "/faults?lose=1", "", 204, nil)
	r := d.request("POST", "/api/now/table/incident", `{"correlation_id":"idem:1"}`)
	if resp, err := http.DefaultClient.Do(r); err == nil {
		resp.Body.Close()
		t.Fatalf("an answer came: %s", resp.Status)
	}
	if s := d.stats(); s.Tickets != 1 || s.Lost != 1 || s.Keyed != 1 {
		t.Errorf("stats %+v", s)
	}
	if row := d.create(`{}`); row["number"] != "INC0000002" {
		t.Errorf("the next create got %q", row["number"])
	}
}

func TestDelayHoldsACreate(t *testing.T) {
	const delay = 20 * time.Millisecond
	d := open(t, 10)
	d.do("POST", "/faults?delay="+delay.String(), "", 204, nil)
	start := time.Now()
	d.create(`{}`)
	if took := time.Since(start); took < delay {
		t.Errorf("a create took %v, less than the delay of %v", took, delay)
	}
}

func TestCreatesAtOneInstantAreAllTickets(t *testing.T) {
	const clients = 30
	d := open(t, 10) // fewer than come: the oldest are forgotten, the count is not
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			resp, err := http.DefaultClient.Do(d.request("POST", "/api/now/table/incident", `{}`))
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
		})
	}
	wg.Wait()
	var got struct{ Result []ticket }
	d.do("GET", "/api/now/table/incident", "", 200, &got)
	if s := d.stats(); s.Tickets != clients || len(got.Result) != 10 {
		t.Errorf("%d tickets counted, %d kept", s.Tickets, len(got.Result))
	}
}
