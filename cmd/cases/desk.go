package main

import (
	"slices"
	"sync"
	"time"
)

// A desk is the real state of a ticket system.
type desk struct {
	mu      sync.Mutex
	tickets []*ticket
	now     func() time.Time

	creates, updates, resolves, reopens int
	longest                             int // of the native fields seen

	answered map[string]remembered // of a system that knows a create again
}

// A ticket is one ticket of a desk.
type ticket struct {
	n       int
	id      string
	native  []string
	ref     string
	state   string
	open    bool
	byHand  bool // its native field is that of the first request that has one
	created time.Time
}

type remembered struct {
	body   string
	answer *answer
}

// make adds a ticket. The caller holds the lock.
func (d *desk) make(sys system, e element) *ticket {
	n := len(d.tickets) + 1
	t := &ticket{n: n, id: sys.id(n), native: e.native, ref: e.ref, state: "1", open: true, created: d.now()}
	d.tickets = append(d.tickets, t)
	return t
}

// see notes the native field of a request, and gives it to a ticket that was
// made by hand for "this key".
func (d *desk) see(native []string) {
	for _, v := range native {
		d.longest = max(d.longest, len([]rune(v)))
	}
	if len(native) == 0 {
		return
	}
	for _, t := range d.tickets {
		if t.byHand && len(t.native) == 0 {
			t.native = native
		}
	}
}

// find returns the ticket with that id, or nil.
func (d *desk) find(id string) *ticket {
	for _, t := range d.tickets {
		if t.id == id {
			return t
		}
	}
	return nil
}

// holding returns the tickets whose native field has the value.
func (d *desk) holding(native string) []*ticket {
	var out []*ticket
	for _, t := range d.tickets {
		if slices.Contains(t.native, native) {
			out = append(out, t)
		}
	}
	return out
}

// openFor returns the newest open ticket of a fault, or nil.
func (d *desk) openFor(ref string) *ticket {
	for _, t := range slices.Backward(d.tickets) {
		if t.open && t.ref == ref {
			return t
		}
	}
	return nil
}

// set moves a ticket and counts what that was.
func (d *desk) set(t *ticket, k kind, state string) {
	switch k {
	case resolve:
		d.resolves++
		t.open = false
	case reopen:
		d.reopens++
		t.open = true
	default:
		d.updates++
	}
	if state != "" {
		t.state = state
	}
}
