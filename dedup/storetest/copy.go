package storetest

import (
	"slices"
	"time"

	"oneticket/dedup"
)

// copied is a copy of the record that shares nothing with it, with every time
// mapped.
func copied(r dedup.Record, at func(time.Time) time.Time) dedup.Record {
	for _, t := range []*time.Time{
		&r.LeaseUntil, &r.ClaimedAt, &r.SentAt, &r.AnsweredAt, &r.OpenedAt, &r.ClosedAt, &r.VerifiedAt,
		&r.SeenAt, &r.LandsUntil, &r.ExpiresAt, &r.KeepUntil, &r.FreeAt,
	} {
		*t = at(*t)
	}
	r.Identity = slices.Clone(r.Identity)
	r.Principals = slices.Clone(r.Principals)
	r.Credentials = slices.Clone(r.Credentials)
	for i := range r.Credentials {
		r.Credentials[i].At = at(r.Credentials[i].At)
	}
	r.UpdatedAt = slices.Clone(r.UpdatedAt)
	for i := range r.UpdatedAt {
		r.UpdatedAt[i] = at(r.UpdatedAt[i])
	}
	r.Witness = slices.Clone(r.Witness)
	r.Attempts = slices.Clone(r.Attempts)
	for i := range r.Attempts {
		r.Attempts[i].SentAt, r.Attempts[i].EndedAt = at(r.Attempts[i].SentAt), at(r.Attempts[i].EndedAt)
	}
	r.Trail = slices.Clone(r.Trail)
	for i := range r.Trail {
		r.Trail[i].At = at(r.Trail[i].At)
	}
	if r.Update != nil {
		update := *r.Update
		update.LeaseUntil = at(update.LeaseUntil)
		r.Update = &update
	}
	if r.Response != nil {
		response := *r.Response
		response.Header, response.Body = slices.Clone(response.Header), slices.Clone(response.Body)
		r.Response = &response
	}
	if r.Prior != nil {
		prior := copied(*r.Prior, at)
		r.Prior = &prior
	}
	return r
}
