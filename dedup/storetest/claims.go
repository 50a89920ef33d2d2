package storetest

import (
	"time"

	"oneticket/dedup"
)

func firstClaim(s *scene) {
	ref := refOf("first")
	o := offerOf(holder, ref)
	o.Provisional = true
	found := s.won(s.one, ref, o)
	s.same("the record", found.Record, o.Take(dedup.Record{}, found.Now))
	s.same("what another client sees", s.get(ref).Record, found.Record)
}

func claimWithoutOffer(s *scene) {
	ref := refOf("read")
	none := s.lost(s.one, ref, nil)
	s.same("no record", none.Record, dedup.Record{})
	if none.Now.IsZero() {
		s.Fatal("the clock is missing where there is no record")
	}
	s.same("after reading nothing", s.get(ref).Record, dedup.Record{})

	open := s.opened(ref, time.Minute)
	s.data.Forward(time.Hour)
	s.same("an expired record", s.lost(s.one, ref, nil).Record, open)
	s.same("after reading it", s.get(ref).Record, open)
}

func nextEpisode(s *scene) {
	ref := refOf("next")
	open := s.opened(ref, 10*time.Minute)
	open.Trail = []dedup.Trace{{At: open.OpenedAt, Kind: dedup.Create, Reason: dedup.First, Config: "c0ffee", By: "replica-1"}}
	open.Attempts = []dedup.Attempt{{Number: 1, Holder: "gone", Token: "t"}}
	open.Principals, open.Witness = []string{"p"}, []uint32{7}
	open = s.swap(s.two, ref, open.Version, open, "")

	s.data.Forward(11 * time.Minute)
	o := offerOf(another, ref)
	found := s.won(s.one, ref, o)
	s.same("the record", found.Record, o.Take(open, found.Now))
	s.same("its prior", *found.Record.Prior, open)
	s.same("what another client sees", s.get(ref).Record, found.Record)
}

func priorOfPrior(s *scene) {
	ref := refOf("prior")
	for episode := range int64(3) {
		found := s.won(s.one, ref, offerOf(holder+string('a'+rune(episode)), ref))
		if found.Record.Episode != episode+1 || found.Record.Prior == nil || found.Record.Prior.Prior != nil {
			s.Fatalf("episode %d: %+v", episode+1, found.Record)
		}
		s.freed(ref, found.Record) // it has its prior still
	}
}

func longerKeep(s *scene) {
	ref := refOf("keep")
	open := s.opened(ref, time.Minute)
	s.data.Forward(2 * time.Minute)
	o := offerOf(another, ref)
	o.Keep = time.Second
	found := s.won(s.one, ref, o)
	s.same("keep until", found.Record.KeepUntil, open.KeepUntil)
	s.same("free at", found.Record.FreeAt, open.KeepUntil)
}

func ownClaimRepeated(s *scene) {
	ref := refOf("own")
	first := s.won(s.one, ref, offerOf(holder, ref))
	again := s.won(s.two, ref, offerOf(holder, ref))
	s.same("the record", again.Record, first.Record)
	other := s.lost(s.two, ref, offerOf(another, ref))
	s.same("what another holder sees", other.Record, first.Record)
}

func ownClaimRepeatedTooLate(s *scene) {
	ref := refOf("late")
	o := offerOf(holder, ref)
	first := s.won(s.one, ref, o)
	s.data.Forward(o.Lease + time.Second)
	again := s.lost(s.one, ref, o)
	s.same("the record", again.Record, first.Record)
}

func freeAtOnce(s *scene) {
	ref := refOf("free")
	closed := s.opened(ref, time.Hour)
	closed.State, closed.ClosedAt, closed.FreeAt = dedup.Closed, closed.OpenedAt, time.Time{}
	closed = s.swap(s.one, ref, closed.Version, closed, "")
	found := s.won(s.two, ref, offerOf(another, ref))
	if found.Record.Episode != 2 {
		s.Fatalf("episode %d, want 2", found.Record.Episode)
	}
	s.same("its prior", *found.Record.Prior, closed)
}

func apart(s *scene) {
	ref := refOf("apart")
	otherRule, otherScope := ref, ref
	otherRule.Rule, otherScope.Scope = "app_faults", "other.service-now.com"
	for i, r := range []dedup.Ref{ref, otherRule, otherScope} {
		found := s.won(s.one, r, offerOf([]string{"a", "b", "c"}[i], r))
		if found.Record.Episode != 1 {
			s.Fatalf("%+v: episode %d, want 1", r, found.Record.Episode)
		}
	}
}

func clock(s *scene) {
	ref := refOf("clock")
	before := s.get(ref).Now
	s.data.Forward(90 * time.Minute)
	found := s.won(s.one, ref, offerOf(holder, ref))
	if passed := found.Now.Sub(before); passed < 90*time.Minute {
		s.Fatalf("the clock moved by %v, want 90 minutes at least", passed)
	}
	s.same("claimed at", found.Record.ClaimedAt, found.Now)
	if seen := s.get(ref).Now; seen.Before(found.Now) {
		s.Fatalf("one client reads %v, then the other %v", found.Now, seen)
	}
}

func newerFormat(s *scene) {
	ref := refOf("newer")
	newer := s.opened(ref, time.Minute)
	newer.V, newer.FreeAt = dedup.Format+1, time.Time{}
	newer = s.swap(s.one, ref, newer.Version, newer, "")
	s.data.Forward(time.Hour)

	left := func(what string) {
		s.Helper()
		if found := s.lost(s.two, ref, offerOf(another, ref)); found.Record.V != dedup.Format+1 || found.Record.Version != newer.Version {
			s.Fatalf("after %s: format %d, version %d; want %d, %d", what, found.Record.V, found.Record.Version, dedup.Format+1, newer.Version)
		}
	}
	left("a claim")
	s.conflicts(s.two, ref, newer.Version, dedup.Record{State: dedup.Closed}, "old program")
	if renewed, err := s.two.Renew(s.ctx, ref, holder, time.Hour); renewed || err != nil {
		s.Fatalf("renewed %v, %v", renewed, err)
	}
	if err := s.two.MarkSent(s.ctx, ref, holder); err != nil {
		s.Fatal(err)
	}
	left("a renewal and a mark")
	if err := s.two.Delete(s.ctx, ref); err == nil {
		s.Fatal("it was deleted")
	}
	left("a delete")
}
