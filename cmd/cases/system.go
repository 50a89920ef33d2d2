package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Kind is what a request is to a ticket system.
type kind string

const (
	create  kind = "create"
	update  kind = "update"
	resolve kind = "resolve"
	reopen  kind = "reopen"
	lookUp  kind = "lookup" // a GET
	other   kind = "other"  // sent to the ticket system, but to no ticket of the profile
)

// A system is one kind of ticket system: how its API looks. State is the
// desk's, which calls with its lock held.
type system interface {
	// id is how ticket n is named in answers.
	id(n int) string
	// ids reads the tickets that an answer names, in order.
	ids(a *answer) []string
	// route says what a request is.
	route(d *desk, r *request) kind
	// elements are the tickets that a create asks for.
	elements(r *request) []element
	// created is the default answer to a create.
	created(d *desk, r *request, made []*ticket) *answer
	// change applies an update, a resolution or a reopening.
	change(d *desk, r *request, k kind) *answer
	// read answers everything else.
	read(d *desk, r *request) *answer
}

// A rememberer is a system that knows a create again by itself.
type rememberer interface {
	remembered(d *desk, r *request) *answer
}

// An element is one ticket that a create asks for.
type element struct {
	native []string // what stands in the field that can be looked up
	ref    string   // how later requests name the fault, where they do not name the ticket
}

// A request is one request at the backend.
type request struct {
	method, target, path string // the path is decoded and has no slash at its end
	query                url.Values
	header               http.Header
	body                 []byte
	json                 any // nil when the body is not JSON
}

func newRequest(r *http.Request, body []byte) *request {
	out := &request{
		method: r.Method, target: r.URL.RequestURI(), query: r.URL.Query(), header: r.Header, body: body,
		path: strings.TrimRight(r.URL.Path, "/"),
	}
	out.header.Set("Host", r.Host)
	out.json = readJSON(plain(body, r.Header.Get("Content-Encoding")))
	return out
}

// plain undoes gzip; anything else is left alone.
func plain(body []byte, coding string) []byte {
	if coding != "gzip" {
		return body
	}
	zr, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return body
	}
	text, err := io.ReadAll(zr)
	if err != nil {
		return body
	}
	return text
}

func readJSON(body []byte) any {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// member walks into JSON; a number picks from an array.
func member(v any, names ...string) any {
	for _, n := range names {
		switch t := v.(type) {
		case map[string]any:
			v = t[n]
		case []any:
			i, err := strconv.Atoi(n)
			if err != nil || i < 0 || i >= len(t) {
				return nil
			}
			v = t[i]
		default:
			return nil
		}
	}
	return v
}

// textAt is member as text; "" when there is none.
func textAt(v any, names ...string) string {
	switch t := member(v, names...).(type) {
	case string:
		return t
	case json.Number:
		return t.String()
	case bool:
		return strconv.FormatBool(t)
	default:
		return ""
	}
}

func listAt(v any, names ...string) []any {
	l, _ := member(v, names...).([]any)
	return l
}

// answerJSON is an answer with a JSON body. Header values come in pairs.
func answerJSON(status int, v any, header ...string) *answer {
	body, err := json.Marshal(v)
	if err != nil {
		return answerText(http.StatusInternalServerError, err.Error())
	}
	return newAnswer(status, "application/json", body, header...)
}

func answerText(status int, text string, header ...string) *answer {
	return newAnswer(status, "text/plain; charset=utf-8", []byte(text), header...)
}

func newAnswer(status int, contentType string, body []byte, header ...string) *answer {
	a := &answer{Status: status, Line: fmt.Sprintf("HTTP/1.1 %d %s", status, http.StatusText(status)), Body: body}
	a.Header = append(a.Header, headerLine{"Content-Type", contentType})
	for i := 0; i+1 < len(header); i += 2 {
		a.Header = append(a.Header, headerLine{header[i], header[i+1]})
	}
	return a
}

// object is a JSON object.
type object = map[string]any

// pathTail returns what follows prefix in path, when that is one segment.
func pathTail(path, prefix string) (string, bool) {
	tail, ok := strings.CutPrefix(path, prefix)
	return tail, ok && tail != "" && !strings.Contains(tail, "/")
}

// nonEmpty drops empty strings.
func nonEmpty(values ...string) []string {
	var out []string
	for _, v := range values {
		if v != "" {
			out = append(out, v)
		}
	}
	return out
}
