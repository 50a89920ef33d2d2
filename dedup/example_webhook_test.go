package dedup_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"oneticket/dedup"
)

// A receiver takes webhooks of a sender who repeats each until somebody answers
// it with 2xx, and some of them after that.
type receiver struct {
	once *dedup.Once
	take func(event string) error
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	key, ok := dedup.WebhookKey(req.Header.Get("X-Event-Type"), req.Header.Get("X-Event-Id"))
	if !ok { // a sender who gives no id
		key = dedup.RequestKey(dedup.RequestParts{Method: req.Method, Path: req.URL.Path, Body: body}, dedup.RequestKeyOptions{})
	}
	_, replayed, err := r.once.Do(req.Context(), key, func(context.Context) ([]byte, error) {
		return nil, r.take(string(body))
	})
	switch {
	case errors.Is(err, dedup.ErrRunning), errors.Is(err, dedup.ErrInDoubt):
		w.Header().Set("Retry-After", "5")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case err != nil: // the sender comes again, and then it is taken anew
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case replayed:
		fmt.Fprint(w, "taken already")
	default:
		fmt.Fprint(w, "taken")
	}
}

// webhookReceiver is the story; the tests tell it over every store.
func webhookReceiver(out io.Writer, store dedup.Store) {
	down := false
	take := func(event string) error {
		if down {
			return errors.New("the database is down")
		}
		fmt.Fprintf(out, "  took %s\n", event)
		return nil
	}
	once := dedup.NewOnce(dedup.OnceOptions{Store: store, Name: "webhooks"})
	defer once.Close()
	hook := &receiver{once: once, take: take}

	deliver := func(id, event string) {
		req := httptest.NewRequest(http.MethodPost, "/hook", strings.NewReader(event))
		req.Header.Set("X-Event-Type", "order.paid")
		req.Header.Set("X-Event-Id", id)
		answer := httptest.NewRecorder()
		hook.ServeHTTP(answer, req)
		fmt.Fprintf(out, "%d %s\n", answer.Code, strings.TrimSpace(answer.Body.String()))
	}
	deliver("evt-1", `{"order":1}`)
	deliver("evt-1", `{"order":1}`)

	down = true
	deliver("evt-2", `{"order":2}`)
	down = false
	deliver("evt-2", `{"order":2}`)

	deliver("", `{"order":3}`)
	deliver("", `{"order":3}`)
}

// A webhook receiver: the sender's id is the key, and what could not be taken
// may come again.
func Example_webhookReceiver() {
	store := embedded()
	defer store.Close()
	webhookReceiver(os.Stdout, store)
	// Output:
	//   took {"order":1}
	// 200 taken
	// 200 taken already
	// 500 the database is down
	//   took {"order":2}
	// 200 taken
	//   took {"order":3}
	// 200 taken
	// 200 taken already
}
