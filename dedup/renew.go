package dedup

import (
	"context"
	"time"
)

// keepAlive renews the lease at every third of it until it is stopped. A
// renewal that comes after the settle finds another holder, or none.
func (h *Hold) keepAlive() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	h.engine.aside(func() {
		tick := time.NewTicker(h.claim.Policy.Lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-h.engine.closing: // what holds on now is doubtful when its lease is over
				return
			case <-tick.C:
				_, _ = h.engine.store.Renew(ctx, h.claim.Fault.Ref, h.send.Holder, h.claim.Policy.Lease)
			}
		}
	})
	return cancel
}
