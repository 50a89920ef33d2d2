package deadletter

import (
	"encoding/json"
	"errors"
	"net/http"
)

// Handler serves the letters of a running process at its admin address:
//
//	GET    /v1/deadletters              all letters without bodies, one JSON object a line
//	GET    /v1/deadletters/{id}         one, with its body
//	DELETE /v1/deadletters/{id}         removes one
//	DELETE /v1/deadletters              removes all that are there now
//	POST   /v1/deadletters/replay       replays all, one Result a line as each is known
//	POST   /v1/deadletters/{id}/replay  replays one
//
// An error is {"error": "..."} with status 404 for a letter that is not there.
// A page of another origin in somebody's browser cannot change anything.
func Handler(b *Box, r *Replayer) http.Handler {
	h := handler{b, r}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/deadletters", h.list)
	mux.HandleFunc("GET /v1/deadletters/{id}", h.show)
	mux.HandleFunc("DELETE /v1/deadletters/{id}", h.remove)
	mux.HandleFunc("DELETE /v1/deadletters", h.removeAll)
	mux.HandleFunc("POST /v1/deadletters/replay", h.replayAll)
	mux.HandleFunc("POST /v1/deadletters/{id}/replay", h.replay)
	return http.NewCrossOriginProtection().Handler(mux)
}

type handler struct {
	box      *Box
	replayer *Replayer
}

type problem struct {
	Error string `json:"error"`
}

// wrote keeps errors of the connection apart from those of the Box: nobody is
// left to tell of the former.
func wrote(w http.ResponseWriter, v any) bool {
	err := json.NewEncoder(w).Encode(v)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	return err == nil
}

func fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if errors.Is(err, ErrNotFound) {
		status = http.StatusNotFound
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	wrote(w, problem{err.Error()})
}

func (h handler) list(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	if err := h.box.List(r.Context(), func(l Letter) bool { return wrote(w, l) }); err != nil {
		wrote(w, problem{err.Error()})
	}
}

func (h handler) show(w http.ResponseWriter, r *http.Request) {
	l, err := h.box.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	wrote(w, l)
}

func (h handler) remove(w http.ResponseWriter, r *http.Request) {
	if err := h.box.Delete(r.Context(), r.PathValue("id")); err != nil {
		fail(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h handler) removeAll(w http.ResponseWriter, r *http.Request) {
	removed, err := h.box.DeleteAll(r.Context())
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	wrote(w, map[string]int{"removed": removed})
}

func (h handler) replay(w http.ResponseWriter, r *http.Request) {
	result, err := h.replayer.Replay(r.Context(), r.PathValue("id"))
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	wrote(w, result)
}

func (h handler) replayAll(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	err := h.replayer.ReplayAll(r.Context(), func(result Result) bool { return wrote(w, result) })
	if err != nil && r.Context().Err() == nil {
		wrote(w, problem{err.Error()})
	}
}
