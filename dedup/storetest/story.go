package storetest

import (
	"testing"
	"time"

	"oneticket/dedup"
)

// RefOf is where the record of a story is.
func RefOf(name string) dedup.Ref {
	return dedup.Ref{Rule: "network_faults", Scope: "acme.service-now.com", Key: dedup.Key("idem:" + name)}
}

// OfferOf is the offer of the create of one fault.
func OfferOf(holder string, ref dedup.Ref) *dedup.Offer {
	return &dedup.Offer{
		Holder:      holder,
		Fingerprint: dedup.Fingerprint{Severity: "2"},
		Token:       dedup.TokenRule{Key: ref.Key, Style: dedup.EpisodeToken},
		Identity:    []byte("element_id=core-rtr-7|fault_class=RING_DOWN|root_cause_id=rc-991"),
		Lease:       70 * time.Second,
		Keep:        24 * time.Hour,
		TTL:         time.Hour,
		KeepOpen:    24 * time.Hour,
	}
}

// OpenOf is the record of a claim whose create became a ticket.
func OpenOf(found dedup.Found) dedup.Record {
	next := found.Record
	next.State = dedup.Open
	next.Holder, next.LeaseUntil, next.Prior = "", time.Time{}, nil
	next.Ticket = dedup.Ticket{ID: "INC0012345", Location: "/api/now/table/incident/46b66a40"}
	next.Response = &dedup.Response{
		Status: 201, Header: []dedup.HeaderField{{Name: "content-type", Value: "application/json"}}, Body: make([]byte, 900),
	}
	next.AnsweredAt, next.OpenedAt = found.Now, found.Now
	next.ExpiresAt, next.FreeAt = found.Now.Add(time.Hour), found.Now.Add(time.Hour)
	next.KeepUntil = found.Now.Add(25 * time.Hour)
	return next
}

// Claimed claims, and must win.
func Claimed(t testing.TB, store dedup.Store, ref dedup.Ref) dedup.Found {
	t.Helper()
	found, err := store.Claim(t.Context(), ref, OfferOf("h", ref))
	if err != nil || !found.Won {
		t.Fatalf("claim %s: won %v, %v", ref.Key, found.Won, err)
	}
	return found
}

// Opened makes the record of an open ticket.
func Opened(t testing.TB, store dedup.Store, ref dedup.Ref) dedup.Record {
	t.Helper()
	found := Claimed(t, store, ref)
	rec, err := store.Swap(t.Context(), ref, found.Record.Version, OpenOf(found), "opened")
	if err != nil {
		t.Fatal(err)
	}
	return rec
}
