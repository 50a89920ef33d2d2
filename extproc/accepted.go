package extproc

import (
	"container/list"
	"sync"
	"time"
)

// accepted remembers when something was seen of late, and how: which credentials
// a backend has accepted or refused. It keeps the latest mostAccepted of them.
type accepted struct {
	mu    sync.Mutex
	byKey map[string]*list.Element
	order list.List // of acceptance, the latest in front
}

const mostAccepted = 16384

type acceptance struct {
	credential string
	at         time.Time
	refused    bool
}

func (a *accepted) note(credential string, at time.Time, refused bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byKey == nil {
		a.byKey = map[string]*list.Element{}
	}
	latest := acceptance{credential, at, refused}
	if e := a.byKey[credential]; e != nil {
		e.Value = latest
		a.order.MoveToFront(e)
		return
	}
	a.byKey[credential] = a.order.PushFront(latest)
	if a.order.Len() > mostAccepted {
		oldest := a.order.Back()
		delete(a.byKey, oldest.Value.(acceptance).credential)
		a.order.Remove(oldest)
	}
}

// of is zero for a credential that was never seen.
func (a *accepted) of(credential string) (at time.Time, refused bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.byKey[credential]
	if e == nil {
		return time.Time{}, false
	}
	seen := e.Value.(acceptance)
	return seen.at, seen.refused
}
