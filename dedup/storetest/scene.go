package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"oneticket/dedup"
)

const (
	holder  = "holder-1"
	another = "holder-2"
)

var (
	major = dedup.Fingerprint{Severity: "2"}
	minor = dedup.Fingerprint{Severity: "4"}
)

func refOf(name string) dedup.Ref {
	return dedup.Ref{Rule: "network_faults", Scope: "acme.service-now.com", Key: dedup.Key("idem:" + name)}
}

// offerOf is a usual offer.
func offerOf(holder string, ref dedup.Ref) *dedup.Offer {
	return &dedup.Offer{
		Holder:      holder,
		Fingerprint: major,
		Token:       dedup.TokenRule{Key: ref.Key, Style: dedup.EpisodeToken},
		Identity:    []byte("element_id=core-rtr-7|fault_class=RING_DOWN"),
		Class:       "core",
		Lease:       70 * time.Second,
		Keep:        24 * time.Hour,
		TTL:         time.Hour,
		KeepOpen:    24 * time.Hour,
	}
}

func (s *scene) claim(store dedup.Store, ref dedup.Ref, o *dedup.Offer) dedup.Found {
	s.Helper()
	found, err := store.Claim(s.ctx, ref, o)
	if err != nil {
		s.Fatalf("claim %s: %v", ref.Key, err)
	}
	return found
}

// won claims and must win.
func (s *scene) won(store dedup.Store, ref dedup.Ref, o *dedup.Offer) dedup.Found {
	s.Helper()
	found := s.claim(store, ref, o)
	if !found.Won {
		s.Fatalf("claim %s: lost to %+v", ref.Key, found.Record)
	}
	return found
}

// lost claims and must not win.
func (s *scene) lost(store dedup.Store, ref dedup.Ref, o *dedup.Offer) dedup.Found {
	s.Helper()
	found := s.claim(store, ref, o)
	if found.Won {
		s.Fatalf("claim %s: won %+v", ref.Key, found.Record)
	}
	return found
}

func (s *scene) get(ref dedup.Ref) dedup.Found {
	s.Helper()
	found, err := s.two.Get(s.ctx, ref)
	if err != nil {
		s.Fatalf("get %s: %v", ref.Key, err)
	}
	return found
}

func (s *scene) swap(store dedup.Store, ref dedup.Ref, seen int64, next dedup.Record, nonce string) dedup.Record {
	s.Helper()
	written, err := store.Swap(s.ctx, ref, seen, next, nonce)
	if err != nil {
		s.Fatalf("swap %s: %v", ref.Key, err)
	}
	return written
}

func (s *scene) conflicts(store dedup.Store, ref dedup.Ref, seen int64, next dedup.Record, nonce string) {
	s.Helper()
	before := s.get(ref).Record
	if _, err := store.Swap(s.ctx, ref, seen, next, nonce); !errors.Is(err, dedup.ErrConflict) {
		s.Fatalf("swap %s over version %d: %v, want a conflict", ref.Key, seen, err)
	}
	s.same("the record after a conflict", s.get(ref).Record, before)
}

// opened makes the record of an open ticket with the life.
func (s *scene) opened(ref dedup.Ref, life time.Duration) dedup.Record {
	s.Helper()
	found := s.won(s.one, ref, offerOf(holder, ref))
	return s.swap(s.one, ref, found.Record.Version, openOf(found, life), "opened "+string(ref.Key))
}

// openOf is the record of a claim whose create became a ticket.
func openOf(found dedup.Found, life time.Duration) dedup.Record {
	next := found.Record
	next.State = dedup.Open
	next.Holder, next.LeaseUntil, next.Prior = "", time.Time{}, nil
	next.Ticket = dedup.Ticket{ID: "INC0012345", Location: "/api/now/table/incident/46b66a40"}
	next.Response = &dedup.Response{Status: 201, Body: []byte(`{"result":{"number":"INC0012345"}}`)}
	next.AnsweredAt, next.OpenedAt = found.Now, found.Now
	next.ExpiresAt = found.Now.Add(life)
	next.FreeAt = next.ExpiresAt
	next.KeepUntil = next.ExpiresAt.Add(24 * time.Hour)
	return next
}

// same compares two values of this package's or dedup's, times by instant.
func (s *scene) same(what string, got, want any) {
	s.Helper()
	if diff := difference(got, want); diff != "" {
		s.Fatalf("%s: %s", what, diff)
	}
}

// difference tells where got is not want; empty when they are the same.
func difference(got, want any) string {
	got, want = plain(got), plain(want)
	if reflect.DeepEqual(got, want) {
		return ""
	}
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	if g.Kind() != reflect.Struct || g.Type() != w.Type() {
		return fmt.Sprintf("got %+v, want %+v", got, want)
	}
	text := ""
	for i := range g.NumField() {
		a, b := g.Field(i).Interface(), w.Field(i).Interface()
		if _, ok := a.(dedup.Record); ok {
			text += difference(a, b)
		} else if !reflect.DeepEqual(a, b) {
			text += fmt.Sprintf("\n\t%s: got %s, want %s", g.Type().Field(i).Name, told(a), told(b))
		}
	}
	return text
}

// told shows a value, and what its pointers lead to.
func told(v any) string {
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && !p.IsNil() {
		v = p.Elem().Interface()
	}
	return fmt.Sprintf("%+v", v)
}

// plain puts times in one form.
func plain(v any) any {
	switch v := v.(type) {
	case dedup.Record:
		return copied(v, inUTC)
	case dedup.Found:
		v.Record, v.Now = copied(v.Record, inUTC), inUTC(v.Now)
		return v
	case time.Time:
		return inUTC(v)
	default:
		return v
	}
}

func inUTC(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.Round(0).UTC()
}
