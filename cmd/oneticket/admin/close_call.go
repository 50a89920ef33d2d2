package admin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A closeCall is one call of /v1/close as it was read. backend and ticket stand
// in the path, in the query, or in the body, which is JSON or a form. A ticket
// system that sends a body of its own says by ticket_at where the ticket stands
// in that, and by when=PLACE:VALUE what has to stand there for the ticket to be
// closed.
type closeCall struct {
	backend, ticket string
	at              string // ticket_at
	when            string
	body            any // nil: none was read
}

// readCloseCall reads a call of anybody: its bounds are those of the server.
func readCloseCall(w http.ResponseWriter, r *http.Request) (call closeCall, refused *problem) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return call, &problem{http.StatusMethodNotAllowed, "A close is sent by POST", fmt.Sprintf("Found %s.", shortened(r.Method)), ""}
	}
	query := r.URL.Query()
	call = closeCall{
		backend: cmp.Or(r.PathValue("backend"), query.Get("backend")),
		ticket:  cmp.Or(r.PathValue("ticket"), query.Get("ticket")),
		at:      query.Get("ticket_at"), when: query.Get("when"),
	}
	if call.backend != "" && call.ticket != "" && call.when == "" {
		return call, nil // the body is whatever the ticket system sends
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(closeRead)) // a writer that has none waits for the server's own end
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, closeBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return call, &problem{http.StatusRequestEntityTooLarge, "The body is too large", fmt.Sprintf("Allowed are %d bytes. Name backend and ticket in the URL, and no body is read.", closeBody), ""}
	case err != nil:
		return call, &problem{http.StatusBadRequest, "The body could not be read", "It broke off.", ""}
	case call.readBody(raw, r.Header.Get("Content-Type")) != nil:
		return call, &problem{http.StatusBadRequest, "The body cannot be read", `It is JSON, as in {"backend":"jira","ticket":"OPS-7"}, or a form, as in backend=jira&ticket=OPS-7.`, ""}
	}
	call.backend = cmp.Or(call.backend, textAt(call.body, "backend"))
	return call, nil
}

// readBody reads JSON, whatever the type says, or a form.
func (c *closeCall) readBody(raw []byte, contentType string) error {
	raw = bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\ufeff")))
	media, _, _ := mime.ParseMediaType(contentType)
	switch {
	case len(raw) == 0:
		return nil
	case raw[0] != '{' && raw[0] != '[' && media != "application/json":
		form, err := url.ParseQuery(string(raw))
		if err != nil {
			return err
		}
		fields := map[string]any{}
		for name := range form {
			fields[name] = form.Get(name)
		}
		c.body = fields
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // an id keeps every digit
	if err := decoder.Decode(&c.body); err != nil {
		return err
	}
	if decoder.More() {
		return errors.New("more than one value")
	}
	return nil
}

// longestTicket is more than any ticket's name.
const longestTicket = 1024

// subject is the ticket that the call says is closed; about is false where it
// is about something else.
func (c *closeCall) subject() (ticket string, about bool, err error) {
	if c.when != "" {
		place, value, _ := strings.Cut(c.when, ":")
		if textAt(c.body, place) != value {
			return "", false, nil
		}
	}
	place := cmp.Or(c.at, "ticket")
	ticket = strings.TrimSpace(cmp.Or(c.ticket, textAt(c.body, place)))
	switch {
	case ticket == "":
		return "", true, fmt.Errorf("the call has no ticket: name it in the path, by ?ticket=, or by the member %s of the body, as its id stands in the answer to its create", shortened(place))
	case len(ticket) > longestTicket:
		return "", true, fmt.Errorf("the name of the ticket has %d bytes, and no ticket has more than %d", len(ticket), longestTicket)
	}
	return ticket, true, nil
}

// textAt is the text, the number or the boolean at a place of a body: names of members, and
// numbers of items from 0, joined by dots; empty when there is none.
func textAt(v any, place string) string {
	for name := range strings.SplitSeq(place, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			n, err := strconv.Atoi(name)
			if err != nil || n < 0 || n >= len(in) {
				return ""
			}
			v = in[n]
		default:
			return ""
		}
	}
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	default:
		return ""
	}
}
