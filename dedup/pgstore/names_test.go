package pgstore_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/pgstore"
	"oneticket/dedup/pgstore/pgtest"
)

// Whatever stands in a rule, a scope or a key, two records never share a row,
// and a list gives back what was written.
func TestOddNamesAreKeptApart(t *testing.T) {
	store := open(t, pgstore.Options{URL: pgtest.Shared(t).SocketURL()})
	refs := []dedup.Ref{
		{Rule: "a", Scope: "b", Key: "c"},
		{Rule: "a", Scope: "bc", Key: ""},
		{Rule: "a", Scope: "", Key: "bc"},
		{Rule: "ab", Scope: "", Key: "c"},
		{Rule: "", Scope: "", Key: ""},
		{Rule: `\x61`, Scope: "b", Key: "c"},
		{Rule: "*'\"$1", Scope: "?", Key: "[a-z]\\"},
		{Rule: "net work", Scope: "été", Key: "\xff\x00\n"},
		{Rule: "a", Scope: strings.Repeat("longer than an index takes ", 1000), Key: "c"},
	}
	for _, ref := range refs {
		claimed(t, store, ref)
	}
	for _, rule := range []string{"", "a", `\x61`, "net work", "*'\"$1"} {
		var got []dedup.Ref
		if err := store.List(t.Context(), rule, func(ref dedup.Ref, _ dedup.Record) bool { got = append(got, ref); return true }); err != nil {
			t.Fatal(err)
		}
		for _, ref := range refs {
			if want := rule == "" || ref.Rule == rule; slices.Contains(got, ref) != want {
				t.Errorf("rule %q: %.60q is listed: %v", rule, ref, !want)
			}
		}
	}
	ids := []string{"INC1", "INC/1", "", "\x00", `\x00`}
	for _, id := range ids {
		if _, err := store.Ticket(t.Context(), "snow/1", id, dedup.Ref{Rule: id}, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range ids {
		if ref, held, err := store.KeepClose(t.Context(), "snow/1", id, time.Hour); ref.Rule != id || !held || err != nil {
			t.Errorf("%q is held by %+v, %v, %v", id, ref, held, err)
		}
	}
}

// The identity is there as the bytes that it is made of, for whoever looks
// into the database.
func TestTheIdentityIsKeptAsBytes(t *testing.T) {
	s := pgtest.Shared(t)
	schema := fresh()
	store := open(t, pgstore.Options{URL: s.SocketURL(), Schema: schema})
	ref := refOf("identity")
	claimed(t, store, ref)
	got := pgtest.Ask[[]byte](t, s, `SELECT identity FROM "`+schema+`".record WHERE key = $1`, string(ref.Key))
	if want := offerOf("h", ref).Identity; string(got) != string(want) {
		t.Errorf("%q, want %q", got, want)
	}
}
