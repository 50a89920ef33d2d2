package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const closeSecret = "b7Qm-2Zr8-p9Lw-44Xd"

// newClosable is a sidecar whose backend takes closes; jira, which it has
// beside, takes none.
func newClosable(t *testing.T, d *desk, more string) *sidecar {
	s := newSidecar(t, d, "", more+fmt.Sprintf("backend \"jira\" {\n url = %q\n listen = %q\n}\n", d.URL, freeAddress(t)))
	s.rewrite("backend \"servicenow\" {", fmt.Sprintf("backend \"servicenow\" {\n  close_secret = %q", closeSecret))
	s.start()
	return s
}

// A said is what the webhook answered.
type said struct {
	status int
	header http.Header
	text   string
	Result string `json:"result"`
	Detail string `json:"detail"`
}

// tells sends a close: pairs of headers come last.
func (s *sidecar) tells(method, path, body string, headers ...string) said {
	s.t.Helper()
	req, err := http.NewRequest(method, "http://"+s.admin+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	out := said{status: res.StatusCode, header: res.Header, text: string(text)}
	if err := json.Unmarshal(text, &out); err != nil {
		s.t.Errorf("%s %s answers %q: %v", method, path, text, err)
	}
	return out
}

// closes is the plainest close.
func (s *sidecar) closes(ticket string) said {
	return s.tells("POST", "/v1/close", fmt.Sprintf(`{"backend":"servicenow","ticket":%q}`, ticket),
		"Content-Type", "application/json", "Authorization", "Bearer "+closeSecret)
}

// TestATicketIsClosedByWebhookInEveryFormThatVendorsSend: the next request of
// the fault opens a new ticket.
func TestATicketIsClosedByWebhookInEveryFormThatVendorsSend(t *testing.T) {
	d := newDesk(t)
	s := newClosable(t, d, "")
	c := newClient(t)
	bearer := []string{"Authorization", "Bearer " + closeSecret}
	json := append([]string{"Content-Type", "application/json"}, bearer...)
	for name, one := range map[string]struct {
		path, body string // T is the ticket
		headers    []string
	}{
		"json":                          {"/v1/close", `{"backend":"servicenow","ticket":"T"}`, json},
		"json of an unsaid type":        {"/v1/close", `{"backend":"servicenow","ticket":"T"}`, bearer},
		"a form":                        {"/v1/close", "backend=servicenow&ticket=T", append([]string{"Content-Type", "application/x-www-form-urlencoded"}, bearer...)},
		"the path alone":                {"/v1/close/servicenow/T", "", bearer},
		"the query, and whatever body":  {"/v1/close?backend=servicenow&ticket=T", `{"issue":{"key":`, json},
		"a body of its own":             {"/v1/close/servicenow?ticket_at=event.data.id", `{"event":{"data":{"id":"T"}}}`, json},
		"a list in a body of its own":   {"/v1/close/servicenow?ticket_at=messages.0.incident.id", `{"messages":[{"incident":{"id":"T"}}]}`, json},
		"an event of the right type":    {"/v1/close/servicenow?ticket_at=id&when=type:resolved", `{"type":"resolved","id":"T"}`, json},
		"an event that says true":       {"/v1/close/servicenow?ticket_at=id&when=issue.resolved:true", `{"issue":{"resolved":true},"id":"T"}`, json},
		"with the secret in a header":   {"/v1/close/servicenow/T", "", []string{"X-Oneticket-Secret", closeSecret}},
		"with the secret as a password": {"/v1/close/servicenow/T", "", []string{"Authorization", basic("hook", closeSecret)}},
		"by somebody who has but a URL": {"/v1/close/servicenow/T?secret=" + closeSecret, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			first := s.post(c, fault(name, 0))
			put := func(text string) string { return strings.ReplaceAll(text, "T", first.ticket()) }
			if a := s.post(c, fault(name, 1)); a.decision() != "suppress; reason=refire" {
				t.Fatalf("before the close: %s", a.decision())
			}
			if got := s.tells("POST", put(one.path), put(one.body), one.headers...); got.status != 200 || got.Result != "closed" {
				t.Fatalf("the webhook answers %d %s", got.status, got.text)
			}
			a := s.post(c, fault(name, 2))
			if a.decision() != "create; reason=closed" || a.ticket() == first.ticket() || len(d.of(name)) != 2 {
				t.Errorf("after the close: %s, ticket %s after %s", a.decision(), a.ticket(), first.ticket())
			}
		})
	}
	if strings.Contains(s.log.String(), closeSecret) {
		t.Error("the log shows the secret")
	}
}

func basic(user, password string) string {
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return r.Header.Get("Authorization")
}

// TestACloseThatIsNotTakenChangesNothing, and says what would be taken.
func TestACloseThatIsNotTakenChangesNothing(t *testing.T) {
	d := newDesk(t)
	s := newClosable(t, d, "")
	c := newClient(t)
	id := s.post(c, fault("core-1", 0)).ticket()
	good := fmt.Sprintf(`{"backend":"servicenow","ticket":%q}`, id)
	right := []string{"Authorization", "Bearer " + closeSecret}
	for name, one := range map[string]struct {
		method, path, body string
		headers            []string
		status             int
		says               string
	}{
		"no secret":                   {"POST", "/v1/close", good, nil, 401, "close_secret"},
		"a wrong secret":              {"POST", "/v1/close", good, []string{"Authorization", "Bearer " + closeSecret + "x"}, 401, "Bearer"},
		"an empty secret":             {"POST", "/v1/close", good, []string{"Authorization", "Bearer "}, 401, "Bearer"},
		"a wrong secret in the query": {"POST", "/v1/close?secret=wrong", good, nil, 401, "Bearer"},
		"a backend that takes none":   {"POST", "/v1/close", `{"backend":"jira","ticket":"OPS-7"}`, right, 403, `close_secret = env(`},
		"a backend there is not":      {"POST", "/v1/close", `{"backend":"servicenew","ticket":"7"}`, right, 404, "jira, servicenow"},
		"no backend":                  {"POST", "/v1/close", `{"ticket":"7"}`, right, 422, "jira, servicenow"},
		"no ticket":                   {"POST", "/v1/close", `{"backend":"servicenow"}`, right, 422, "ticket"},
		"a ticket that is an object":  {"POST", "/v1/close", `{"backend":"servicenow","ticket":{"id":"7"}}`, right, 422, "ticket"},
		"an event of another type":    {"POST", "/v1/close/servicenow?ticket_at=id&when=type:resolved", fmt.Sprintf(`{"type":"acknowledged","id":%q}`, id), right, 200, "ignored"},
		"no json":                     {"POST", "/v1/close", `{"backend":"servicenow",`, right, 400, "JSON"},
		"two bodies":                  {"POST", "/v1/close", good + good, right, 400, "JSON"},
		"too long a body":             {"POST", "/v1/close", `{"x":"` + strings.Repeat("x", 1<<20), right, 413, "URL"},
		"a read":                      {"GET", "/v1/close?backend=servicenow&ticket=" + id, "", right, 405, "POST"},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.tells(one.method, one.path, one.body, one.headers...)
			if got.status != one.status || !strings.Contains(got.text, one.says) {
				t.Errorf("answered %d %s", got.status, got.text)
			}
			if media := got.header.Get("Content-Type"); got.status > 299 && media != "application/problem+json" {
				t.Errorf("a problem of type %q", media)
			}
			if a := s.post(c, fault("core-1", 1)); a.decision() != "suppress; reason=refire" || a.ticket() != id {
				t.Errorf("the record: %s", a.decision())
			}
		})
	}
	if n := s.metric("oneticket_closes_total", `result="rejected"`, `backend="servicenow"`); n != 6 {
		t.Errorf("%v calls are counted as rejected", n)
	}
}

// TestACloseBeforeTheCreatesAnswerIsKept: whoever writes the ticket writes it
// closed.
func TestACloseBeforeTheCreatesAnswerIsKept(t *testing.T) {
	d := newDesk(t)
	s := newClosable(t, d, "")
	c := newClient(t)
	d.delay.Store(int64(time.Second))
	came := make(chan answer, 1)
	go func() { came <- s.post(c, fault("core-1", 0)) }()
	waitFor(t, "the ticket", func() bool { return len(d.of("core-1")) == 1 })
	if got := s.closes(d.of("core-1")[0]); got.status != 202 || got.Result != "kept" {
		t.Errorf("the webhook answers %d %s", got.status, got.text)
	}
	if a := <-came; a.status != 201 {
		t.Errorf("the create is answered with %d", a.status)
	}
	d.delay.Store(0)
	waitFor(t, "a new ticket", func() bool { return s.post(c, fault("core-1", 1)).decision() == "create; reason=closed" })
	if n := len(d.of("core-1")); n != 2 {
		t.Errorf("%d tickets", n)
	}
}

// TestALateCloseOfAnOldEpisodeDoesNotTouchTheNewOne.
func TestALateCloseOfAnOldEpisodeDoesNotTouchTheNewOne(t *testing.T) {
	d := newDesk(t)
	s := newClosable(t, d, "")
	c := newClient(t)
	old := s.post(c, fault("core-1", 0)).ticket()
	s.closes(old)
	now := s.post(c, fault("core-1", 1)).ticket()
	for range 2 {
		if got := s.closes(old); got.status != 200 || got.Result != "no_change" {
			t.Errorf("the webhook answers %d %s", got.status, got.text)
		}
	}
	if a := s.post(c, fault("core-1", 2)); a.decision() != "suppress; reason=refire" || a.ticket() != now {
		t.Errorf("the new episode: %s, ticket %s", a.decision(), a.ticket())
	}
}

// TestACloseWhileTheStoreIsAwayIsKept: the ticket system sends it once, while
// the embedded store decides; the fault has a new ticket at once, and that one
// is the fault's also when the store is back.
func TestACloseWhileTheStoreIsAwayIsKept(t *testing.T) {
	r := newTroubledRedis(t)
	d := newDesk(t)
	s := newClosable(t, d, r.block())
	c := newClient(t)
	id := s.post(c, fault("core-1", 0)).ticket()
	r.kill()
	s.post(c, fault("core-2", 0)) // by which it is known that the store is away
	if got := s.closes(id); got.status != 200 || got.Result != "closed" {
		t.Errorf("the webhook answers %d %s", got.status, got.text)
	}
	second := s.post(c, fault("core-1", 1))
	if ids := d.of("core-1"); len(ids) != 2 || second.ticket() != ids[1] {
		t.Errorf("the next request: %s, ticket %s of %q", second.decision(), second.ticket(), ids)
	}
	r.start()
	waitFor(t, "the return", func() bool { return s.metric("oneticket_provisional_creates") == 0 })
	if a := s.post(c, fault("core-1", 2)); a.ticket() != second.ticket() || len(d.of("core-1")) != 2 {
		t.Errorf("after the return: %s, ticket %s of %q", a.decision(), a.ticket(), d.of("core-1"))
	}
}

// TestACloseWhileTheStoreHiccupsIsNotLost: it is the only call that sees the
// store away, and the next request comes when it is back.
func TestACloseWhileTheStoreHiccupsIsNotLost(t *testing.T) {
	address := startRedis(t)
	_, port, _ := strings.Cut(address, ":")
	d := newDesk(t)
	s := newClosable(t, d, fmt.Sprintf("store \"redis\" {\n url = %q\n}\n", "redis://"+address))
	c := newClient(t)
	id := s.post(c, fault("core-1", 0)).ticket()
	if out, err := exec.Command("redis-cli", "-p", port, "client", "pause", "2000", "all").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := s.closes(id); got.status > 299 {
		t.Errorf("the webhook answers %d %s", got.status, got.text)
	}
	waitFor(t, "the store", func() bool { return exec.Command("redis-cli", "-p", port, "ping").Run() == nil })
	for n := range 3 {
		if a := s.post(c, fault("core-1", n+1)); a.status != 201 || a.ticket() == id {
			t.Errorf("then %d %s, ticket %s: that was closed", a.status, a.decision(), a.ticket())
		}
	}
	if ids := d.of("core-1"); len(ids) != 2 {
		t.Errorf("the tickets are %q", ids)
	}
}

// TestANewSecretIsObeyedAfterAReload.
func TestANewSecretIsObeyedAfterAReload(t *testing.T) {
	d := newDesk(t)
	s := newClosable(t, d, "")
	id := s.post(newClient(t), fault("core-1", 0)).ticket()
	s.rewrite(closeSecret, closeSecret+"-changed")
	res, err := http.Post("http://"+s.admin+"/v1/reload", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if got := s.closes(id); got.status != 401 {
		t.Errorf("with the old secret: %d %s", got.status, got.text)
	}
	if got := s.tells("POST", "/v1/close/servicenow/"+id, "", "Authorization", "Bearer "+closeSecret+"-changed"); got.status != 200 {
		t.Errorf("with the new one: %d %s", got.status, got.text)
	}
}
