package dedup

import (
	"slices"
	"time"
)

// Shifted is the record in the clock of another store, which is d ahead of its
// own.
func (r Record) Shifted(d time.Duration) Record {
	if d == 0 {
		return r
	}
	next := r.clone()
	move := func(times ...*time.Time) {
		for _, t := range times {
			if !t.IsZero() {
				*t = t.Add(d)
			}
		}
	}
	move(&next.LeaseUntil, &next.ClaimedAt, &next.SentAt, &next.AnsweredAt, &next.OpenedAt, &next.ClosedAt, &next.VerifiedAt,
		&next.SeenAt, &next.LandsUntil, &next.ExpiresAt, &next.KeepUntil, &next.FreeAt)
	for i := range next.Attempts {
		move(&next.Attempts[i].SentAt, &next.Attempts[i].EndedAt)
	}
	next.UpdatedAt = slices.Clone(next.UpdatedAt)
	for i := range next.UpdatedAt {
		move(&next.UpdatedAt[i])
	}
	for i := range next.Credentials {
		move(&next.Credentials[i].At)
	}
	if next.Update != nil {
		move(&next.Update.LeaseUntil)
	}
	if next.Prior != nil {
		prior := next.Prior.Shifted(d)
		next.Prior = &prior
	}
	return next
}
