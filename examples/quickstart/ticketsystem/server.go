package main

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxBody is the largest create or update that is taken, in bytes.
const maxBody = 4 << 20

// A server is the HTTP face of a table.
type server struct {
	table          *table
	user, password string
	counts         counts
	faults         faults
	mux            *http.ServeMux
}

func newServer(t *table, user, password string) *server {
	s := &server{table: t, user: user, password: password, mux: http.NewServeMux()}
	for _, base := range []string{"/api/now/table/incident", "/api/now/{version}/table/incident"} {
		s.mux.HandleFunc("POST "+base, s.guarded(s.create))
		s.mux.HandleFunc("GET "+base, s.guarded(s.list))
		s.mux.HandleFunc("GET "+base+"/{id}", s.guarded(s.read))
		s.mux.HandleFunc("PATCH "+base+"/{id}", s.guarded(s.update))
		s.mux.HandleFunc("PUT "+base+"/{id}", s.guarded(s.update))
	}
	s.mux.HandleFunc("GET /stats", s.stats)
	s.mux.HandleFunc("POST /faults", s.setFaults)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// guarded counts the request and lets only the one user through.
func (s *server) guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.counts.requests.Add(1)
		if v := r.PathValue("version"); v != "" && !isVersion(v) {
			s.refuse(w, http.StatusBadRequest, "Requested URI does not represent any resource")
			return
		}
		user, password, _ := r.BasicAuth()
		if !same(user, s.user) || !same(password, s.password) {
			w.Header().Set("WWW-Authenticate", `Basic realm="Service-now"`)
			s.refuse(w, http.StatusUnauthorized, "User Not Authenticated")
			return
		}
		next(w, r)
	}
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func isVersion(text string) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(text, "v"))
	return err == nil && n > 0 && text[0] == 'v'
}

func (s *server) create(w http.ResponseWriter, r *http.Request) {
	fields, err := readFields(w, r)
	if err != nil {
		s.refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	s.faults.hold(r.Context())
	row := s.table.insert(fields, s.user, time.Now())
	s.counts.creates.Add(1)
	if row["correlation_id"] != "" || r.Header.Get("Idempotency-Key") != "" {
		s.counts.keyed.Add(1)
	}
	if s.faults.loses() {
		s.drop(w)
		return
	}
	w.Header().Set("Location", fmt.Sprintf("http://%s/api/now/table/incident/%s", r.Host, row["sys_id"]))
	answer(w, http.StatusCreated, project(row, r.URL.Query()))
}

// drop closes the connection without an answer: the client cannot know that
// its ticket was made.
func (s *server) drop(w http.ResponseWriter) {
	s.counts.lost.Add(1)
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the server's own way to cut an answer
	}
	conn.Close()
}

func (s *server) list(w http.ResponseWriter, r *http.Request) {
	s.counts.reads.Add(1)
	params := r.URL.Query()
	rows := s.table.find(parseQuery(params))
	for i := range rows {
		rows[i] = project(rows[i], params)
	}
	answer(w, http.StatusOK, rows)
}

func (s *server) read(w http.ResponseWriter, r *http.Request) {
	s.counts.reads.Add(1)
	row, ok := s.table.get(r.PathValue("id"))
	if !ok {
		s.refuse(w, http.StatusNotFound, "No Record found")
		return
	}
	answer(w, http.StatusOK, project(row, r.URL.Query()))
}

func (s *server) update(w http.ResponseWriter, r *http.Request) {
	fields, err := readFields(w, r)
	if err != nil {
		s.refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	row, ok := s.table.update(r.PathValue("id"), fields, time.Now())
	if !ok {
		s.refuse(w, http.StatusNotFound, "No Record found")
		return
	}
	s.counts.updates.Add(1)
	answer(w, http.StatusOK, project(row, r.URL.Query()))
}

func (s *server) stats(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.counts.stats())
}

// setFaults takes `delay` (of each create) and `lose` (so many answers), as
// query parameters; what is not named stays.
func (s *server) setFaults(w http.ResponseWriter, r *http.Request) {
	params := r.URL.Query()
	delay, delayErr := time.ParseDuration(params.Get("delay"))
	lose, loseErr := strconv.ParseInt(params.Get("lose"), 10, 64)
	if params.Has("delay") && delayErr != nil || params.Has("lose") && loseErr != nil {
		http.Error(w, "want ?delay=300ms or ?lose=1", http.StatusBadRequest)
		return
	}
	if params.Has("delay") {
		s.faults.setDelay(delay)
	}
	if params.Has("lose") {
		s.faults.setLose(lose)
	}
	w.WriteHeader(http.StatusNoContent)
}

// readFields reads a flat JSON object; every scalar is kept as text.
func readFields(w http.ResponseWriter, r *http.Request) (map[string]string, error) {
	var body map[string]any
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.UseNumber()
	if err := d.Decode(&body); err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	fields := make(map[string]string, len(body))
	for name, value := range body {
		if value == nil {
			fields[name] = ""
			continue
		}
		fields[name] = fmt.Sprint(value)
	}
	return fields, nil
}

func answer(w http.ResponseWriter, status int, result any) {
	writeJSON(w, status, map[string]any{"result": result})
}

func (s *server) refuse(w http.ResponseWriter, status int, message string) {
	s.counts.refused.Add(1)
	writeJSON(w, status, map[string]any{
		"error":  map[string]string{"message": message, "detail": ""},
		"status": "failure",
	})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.WriteHeader(status)
	// The client may have gone; that is its loss, and the ticket stands.
	_ = json.NewEncoder(w).Encode(v)
}
