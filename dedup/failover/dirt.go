package failover

import (
	"sync"
	"sync/atomic"
)

// dirt tells whether the embedded store may have something to reconcile. It is
// never less than the truth: what is written while somebody looks counts.
type dirt struct {
	dirty atomic.Bool

	mu      sync.Mutex
	writing int
	writes  int64
}

func (d *dirt) is() bool { return d.dirty.Load() }

// begin is called before a write, and what it returns after it.
func (d *dirt) begin() (end func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writing++
	d.writes++
	d.dirty.Store(true)
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.writing--
	}
}

// look is called before somebody looks at all there is; what it returns, when
// nothing was left of it.
func (d *dirt) look() (clean func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := d.writes
	if d.writing > 0 {
		seen = -1
	}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.writes == seen {
			d.dirty.Store(false)
		}
	}
}
