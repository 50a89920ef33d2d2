package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"oneticket/dedup/pgstore/pgtest"
	"oneticket/extproc/envoy/envoytest"
)

// built is the binary under test, built once for all tests of the package.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "oneticket-e2e")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "oneticket")
	out, err := exec.Command("go", "build", "-o", binary, "oneticket/cmd/oneticket").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return binary, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	pgtest.EndShared()
	if binary, err := built(); err == nil {
		os.RemoveAll(filepath.Dir(binary))
	}
	os.Exit(status)
}

// A desk is a ticket system that counts what reaches it.
type desk struct {
	*httptest.Server
	delay   atomic.Int64 // nanoseconds from the commit to the answer
	creates atomic.Int64
	answers func(w http.ResponseWriter, element, id string) bool // true: it has answered; set before the first request

	mu      sync.Mutex
	tickets map[string][]string // ids by cmdb_ci (the raw body where that cannot be read)
	keys    map[string][]string // ids by correlation_id
	closed  map[string]bool     // ids of tickets that somebody has closed by hand
	bodies  [][]byte
	headers []http.Header
}

func newDesk(t *testing.T) *desk {
	d := &desk{tickets: map[string][]string{}, keys: map[string][]string{}, closed: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/now/table/incident", d.query)
	mux.HandleFunc("GET /api/now/table/incident/{id}", d.read)
	mux.HandleFunc("PATCH /api/now/table/incident/{id}", d.update)
	mux.HandleFunc("GET /api/now/stats/incident", d.count)
	mux.HandleFunc("/", d.create)
	d.Server = httptest.NewServer(mux)
	t.Cleanup(d.Server.Close)
	return d
}

func (d *desk) create(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender went away in the middle
	}
	var fields struct {
		CI  string `json:"cmdb_ci"`
		Key string `json:"correlation_id"`
	}
	fault := string(body[:min(len(body), 200)])
	if json.Unmarshal(body, &fields) == nil && fields.CI != "" {
		fault = fields.CI
	}
	id := fmt.Sprintf("%032x", d.creates.Add(1))
	d.mu.Lock()
	d.tickets[fault] = append(d.tickets[fault], id)
	d.keys[fields.Key] = append(d.keys[fields.Key], id)
	d.bodies = append(d.bodies, body)
	d.headers = append(d.headers, r.Header.Clone())
	d.mu.Unlock()
	time.Sleep(time.Duration(d.delay.Load()))
	if d.answers != nil && d.answers(w, fields.CI, id) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"result":{"sys_id":%q,"number":"INC%07d"}}`, id, d.creates.Load())
}

// query answers a look-up by correlation_id.
func (d *desk) query(w http.ResponseWriter, r *http.Request) {
	key, _, _ := strings.Cut(strings.TrimPrefix(r.FormValue("sysparm_query"), "correlation_id="), "^")
	d.mu.Lock()
	ids := d.keys[key]
	d.mu.Unlock()
	found := []map[string]string{}
	for _, id := range ids {
		found = append(found, map[string]string{"sys_id": id, "number": "INC" + id[25:], "correlation_id": key, "state": "1", "active": "true"})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"result": found}) // whoever asked has gone
}

// read answers for one ticket: all are open.
func (d *desk) read(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"result": map[string]string{"sys_id": r.PathValue("id"), "state": "1", "active": "true"}})
}

// update takes every change.
func (d *desk) update(w http.ResponseWriter, r *http.Request) { d.read(w, r) }

// count answers how many open tickets carry a key of ours, to whoever may know.
func (d *desk) count(w http.ResponseWriter, r *http.Request) {
	if user, _, _ := r.BasicAuth(); user != "reporter" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for key, ids := range d.keys {
		for _, id := range ids {
			if strings.HasPrefix(key, "idem:") && !d.closed[id] {
				n++
			}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"result":{"stats":{"count":"%d"}}}`, n)
}

// of are the ids of the tickets of one fault.
func (d *desk) of(fault string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.tickets[fault]...)
}

// A sidecar is one `oneticket run` with its Envoy, or one `oneticket serve`
// beside another one.
type sidecar struct {
	serves  bool
	verbose bool // --log-level debug
	t       *testing.T
	config  string
	dir     string
	listen  string
	admin   string
	cmd     *exec.Cmd
	ended   chan struct{}
	log     *logBuffer
}

// newSidecar writes the configuration: one backend in front of the desk, and
// one rule of the ServiceNow preset; more is appended to the file, settings
// goes into the rule.
func newSidecar(t *testing.T, d *desk, settings, more string) *sidecar {
	dir := t.TempDir()
	s := &sidecar{t: t, dir: dir, config: filepath.Join(dir, "oneticket.hcl"), listen: freeAddress(t), admin: freeAddress(t)}
	text := fmt.Sprintf(`
state_dir = %q
admin     = %q
backend "servicenow" {
  url     = %q
  listen  = %q
  timeout = "5s"
}
rule "faults" {
  backend = "servicenow"
  preset  = "servicenow/incident"
  identity = {
    element_id  = lower(body.cmdb_ci)
    fault_class = body.category
  }
  fingerprint = { severity = body.urgency }
  settle      = "1s"
  %s
}
%s`, filepath.Join(dir, "state"), s.admin, d.URL, s.listen, settings, more)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// freeAddress is below the ports that the kernel gives to outgoing connections,
// which would take it while whoever listens there is being started again.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 15000+rand.IntN(17000))
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		defer l.Close()
		return address
	}
	t.Fatal("no free port between 15000 and 32000")
	return ""
}

// start runs it and waits until it is ready; it ends with the test.
func (s *sidecar) start() {
	s.t.Helper()
	binary, err := built()
	if err != nil {
		s.t.Fatal(err)
	}
	s.log = &logBuffer{}
	s.cmd = exec.Command(binary, "run", "-c", s.config, "--envoy", envoytest.Path(s.t))
	if s.serves {
		s.cmd = exec.Command(binary, "serve", "-c", s.config)
	}
	if s.verbose {
		s.cmd.Args = append(s.cmd.Args, "--log-level", "debug")
	}
	s.cmd.Stderr = s.log
	s.ended = make(chan struct{})
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { s.cmd.Wait(); close(s.ended) }()
	s.t.Cleanup(s.kill)
	deadline := time.Now().Add(time.Minute)
	for !s.isReady() {
		select {
		case <-s.ended:
			s.t.Fatalf("oneticket ended: %s", s.log)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			s.kill()
			s.t.Fatalf("oneticket did not become ready: %s", s.log)
		}
	}
}

func (s *sidecar) isReady() bool {
	res, err := http.Get("http://" + s.admin + "/ready")
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusOK
}

func (s *sidecar) kill() { s.end(syscall.SIGKILL) }

func (s *sidecar) end(signal syscall.Signal) {
	select {
	case <-s.ended:
		return
	default:
	}
	_ = s.cmd.Process.Signal(signal)
	<-s.ended
}

// metrics is what /metrics says.
func (s *sidecar) metrics() string {
	s.t.Helper()
	res, err := http.Get("http://" + s.admin + "/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// metric sums the samples of /metrics whose name and labels contain all parts.
func (s *sidecar) metric(name string, labels ...string) float64 {
	s.t.Helper()
	text := s.metrics()
	var sum float64
lines:
	for line := range strings.SplitSeq(text, "\n") {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || (rest[0] != '{' && rest[0] != ' ') {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(rest, l) {
				continue lines
			}
		}
		value, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if err != nil {
			s.t.Fatalf("%s: %v", line, err)
		}
		sum += value
	}
	return sum
}

// An answer is what one client saw; status 0 is none.
type answer struct {
	status   int
	header   http.Header
	body     string
	replayed bool
}

func (a answer) ticket() string {
	var fields struct {
		Result struct {
			ID string `json:"sys_id"`
		} `json:"result"`
	}
	_ = json.Unmarshal([]byte(a.body), &fields)
	return fields.Result.ID
}

// newClient has connections of its own for every request in flight.
func newClient(t *testing.T) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 40 * time.Second}
}

func (s *sidecar) post(c *http.Client, body string, headers ...string) answer {
	return s.postReader(c, strings.NewReader(body), headers...)
}

func (s *sidecar) postReader(c *http.Client, body io.Reader, headers ...string) answer {
	req, err := http.NewRequest(http.MethodPost, "http://"+s.listen+"/api/now/table/incident", body)
	if err != nil {
		s.t.Error(err)
		return answer{}
	}
	req.Header.Set("Content-Type", "application/json")
	req.SetBasicAuth("bot", "secret")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.Do(req)
	if err != nil {
		return answer{}
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}
	}
	return answer{
		status: res.StatusCode, header: res.Header, body: string(text),
		replayed: res.Header.Get("Idempotent-Replayed") == "true",
	}
}

// fault is a create for the element; title is what differs between two tries.
func fault(element string, title int) string {
	return fmt.Sprintf(`{"cmdb_ci":%q,"category":"link","urgency":"2","short_description":"down, try %d"}`, element, title)
}

// rewrite replaces a part of the configuration file; cut drops all from a part on.
func (s *sidecar) rewrite(old, new string) {
	s.t.Helper()
	text, err := os.ReadFile(s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(old)) {
		s.t.Fatalf("no %q in the configuration", old)
	}
	if err := os.WriteFile(s.config, bytes.Replace(text, []byte(old), []byte(new), 1), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sidecar) cut(from string) {
	s.t.Helper()
	text, err := os.ReadFile(s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	before, _, found := bytes.Cut(text, []byte(from))
	if !found {
		s.t.Fatalf("no %q in the configuration", from)
	}
	if err := os.WriteFile(s.config, before, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// A logBuffer may be read while a process writes.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
