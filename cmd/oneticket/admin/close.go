package admin

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"oneticket/dedup"
)

// Closes are what a handler of /v1/close is made of.
type Closes struct {
	Secrets func() map[string]string // of every backend; "" = it takes no closes
	Close   func(ctx context.Context, backend, ticket string) (dedup.Closing, error)
	Metrics *Metrics
	Log     *slog.Logger
}

type closeHandler struct{ Closes }

// NewCloseHandler answers the webhook by which a ticket system, or whoever
// knows, tells that a ticket is closed. What it takes is in closeCall.
func NewCloseHandler(c Closes) http.Handler { return closeHandler{c} }

// The bounds of one call: a webhook may carry the whole ticket.
const (
	closeBody   = 1 << 20
	closeRead   = 10 * time.Second
	closeWithin = 5 * time.Second
	closeRetry  = 5 // seconds
)

func (h closeHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call, refused := readCloseCall(w, r)
	secrets := h.Secrets()
	secret, known := secrets[call.backend]
	switch {
	case refused != nil:
	case call.backend == "":
		refused = &problem{http.StatusUnprocessableEntity, "No backend is named", "Name one by the member backend of the body, or by ?backend=: " + oneOf(secrets) + ".", ""}
	case !known:
		refused = &problem{http.StatusNotFound, "There is no such backend", fmt.Sprintf("Found %q; it is one of %s.", shortened(call.backend), oneOf(secrets)), ""}
	case secret == "":
		refused = &problem{http.StatusForbidden, "This backend takes no closes", fmt.Sprintf("Set close_secret = env(\"...\") in the block backend %q, and present it here.", call.backend), ""}
	case !presents(r, secret):
		w.Header().Set("WWW-Authenticate", `Bearer realm="oneticket"`)
		refused = &problem{http.StatusUnauthorized, "The secret is missing or wrong", "Present the backend's close_secret: Authorization: Bearer SECRET, or X-Oneticket-Secret: SECRET, or as the password of Basic, or ?secret=SECRET.", ""}
	}
	if refused != nil {
		label := ""
		if known {
			label = call.backend
		}
		h.Log.Warn("a close was rejected", "backend", label, "status", refused.Status, "why", refused.Title)
		h.Metrics.Closed(label, "rejected")
		refused.write(w)
		return
	}
	h.take(w, r, call)
}

// take is a call of somebody who may close tickets of the backend.
func (h closeHandler) take(w http.ResponseWriter, r *http.Request, call closeCall) {
	ticket, about, err := call.subject()
	switch {
	case !about:
		h.says(w, call.backend, "", closeAnswer{http.StatusOK, "ignored", "The body is not what when= asks for: nothing was closed."})
		return
	case err != nil:
		h.Metrics.Closed(call.backend, "rejected")
		(&problem{http.StatusUnprocessableEntity, "No ticket is named", sentence(err), ""}).write(w)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), closeWithin)
	defer cancel()
	became, err := h.Close(ctx, call.backend, ticket)
	if err != nil {
		h.Log.Warn("the close of a ticket could not be written yet", "backend", call.backend, "ticket", ticket, "error", err)
		h.Metrics.Closed(call.backend, "failed")
		w.Header().Set("Retry-After", fmt.Sprint(closeRetry))
		(&problem{http.StatusServiceUnavailable, "The store is out of reach", "The close is not written yet. It is tried again for ten minutes, or until this process ends: to be sure, send it again.", ticket}).write(w)
		return
	}
	h.says(w, call.backend, ticket, closeAnswers[became])
}

// A closeAnswer is what is said of a close that was taken.
type closeAnswer struct {
	status         int
	result, detail string
}

var closeAnswers = map[dedup.Closing]closeAnswer{
	dedup.CloseWritten: {http.StatusOK, string(dedup.CloseWritten), "The fault's record is closed: its next request opens a new ticket."},
	dedup.CloseOld:     {http.StatusOK, string(dedup.CloseOld), "The record that held the ticket is closed already, or has gone on to another ticket."},
	dedup.CloseKept:    {http.StatusAccepted, string(dedup.CloseKept), "No record has this ticket. The close is kept, for the case that its create is still under way."},
}

func (h closeHandler) says(w http.ResponseWriter, backend, ticket string, a closeAnswer) {
	h.Log.Info("close", "backend", backend, "ticket", ticket, "result", a.result)
	h.Metrics.Closed(backend, a.result)
	writeJSON(w, a.status, "application/json", struct {
		Result  string `json:"result"`
		Backend string `json:"backend"`
		Ticket  string `json:"ticket,omitempty"`
		Detail  string `json:"detail"`
	}{a.result, backend, ticket, a.detail})
}

// presents reports whether the call has the secret. The comparison takes as
// long for a wrong one as for the right one, of whatever length.
func presents(r *http.Request, secret string) bool {
	want := sha256.Sum256([]byte(secret))
	given := []string{r.Header.Get("X-Oneticket-Secret"), r.URL.Query().Get("secret")}
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		given = append(given, strings.TrimSpace(token))
	}
	if _, password, ok := r.BasicAuth(); ok {
		given = append(given, password)
	}
	right := 0
	for _, g := range given {
		got := sha256.Sum256([]byte(g))
		right |= subtle.ConstantTimeCompare(got[:], want[:])
	}
	return right == 1
}

func oneOf(backends map[string]string) string {
	return strings.Join(slices.Sorted(maps.Keys(backends)), ", ")
}
