package redisstore_test

import (
	"slices"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/redisstore"
)

// Whatever stands in a rule, a scope or a key, two records never share a name,
// and a list gives back what was written.
func TestOddNamesAreKeptApart(t *testing.T) {
	s := serve(t)
	store := open(t, redisstore.Options{URL: s.url()})
	refs := []dedup.Ref{
		{Rule: "a", Scope: "b", Key: "c"},
		{Rule: "a/b", Scope: "", Key: "c"},
		{Rule: "a", Scope: "", Key: "b/c"},
		{Rule: "", Scope: "", Key: ""},
		{Rule: "a%2Fb", Scope: "", Key: "c"},
		{Rule: "a}{b", Scope: "{}", Key: "}"},
		{Rule: "*", Scope: "?", Key: "[a-z]\\"},
		{Rule: "net work", Scope: "été", Key: "\xff\x00\n"},
		{Rule: "a", Scope: "127.0.0.1:8080", Key: "api:a_b-c.d"},
	}
	for _, ref := range refs {
		claimed(t, store, ref)
	}
	for _, rule := range []string{"", "a", "*", "net work", "a}{b"} {
		var got []dedup.Ref
		if err := store.List(t.Context(), rule, func(ref dedup.Ref, _ dedup.Record) bool { got = append(got, ref); return true }); err != nil {
			t.Fatal(err)
		}
		for _, ref := range refs {
			if want := rule == "" || ref.Rule == rule; slices.Contains(got, ref) != want {
				t.Errorf("rule %q: %+v is listed: %v", rule, ref, !want)
			}
		}
	}
	for _, id := range []string{"INC1", "INC/1", "", "{}"} {
		if _, err := store.Ticket(t.Context(), "snow/1", id, dedup.Ref{Rule: id}, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"INC1", "INC/1", "", "{}"} {
		if ref, held, err := store.KeepClose(t.Context(), "snow/1", id, time.Hour); ref.Rule != id || !held || err != nil {
			t.Errorf("%q is held by %+v, %v, %v", id, ref, held, err)
		}
	}
}

// Redis itself removes what is over, and nothing before that.
func TestRedisRemovesWhatIsOver(t *testing.T) {
	s := serve(t)
	store := open(t, redisstore.Options{URL: s.url()})
	ref := refOf("kept")
	rec := opened(t, store, ref)
	const name = "oneticket:record:{network_faults/acme.service-now.com/idem:kept}"
	left := func(name string) time.Duration {
		return time.Duration(s.do("PTTL", name).(int64)) * time.Millisecond
	}
	keep := time.Until(rec.KeepUntil)
	if got := left(name); got < keep || got > keep+2*time.Minute {
		t.Errorf("it stays %v, and must be kept %v", got, keep)
	}
	if err := store.Delete(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	if got := left(name); got < keep-time.Minute {
		t.Errorf("the stub stays %v, and must be kept %v", got, keep)
	}

	over := rec
	over.KeepUntil = rec.KeepUntil.Add(-48 * time.Hour)
	if _, err := store.Swap(t.Context(), ref, rec.Version+1, over, "n"); err != nil {
		t.Fatal(err)
	}
	if got := left(name); got <= 0 || got > 2*time.Minute {
		t.Errorf("what is over stays %v", got)
	}
	over.KeepUntil = time.Time{}
	if _, err := store.Swap(t.Context(), ref, rec.Version+2, over, "n"); err != nil {
		t.Fatal(err)
	}
	if got := s.do("PTTL", name).(int64); got != -1 {
		t.Errorf("what has no end ends in %d ms", got)
	}

	if _, err := store.Ticket(t.Context(), "snow", "INC1", ref, time.Hour); err != nil {
		t.Fatal(err)
	}
	if got := left("oneticket:ticket:{snow/INC1}"); got < 59*time.Minute || got > 62*time.Minute {
		t.Errorf("the ticket stays %v", got)
	}
}
