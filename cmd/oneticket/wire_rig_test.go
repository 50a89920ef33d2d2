package main_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A wire is a ticket system that keeps what reaches it, and answers as its
// script says.
type wire struct {
	*httptest.Server
	listen string

	mu   sync.Mutex
	came []wireRequest
}

// A wireRequest is one request as the ticket system saw it; n counts from 1.
type wireRequest struct {
	n            int
	method, uri  string
	header       http.Header
	body         string
	hangs        func()
	answerWriter http.ResponseWriter
}

func (q *wireRequest) says(status int, contentType, body string) {
	q.answerWriter.Header().Set("Content-Type", contentType)
	q.answerWriter.WriteHeader(status)
	io.WriteString(q.answerWriter, body)
}

func (q *wireRequest) json(status int, body string) { q.says(status, "application/json", body) }

func newWire(t *testing.T, script func(*wireRequest)) *wire {
	w := &wire{listen: freeAddress(t)}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the sender went away in the middle
		}
		w.mu.Lock()
		q := wireRequest{n: len(w.came) + 1, method: r.Method, uri: r.RequestURI, header: r.Header.Clone(), body: string(body), answerWriter: rw}
		w.came = append(w.came, q)
		w.mu.Unlock()
		q.hangs = func() {
			if c, _, err := http.NewResponseController(rw).Hijack(); err == nil {
				c.Close()
			}
		}
		script(&q)
	}))
	t.Cleanup(w.Close)
	return w
}

// all are the requests so far with the method.
func (w *wire) all(method string) []wireRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.came), func(q wireRequest) bool { return q.method != method })
}

func (w *wire) send(t *testing.T, method, target, contentType, body string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequest(method, "http://"+w.listen+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := newClient(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	a, err := answerIn(res)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// decided checks what the filter says that it did.
func (a answer) decided(t *testing.T, status int, decision string) {
	t.Helper()
	if got := a.header.Get("Oneticket-Decision"); a.status != status || !strings.HasPrefix(got, decision) {
		t.Errorf("%d %s %s\nwant %d %s", a.status, got, a.body, status, decision)
	}
}

// A wired is a backend of a sidecar, and the settings of its rule; none is a
// backend without one.
type wired struct {
	preset, rule string
	to           *wire
}

// newWired starts a sidecar in front of them.
func newWired(t *testing.T, backends ...wired) *sidecar {
	dir := t.TempDir()
	s := &sidecar{t: t, dir: dir, config: filepath.Join(dir, "oneticket.hcl"), admin: freeAddress(t), verbose: true}
	text := fmt.Sprintf("state_dir = %q\nadmin = %q\n", filepath.Join(dir, "state"), s.admin)
	for i, b := range backends {
		text += fmt.Sprintf("backend \"b%d\" {\n url = %q\n listen = %q\n preset = %q\n timeout = \"5s\"\n}\n", i, b.to.URL, b.to.listen, b.preset)
		if b.rule != "" {
			text += fmt.Sprintf("rule \"r%d\" {\n backend = \"b%d\"\n %s\n}\n", i, i, b.rule)
		}
	}
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start()
	return s
}
