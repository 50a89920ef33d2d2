package doctor

import (
	"io"
	"net/http"
	"strings"
	"sync"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
)

// A desk knows all probes, and is the backend to which they go.
type desk struct {
	mu     sync.Mutex
	probes map[string]*probe // by mark
}

func (d *desk) add(p *probe) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.probes[p.mark] = p
}

// marked finds the probe whose mark the text has.
func (d *desk) marked(text string) *probe {
	d.mu.Lock()
	defer d.mu.Unlock()
	for mark, p := range d.probes {
		if strings.Contains(text, mark) {
			return p
		}
	}
	return nil
}

// find looks for a mark wherever a first message may have it: not every Envoy
// sends the headers.
func (d *desk) find(m *extprocv3.ProcessingRequest) *probe {
	for _, h := range m.GetRequestHeaders().GetHeaders().GetHeaders() {
		if h.GetKey() == ":path" {
			return d.marked(string(h.GetRawValue()) + h.GetValue())
		}
	}
	if path := m.GetAttributes()[attributesOf].GetFields()["request.path"].GetStringValue(); path != "" {
		return d.marked(path)
	}
	body := m.GetRequestBody().GetBody()
	return d.marked(string(body[:min(len(body), 256)]))
}

// ServeHTTP is the backend: what is not marked is none of its business.
func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := d.marked(r.URL.RawQuery)
	if p == nil {
		http.Error(w, "the backend of oneticket doctor takes only its own requests", http.StatusServiceUnavailable)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender went away
	}
	p.mu.Lock()
	p.attempts = append(p.attempts, attempt{r.Header.Clone(), body})
	p.mu.Unlock()
	if p.hangUp {
		panic(http.ErrAbortHandler) // the documented way to close the connection
	}
	status := p.status
	if status == 0 {
		status = http.StatusCreated
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"result":"`+strings.Repeat("x", p.answering)+`"}`) // the client may be gone
}
