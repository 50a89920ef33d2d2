package failover

import (
	"sync"
	"time"

	"oneticket/dedup"
)

// flights are the claims of this process to create that the shared store holds.
// When that goes away they are known here still: a re-fire waits for them, and
// does not open a second ticket.
type flights struct {
	mu     sync.Mutex
	claims map[dedup.Ref]dedup.Record
	copies map[dedup.Ref]string // the holders of those that the embedded store has a copy of
}

// mostFlights bounds them, beyond any number of requests under way.
const mostFlights = 1 << 14

// saw is told of each record that was claimed or written in the shared store.
func (f *flights) saw(ref dedup.Ref, rec dedup.Record, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if rec.State != dedup.Claimed || rec.Looking {
		delete(f.claims, ref)
		return
	}
	if f.claims == nil {
		f.claims, f.copies = map[dedup.Ref]dedup.Record{}, map[dedup.Ref]string{}
	}
	if len(f.claims) >= mostFlights {
		for other, claim := range f.claims {
			if !now.Before(claim.LeaseUntil) {
				delete(f.claims, other)
			}
		}
	}
	if len(f.claims) < mostFlights {
		f.claims[ref] = rec
	}
}

// landed is told that a claim has its outcome.
func (f *flights) landed(ref dedup.Ref, holder string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.claims[ref].Holder == holder {
		delete(f.claims, ref)
	}
}

// renewed moves the end of a lease.
func (f *flights) renewed(ref dedup.Ref, holder string, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if rec, ok := f.claims[ref]; ok && rec.Holder == holder {
		rec.LeaseUntil = until
		f.claims[ref] = rec
	}
}

// copied is the claim of the key that is under way, to be copied.
func (f *flights) copied(ref dedup.Ref, now time.Time) (dedup.Record, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rec, ok := f.claims[ref]
	if !ok || !now.Before(rec.LeaseUntil) {
		return dedup.Record{}, false
	}
	f.copies[ref] = rec.Holder
	return rec, true
}

// isCopy reports whether the claim is a copy: of it, the shared record tells.
func (f *flights) isCopy(ref dedup.Ref, rec dedup.Record) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return rec.State == dedup.Claimed && rec.Holder != "" && f.copies[ref] == rec.Holder
}

// dropped is told that the copy has gone.
func (f *flights) dropped(ref dedup.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.copies, ref)
}
