package extproc

import (
	"hash/maphash"
	"sync/atomic"
	"time"

	"oneticket/dedup"
)

// sightings remember when this replica has last seen each fault, so that the
// gap to the next time is known exactly: a record is not written at every
// re-fire. It is a table of fixed size without a lock. A fault that meets
// another one in its place is forgotten, which costs one gap and nothing else.
type sightings struct {
	seed  maphash.Seed
	start time.Time
	slots [sightingSlots]atomic.Uint64 // sightingBits of time, in ms since start, below as many of the hash as there are left; 0 is none
}

const (
	sightingSlots = 1 << 15
	sightingBits  = 40 // 34 years
)

func newSightings(start time.Time) *sightings {
	return &sightings{seed: maphash.MakeSeed(), start: start.Add(-time.Millisecond)}
}

// see notes that the fault is seen now, and returns how long ago it was seen
// before; false where that is not known.
func (s *sightings) see(ref dedup.Ref, now time.Time) (time.Duration, bool) {
	const times = 1<<sightingBits - 1
	sum := maphash.Comparable(s.seed, ref)
	at := uint64(max(1, now.Sub(s.start).Milliseconds())) & times
	was := s.slots[sum%sightingSlots].Swap(sum&^times | at)
	if was == 0 || was&^times != sum&^times {
		return 0, false
	}
	return time.Duration(max(0, int64(at)-int64(was&times))) * time.Millisecond, true
}
