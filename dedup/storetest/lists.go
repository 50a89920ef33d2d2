package storetest

import (
	"fmt"
	"time"

	"oneticket/dedup"
)

// manyRecords is more than a store reads at a time.
const manyRecords = 300

func list(s *scene) {
	want := map[dedup.Ref]dedup.Record{}
	for i := range manyRecords {
		ref := refOf(fmt.Sprintf("list-%d", i))
		ref.Rule = []string{"network_faults", "app_faults", "network"}[i%3]
		ref.Scope = []string{"a", "b"}[i%2]
		state := []dedup.State{dedup.Open, dedup.Closed, dedup.Doubtful, dedup.None}[i%4]
		now := s.get(ref).Now
		rec := dedup.Record{State: state, Episode: int64(i + 1), KeepUntil: now.Add(time.Hour), FreeAt: now.Add(time.Hour)}
		rec = s.swap(s.one, ref, 0, rec, "")
		if state != dedup.None {
			want[ref] = rec
		}
	}
	for _, rule := range []string{"", "network_faults", "app_faults", "network", "net"} {
		s.listed(rule, want)
	}
}

func (s *scene) listed(rule string, all map[dedup.Ref]dedup.Record) {
	s.Helper()
	got := map[dedup.Ref]bool{}
	err := s.two.List(s.ctx, rule, func(ref dedup.Ref, rec dedup.Record) bool {
		if got[ref] {
			s.Errorf("%+v is listed twice, and nothing changed", ref)
		}
		got[ref] = true
		want, ok := all[ref]
		if !ok || (rule != "" && ref.Rule != rule) {
			s.Errorf("%+v is listed under rule %q", ref, rule)
		} else if diff := difference(rec, want); diff != "" {
			s.Errorf("%+v: %s", ref, diff)
		}
		return true
	})
	if err != nil {
		s.Fatalf("list %q: %v", rule, err)
	}
	for ref := range all {
		if (rule == "" || ref.Rule == rule) && !got[ref] {
			s.Fatalf("%+v is not listed under rule %q", ref, rule)
		}
	}
}

func listEnds(s *scene) {
	for i := range 10 {
		ref := refOf(fmt.Sprintf("list-%d", i))
		s.won(s.one, ref, offerOf(holder, ref))
	}
	seen := 0
	err := s.two.List(s.ctx, "", func(ref dedup.Ref, _ dedup.Record) bool {
		// Nothing is locked meanwhile: a list may be acted upon.
		if err := s.two.Delete(s.ctx, ref); err != nil {
			s.Errorf("delete while listing: %v", err)
		}
		seen++
		return seen < 3
	})
	if err != nil || seen != 3 {
		s.Fatalf("%d were shown, want 3; %v", seen, err)
	}
}
