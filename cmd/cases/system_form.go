package main

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// form is a classic form handler.
type form struct{}

func (form) id(n int) string { return fmt.Sprint(n) }

var formTicket = regexp.MustCompile(`# Ticket (\d+) `)

func (form) ids(a *answer) []string {
	if m := formTicket.FindSubmatch(a.Body); m != nil {
		return []string{string(m[1])}
	}
	return nil
}

func (form) route(_ *desk, r *request) kind {
	switch {
	case r.method == http.MethodGet:
		return lookUp
	case r.method != http.MethodPost || r.path != "/tickets/new":
		return other
	case formValues(r).Get("status") == "resolved":
		return resolve
	}
	return create
}

// formValues reads an urlencoded or multipart body.
func formValues(r *request) url.Values {
	body := plain(r.body, r.header.Get("Content-Encoding"))
	kind, params, err := mime.ParseMediaType(r.header.Get("Content-Type"))
	if err == nil && strings.HasPrefix(kind, "multipart/") {
		return multipartValues(body, params["boundary"])
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return url.Values{}
	}
	return values
}

func multipartValues(body []byte, boundary string) url.Values {
	values := url.Values{}
	mr := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := mr.NextPart()
		if err != nil {
			return values
		}
		text, err := io.ReadAll(part)
		if err != nil {
			return values
		}
		values.Add(part.FormName(), string(text))
	}
}

func (form) elements(r *request) []element {
	v := formValues(r)
	return []element{{native: nonEmpty(r.header.Get("Idempotency-Key")), ref: refOf(v.Get("host"), v.Get("check"))}}
}

func (form) created(_ *desk, _ *request, made []*ticket) *answer {
	return answerText(http.StatusCreated, fmt.Sprintf("# Ticket %s created.\n", made[0].id))
}

func (form) change(d *desk, r *request, k kind) *answer {
	v := formValues(r)
	t := d.openFor(refOf(v.Get("host"), v.Get("check")))
	if t == nil {
		return answerText(http.StatusNotFound, "# No such ticket.\n")
	}
	d.set(t, k, "")
	return answerText(http.StatusOK, fmt.Sprintf("# Ticket %s updated.\n", t.id))
}

func (form) read(d *desk, r *request) *answer {
	id, _ := pathTail(r.path, "/tickets/")
	t := d.find(id)
	if t == nil {
		return answerText(http.StatusNotFound, "# No such ticket.\n")
	}
	state := "open"
	if !t.open {
		state = "resolved"
	}
	return answerText(http.StatusOK, fmt.Sprintf("# Ticket %s %s.\n", t.id, state))
}
