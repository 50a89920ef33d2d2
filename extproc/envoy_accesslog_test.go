package extproc_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"oneticket/dedup"
	"oneticket/extproc"
	"oneticket/extproc/envoy"
	"oneticket/extproc/envoy/envoytest"
)

// behindEnvoy runs the rig's server beside a real Envoy before the backend,
// and returns the address that stands in for it.
func (r *rig) behindEnvoy(backend string) string {
	r.t.Helper()
	spec := envoytest.Fill(r.t, envoy.Spec{
		Backends:         []envoy.Backend{{Name: "snow", URL: "http://" + backend, Timeout: time.Minute}},
		AccessLogService: true,
	})
	l, err := net.Listen("unix", spec.Socket)
	if err != nil {
		r.t.Fatal(err)
	}
	g := grpc.NewServer(extproc.ServerOptions(spec.BufferLimit())...)
	r.server.Register(g)
	served := make(chan error, 1)
	go func() { served <- g.Serve(l) }()
	r.t.Cleanup(func() {
		g.Stop()
		if err := <-served; err != nil {
			r.t.Error(err)
		}
	})
	return envoytest.Start(r.t, spec).Addresses["snow"]
}

// post sends the create with the body, and reads the answer until ctx ends.
func post(ctx context.Context, address, body string) (status int, err error) {
	q, err := http.NewRequestWithContext(ctx, "POST", "http://"+address+"/api/now/table/incident", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	q.Header.Set(bearer[0], bearer[1])
	q.Header.Set("content-type", "application/json")
	a, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		return 0, err
	}
	defer a.Body.Close()
	_, err = io.Copy(io.Discard, a.Body)
	return a.StatusCode, err
}

// A real Envoy's access log, for what the stream alone cannot tell.
func TestARealEnvoysAccessLogHasTheLastWord(t *testing.T) {
	backend, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	got := make(chan net.Conn, 8)
	go func() {
		for {
			c, err := backend.Accept()
			if err != nil {
				return
			}
			go func() {
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					got <- c
				}
			}()
		}
	}()
	closed := nobody()
	for name, c := range map[string]struct {
		backend string
		do      func(t *testing.T, r *rig, address string)
		state   dedup.State
	}{
		"the client goes while nothing can be sent": {closed, func(t *testing.T, r *rig, address string) {
			goes(t, address, func() { r.eventually(createBody, dedup.Claimed) })
		}, dedup.None},
		"the client goes while the backend works": {backend.Addr().String(), func(t *testing.T, _ *rig, address string) {
			goes(t, address, func() { (<-got).Close() })
		}, dedup.Doubtful},
		"the backend dies in its answer": {backend.Addr().String(), func(t *testing.T, _ *rig, address string) {
			go func() {
				conn := <-got
				_, _ = io.WriteString(conn, "HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{")
				conn.Close()
			}()
			if status, err := post(t.Context(), address, createBody); err == nil && status < 500 {
				t.Errorf("the client gets %d", status)
			}
		}, dedup.Doubtful},
		"no try was ever sent": {closed, func(t *testing.T, _ *rig, address string) {
			if status, err := post(t.Context(), address, createBody); err != nil || status != 503 {
				t.Errorf("the client gets %d, %v", status, err)
			}
		}, dedup.None},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, patient)
			address := r.behindEnvoy(c.backend)
			c.do(t, r, address)
			r.eventually(createBody, c.state)
			poll(t, "the access log is not read", func() bool { return r.server.AccessLogs() > 0 && r.server.Followed() == 0 })
			if rec := r.record(createBody); rec.State != c.state {
				t.Errorf("in the end the record is %s, want %s", rec.State, c.state)
			}
		})
	}
}

// goes sends a create whose client goes when it is ready to.
func goes(t *testing.T, address string, ready func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if status, err := post(ctx, address, createBody); err == nil {
			t.Errorf("the client gets %d", status)
		}
	}()
	ready()
	cancel()
	<-ended
}
