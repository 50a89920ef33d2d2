package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Readiness says whether requests are served as they should be.
type Readiness struct {
	Ready    bool     `json:"ready"`
	Degraded []string `json:"degraded,omitempty"` // what is served in a lesser way, and why; degraded is not dead
	Waiting  []string `json:"waiting_for,omitempty"`
}

// Server answers on the admin address: /metrics, /live, /ready, /v1/close,
// /v1/reload, /v1/deadletters, /v1/reconciled/merge.
type Server struct {
	http     *http.Server
	listener net.Listener
}

// Listen takes the address ("127.0.0.1:9911"; port 0 is any free one).
// readiness is asked at each request to /ready; reload is what POST /v1/reload
// does, its error why nothing changed; letters answers for the dead letters, and
// closes to /v1/close.
func Listen(address string, m *Metrics, readiness func() Readiness, reload func(context.Context) error, letters, closes, doubles http.Handler) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("admin address %q: %w (set admin = \"127.0.0.1:PORT\" to another port)", address, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.Registry(), promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /live", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "live") })
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) { writeReadiness(w, readiness()) })
	mux.HandleFunc("POST /v1/reload", func(w http.ResponseWriter, r *http.Request) {
		if err := reload(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		fmt.Fprintln(w, "reloaded")
	})
	mux.Handle("/v1/close", closes)
	mux.Handle("/v1/close/{backend}", closes)
	mux.Handle("/v1/close/{backend}/{ticket...}", closes)
	mux.Handle("POST /v1/reconciled/merge", doubles)
	mux.Handle("/v1/deadletters", letters)
	mux.Handle("/v1/deadletters/", letters)
	return &Server{
		http:     &http.Server{Handler: guarded(mux), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute},
		listener: listener,
	}, nil
}

func writeReadiness(w http.ResponseWriter, r Readiness) {
	w.Header().Set("Content-Type", "application/json")
	if !r.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(r) // the caller has gone: nobody is left to tell
}

// Address is where the server listens.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Serve answers until Shutdown; it returns nil after that.
func (s *Server) Serve() error {
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown ends the server, waiting for running requests until ctx ends.
func (s *Server) Shutdown(ctx context.Context) error { return s.http.Shutdown(ctx) }
