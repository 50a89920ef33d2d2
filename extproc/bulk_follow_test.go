package extproc_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/extproc"
)

// A bulkSystem takes creates of one each, and finds nothing.
type bulkSystem struct {
	mu     sync.Mutex
	bodies []string
}

func (s *bulkSystem) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	if r.Method == "GET" {
		reply(w, 200, map[string]any{"list": []string{}})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies = append(s.bodies, string(text))
	reply(w, 201, map[string]any{"results": []any{map[string]string{"sys_id": fmt.Sprintf("%04d", len(s.bodies))}}})
}

func newBulkDeskRig(t *testing.T, box *letterBox) (*rig, *bulkSystem, *extproc.Caller) {
	t.Helper()
	s := &bulkSystem{}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	calls := extproc.NewCaller(nil)
	t.Cleanup(calls.Close)
	calls.Use([]extproc.Outlet{{Backend: "snow", Via: web.URL}})
	r := newRig(t, func(r *rig, o *extproc.Options) {
		byUser(r, o)
		manyAtOnce(r, o)
		policy := *r.rule.Policy("")
		policy.CanLookUp, policy.Settle = true, 50*time.Millisecond
		r.rule.Policy = func(string) *dedup.Policy { return &policy }
		r.rule.Asks, r.rule.SafeRetries, r.rule.HealWithin, r.rule.Resend = asks(), true, time.Millisecond, 4
		o.Calls, o.Letters = calls, box
	})
	return r, s, calls
}

func TestEachLostCreateOfABulkIsGoneOnWithByItself(t *testing.T) {
	t.Parallel()
	box := &letterBox{}
	r, s, _ := newBulkDeskRig(t, box)
	p := r.proxy()
	p.create(disks(disk(1), disk(2)), bot...)
	p.gone()
	r.eventually(disk(1), dedup.Open)
	r.eventually(disk(2), dedup.Open)
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.bodies)
	if len(s.bodies) != 2 || sentAgain(s.bodies[0]) != disks(disk(1)) || sentAgain(s.bodies[1]) != disks(disk(2)) {
		t.Errorf("sent again is %q", s.bodies)
	}
	if !slices.Contains(box.all(), "put unknown 0 1") {
		t.Errorf("the letters are %q", box.all())
	}
}

// sentAgain is a body without its token, which it must have.
func sentAgain(body string) string {
	before, token, has := strings.Cut(body, `,"correlation_id":"idem:`)
	_, after, _ := strings.Cut(token, `"`)
	if !has {
		return "no token: " + body
	}
	return before + after
}

func TestADeadLetterOfABulkGoesOutAlone(t *testing.T) {
	box := &letterBox{alive: true}
	r, _, calls := newBulkDeskRig(t, box)
	r.rule.HealWithin, r.rule.Resend = 0, 0
	p := r.proxy()
	p.create(disks(disk(1), disk(2)), bot...)
	p.ask(local("503"))
	p.ask(responseBody("upstream connect error"))
	box.has(t, "put unknown 503 1")
	letter := box.last
	if got := string(letter.Body); got != disks(disk(2)) {
		t.Fatalf("the letter is %s", got)
	}
	mark := calls.Mark()
	eventually(t, "it may be sent again", func() bool {
		p = r.proxy()
		p.ask(requestHeaders(append([]string{mark.Name, mark.Value, "oneticket-replay", "1;00000001"}, bot...)...))
		p.send(requestBody(string(letter.Body)))
		return sentOnWith(p.last(), string(letter.Body)) == string(letter.Body)
	})
	p.answer("201", results(ticket(7)), "content-type", "application/json")
	if rec := r.eventually(disk(2), dedup.Open); rec.Ticket.ID != "0007" || string(rec.Response.Body) != ticket(7) {
		t.Errorf("the record has %v, %s", rec.Ticket, rec.Response.Body)
	}
}
