package admin

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A StoreDown is a store whose last call was not answered, or that is in a
// trouble which outlasts calls.
type StoreDown struct {
	Store   string    // its kind
	Since   time.Time // of the first such call in a row
	Trouble string    // what is wrong with it and what to do; empty: no more is known than that it does not answer
}

// stores remember since when each does not answer. On the path of a request
// they take no lock: a map is read, and a number is read or written.
type stores struct {
	down     sync.Map // kind -> *atomic.Int64, nanoseconds since 1970; 0 = it answers
	troubles sync.Map // kind -> string
}

func (s *stores) troubled(store string) bool {
	_, is := s.troubles.Load(store)
	return is
}

func (s *stores) called(store string, up bool) {
	since, ok := s.down.Load(store)
	if !ok {
		since, _ = s.down.LoadOrStore(store, &atomic.Int64{})
	}
	switch n := since.(*atomic.Int64); {
	case !up:
		n.CompareAndSwap(0, time.Now().UnixNano())
	case n.Load() != 0:
		n.Store(0)
	}
}

// StoresDown are the stores that do not answer, by kind.
func (m *Metrics) StoresDown() []StoreDown {
	var all []StoreDown
	m.stores.down.Range(func(store, since any) bool {
		if n := since.(*atomic.Int64).Load(); n != 0 {
			trouble, _ := m.stores.troubles.Load(store)
			text, _ := trouble.(string)
			all = append(all, StoreDown{store.(string), time.Unix(0, n), text})
		}
		return true
	})
	slices.SortFunc(all, func(a, b StoreDown) int { return cmp.Compare(a.Store, b.Store) })
	return all
}

// StoreTrouble says what is wrong with a store until it is called with an empty
// text; meanwhile the store counts as down, whichever calls it still answers.
func (m *Metrics) StoreTrouble(store, trouble string) {
	if trouble == "" {
		m.stores.troubles.Delete(store)
		return
	}
	m.stores.troubles.Store(store, trouble)
	m.storeUp.of(store).Set(0)
	m.stores.called(store, false)
}
