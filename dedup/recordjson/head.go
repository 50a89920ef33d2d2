package recordjson

import (
	"time"

	"oneticket/dedup"
)

// Micros is a time as records keep it; 0 for the zero time.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Time is the inverse of Micros, in UTC.
func Time(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

func headOf(r *dedup.Record) Head {
	h := Head{
		V:          int64(r.V),
		Version:    r.Version,
		Episode:    r.Episode,
		Sends:      r.Sends,
		LeaseUntil: Micros(r.LeaseUntil),
		ClaimedAt:  Micros(r.ClaimedAt),
		SentAt:     Micros(r.SentAt),
		SeenAt:     Micros(r.SeenAt),
		OpenedAt:   Micros(r.OpenedAt),
		ExpiresAt:  Micros(r.ExpiresAt),
		KeepUntil:  Micros(r.KeepUntil),
		FreeAt:     Micros(r.FreeAt),
	}
	if h.V == 0 {
		h.V = dedup.Format
	}
	if r.Sent {
		h.Sent = 1
	}
	if r.Update != nil {
		h.UpdateUntil = Micros(r.Update.LeaseUntil)
	}
	return h
}

func (h *Head) fill(r *dedup.Record) {
	r.V = int(h.V)
	r.Version, r.Episode, r.Sends = h.Version, h.Episode, h.Sends
	r.Sent = h.Sent != 0
	r.LeaseUntil = Time(h.LeaseUntil)
	r.ClaimedAt, r.SentAt, r.SeenAt = Time(h.ClaimedAt), Time(h.SentAt), Time(h.SeenAt)
	r.OpenedAt, r.ExpiresAt = Time(h.OpenedAt), Time(h.ExpiresAt)
	r.KeepUntil, r.FreeAt = Time(h.KeepUntil), Time(h.FreeAt)
	if r.Update != nil {
		r.Update.LeaseUntil = Time(h.UpdateUntil)
	}
}
