package extproc

import (
	"sync"
	"sync/atomic"

	"oneticket/dedup"
)

// flights let only one request at a time, of one credential and for one record,
// find out whether its sender may see the ticket; the others wait for it and
// are decided again. Else a storm of such senders would be a storm of creates.
type flights struct {
	landed atomic.Int64 // so many have ended: what was decided before may not know what they found

	mu sync.Mutex
	of map[flightKey]*flight
}

type flightKey struct {
	ref dedup.Ref
	who string // the whole credential, see bearer.local
}

// A flight is one such finding out.
type flight struct {
	key     flightKey
	caller  string // see callerKey: of the request that is at it
	done    chan struct{}
	refusal *dedup.Response // what it was refused with; set before done is closed
}

// board returns the flight that is under way; leads is true for the one who
// has to land it.
func (f *flights) board(key flightKey, caller string) (_ *flight, leads bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if under := f.of[key]; under != nil {
		return under, false
	}
	if f.of == nil {
		f.of = map[flightKey]*flight{}
	}
	made := &flight{key: key, caller: caller, done: make(chan struct{})}
	f.of[key] = made
	return made, true
}

func (f *flights) land(one *flight, refusal *dedup.Response) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.of, one.key)
	f.landed.Add(1)
	one.refusal = refusal
	close(one.done)
}

// land ends the flight of this exchange, if it leads one.
func (x *exchange) land(refusal *dedup.Response) {
	if x.flight != nil {
		x.server.flights.land(x.flight, refusal)
		x.flight = nil
	}
}
