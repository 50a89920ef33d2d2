package extproc

import (
	"slices"
	"sync"
	"time"
)

// A followed is an exchange whose entry in the access log would say something
// new.
type followed struct {
	id        string        // in the metadata of our answers, and so in the entry
	requestID string        // where the proxy keeps no metadata; empty when there is none
	started   string        // when the proxy began with the request, in its own words; tells two of one request id apart
	came      chan struct{} // closed when the entry has come

	// Guarded by the book.
	word    word
	correct func() // of one that was settled before its entry came
	until   time.Time
}

// A followedBook finds the exchange of an entry. What it holds is bounded by
// the exchanges that run, and by lateMost of those that have ended.
type followedBook struct {
	mu        sync.Mutex
	byID      map[string]*followed
	byRequest map[string][]*followed
	late      []*followed // in the order of until
}

const (
	// lateFor is how long an entry may come after its exchange.
	lateFor  = 2 * time.Minute
	lateMost = 8192
)

func (b *followedBook) follow(id, requestID, started string) *followed {
	f := &followed{id: id, requestID: requestID, started: started, came: make(chan struct{})}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byID == nil {
		b.byID, b.byRequest = map[string]*followed{}, map[string][]*followed{}
	}
	b.byID[f.id] = f
	if requestID != "" {
		b.byRequest[requestID] = append(b.byRequest[requestID], f)
	}
	return f
}

func (b *followedBook) forget(f *followed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(f)
}

// drop must be called with the book locked.
func (b *followedBook) drop(f *followed) {
	if b.byID[f.id] == f {
		delete(b.byID, f.id)
	}
	if f.requestID == "" {
		return
	}
	others := slices.DeleteFunc(b.byRequest[f.requestID], func(o *followed) bool { return o == f })
	if len(others) == 0 {
		delete(b.byRequest, f.requestID)
		return
	}
	b.byRequest[f.requestID] = others
}

// wordOf is what the entry has said so far.
func (b *followedBook) wordOf(f *followed) word {
	b.mu.Lock()
	defer b.mu.Unlock()
	return f.word
}

// later keeps the exchange for an entry that comes late. It reports whether
// that has come already, and correct is to be called now.
func (b *followedBook) later(f *followed, correct func(), now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire(now)
	if f.word != unsaid {
		b.drop(f)
		return f.word == neverSent
	}
	f.correct, f.until = correct, now.Add(lateFor)
	b.late = append(b.late, f)
	return false
}

// expire must be called with the book locked.
func (b *followedBook) expire(now time.Time) {
	n := max(0, len(b.late)-lateMost+1)
	for n < len(b.late) && !now.Before(b.late[n].until) {
		n++
	}
	for _, f := range b.late[:n] {
		b.drop(f)
	}
	clear(b.late[:n]) // what they hold of a record is let go
	b.late = b.late[n:]
}

// take hands an entry to its exchange, and returns what is to be done if that
// has ended already.
func (b *followedBook) take(e entry, w word, now time.Time) func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire(now)
	f := b.find(e)
	if f == nil || f.word != unsaid {
		return nil
	}
	f.word = w
	close(f.came)
	if f.correct == nil {
		return nil // it will ask
	}
	b.drop(f)
	if w == neverSent {
		return f.correct
	}
	return nil
}

// find prefers the id that we gave. A client may use one request id for many
// requests: what the start of the request does not tell apart is nobody's.
func (b *followedBook) find(e entry) *followed {
	if e.exchange != "" {
		return b.byID[e.exchange]
	}
	if e.requestID == "" {
		return nil
	}
	var found *followed
	for _, f := range b.byRequest[e.requestID] {
		if !e.startedAt(f.started) {
			continue
		}
		if found != nil {
			return nil
		}
		found = f
	}
	return found
}
