package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
)

// A desk is a ticket system that answers at once.
type desk struct {
	*httptest.Server
	tickets atomic.Int64
}

func newDesk() *desk {
	d := &desk{}
	d.Server = httptest.NewServer(http.HandlerFunc(d.serve))
	return d
}

// padding makes an answer as long as those of a real incident.
var padding = strings.Repeat("x", 1200)

func (d *desk) serve(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodPost {
		fmt.Fprintf(w, `{"result":{"sys_id":"1","name":"ne-1","text":%q}}`, padding)
		return
	}
	n := d.tickets.Add(1)
	w.Header().Set("Location", fmt.Sprintf("%s/api/now/table/incident/%032x", d.URL, n))
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"result":{"sys_id":"%032x","number":"INC%07d","state":"1","text":%q}}`, n, n, padding)
}
