package dedup

import (
	"context"
	"errors"
	"slices"
	"time"
)

// A Bearer is who sent a request, as keyed hashes: nothing in it tells a
// credential. The zero Bearer is nobody.
type Bearer struct {
	Principal  string // the stable part of the credential: a user, an API key
	Credential string // the whole of it
}

// maxBearers bounds what a record keeps of them; the oldest are forgotten, and
// have to show again that the backend accepts them.
const maxBearers = 16

// Joined is rec after the backend has shown the bearer its ticket; nil when
// there is nothing to write, or rec is of another episode than the one that
// was shown.
func Joined(rec Record, episode int64, b Bearer, now time.Time) *Record {
	if rec.V > Format || rec.Episode != episode || rec.State != Open && rec.State != Closed || b == (Bearer{}) {
		return nil
	}
	next := b.joins(rec.clone(), now)
	return &next
}

// joins adds the bearer to those who created the record's ticket or could
// read it. The slices of rec must be its own.
func (b Bearer) joins(rec Record, now time.Time) Record {
	if b.Principal != "" && !slices.Contains(rec.Principals, b.Principal) {
		rec.Principals = newest(append(rec.Principals, b.Principal))
	}
	if b.Credential != "" {
		others := slices.DeleteFunc(rec.Credentials, func(a Accepted) bool { return a.Hash == b.Credential })
		rec.Credentials = newest(append(others, Accepted{Hash: b.Credential, At: now}))
	}
	return rec
}

func newest[T any](all []T) []T { return all[max(0, len(all)-maxBearers):] }

// Knows reports whether the bearer created the record's ticket or could read it.
func (r *Record) Knows(b Bearer) bool { return slices.Contains(r.Principals, b.Principal) }

// AcceptedAt is when the backend accepted the bearer's whole credential for
// the record's ticket; zero when that is not known.
func (r *Record) AcceptedAt(b Bearer) time.Time {
	for _, a := range r.Credentials {
		if a.Hash == b.Credential {
			return a.At
		}
	}
	return time.Time{}
}

// Join writes that the backend has answered the bearer, in the given episode of
// the record at ref, with the ticket. One that is not the record's own is a
// double of it, and reported.
func (e *Engine) Join(ctx context.Context, ref Ref, episode int64, b Bearer, shown Ticket) error {
	for range maxRounds {
		found, err := e.store.Get(ctx, ref)
		if err != nil {
			return err
		}
		rec := found.Record
		if next := Joined(rec, episode, b, found.Now); next != nil {
			_, err = e.swap(ctx, ref, rec.Version, *next)
		}
		if errors.Is(err, ErrConflict) {
			continue
		}
		if shown.ID != "" && rec.Ticket.ID != shown.ID {
			e.report(Report{Ref: ref, Duplicates: []Ticket{shown}})
		}
		return err
	}
	return ErrConflict
}
