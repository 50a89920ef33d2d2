package storetest

import (
	"time"

	"oneticket/dedup"
)

func expiry(s *scene) {
	ref := refOf("expiry")
	o := offerOf(another, ref)
	o.Fingerprint = minor // prolongs nothing
	open := s.opened(ref, 10*time.Minute)
	s.data.Forward(9 * time.Minute)
	s.same("before its time", s.lost(s.two, ref, o).Record, open)
	s.data.Forward(2 * time.Minute)
	if found := s.won(s.two, ref, o); found.Record.Episode != open.Episode+1 || found.Now.Before(open.FreeAt) {
		s.Fatalf("after its time: %+v at %v", found.Record, found.Now)
	}
}

func slidingLife(s *scene) {
	ref := refOf("sliding")
	was := s.opened(ref, time.Hour)
	for range 5 {
		s.data.Forward(50 * time.Minute)
		o := offerOf(another, ref)
		found := s.lost(s.two, ref, o)
		want := was
		want.Version++
		want.SeenAt = found.Now
		want.ExpiresAt = found.Now.Add(o.TTL)
		want.FreeAt = want.ExpiresAt
		want.KeepUntil = want.ExpiresAt.Add(o.KeepOpen)
		s.same("the record", found.Record, want)
		s.same("what another client sees", s.get(ref).Record, want)
		was = want
	}
}

func littleGain(s *scene) {
	ref := refOf("storm")
	open := s.opened(ref, 16*time.Minute)
	o := offerOf(another, ref)
	o.TTL = 16 * time.Minute
	s.data.Forward(50 * time.Second)
	for range 5 {
		s.same("less than 1/16 has passed", s.lost(s.two, ref, o).Record, open)
	}
	s.data.Forward(11 * time.Second)
	if found := s.lost(s.two, ref, o); found.Record.Version != open.Version+1 {
		s.Fatalf("1/16 has passed, and the version is %d after %d", found.Record.Version, open.Version)
	}
	o.TTL = time.Minute
	if found := s.lost(s.two, ref, o); found.Record.Version != open.Version+1 {
		s.Fatalf("a shorter TTL shortened a life: %+v", found.Record)
	}
}

func greatestAge(s *scene) {
	ref := refOf("age")
	open := s.opened(ref, time.Hour)
	end := open.OpenedAt.Add(100 * time.Minute)
	o := offerOf(another, ref)
	o.MaxAge = 100 * time.Minute
	s.data.Forward(55 * time.Minute)
	capped := s.lost(s.two, ref, o).Record
	s.same("expires at", capped.ExpiresAt, end)
	s.same("free at", capped.FreeAt, end)
	s.data.Forward(40 * time.Minute)
	s.same("at its greatest age", s.lost(s.two, ref, o).Record, capped)
	s.data.Forward(6 * time.Minute)
	if found := s.won(s.two, ref, o); found.Record.Episode != 2 {
		s.Fatalf("after its greatest age: %+v", found.Record)
	}
}

func otherFingerprint(s *scene) {
	ref := refOf("changed")
	open := s.opened(ref, time.Hour)
	s.data.Forward(30 * time.Minute)
	o := offerOf(another, ref)
	for _, f := range []dedup.Fingerprint{minor, {Severity: "2", Cleared: true}, dedup.Unknown} {
		o.Fingerprint = f
		s.same("the record", s.lost(s.two, ref, o).Record, open)
	}
}

func unknownFingerprint(s *scene) {
	ref := refOf("unknown")
	open := s.opened(ref, time.Hour)
	open.Fingerprint = dedup.Unknown
	open = s.swap(s.one, ref, open.Version, open, "")
	s.data.Forward(30 * time.Minute)
	o := offerOf(another, ref)
	o.Fingerprint = dedup.Unknown
	s.same("the record", s.lost(s.two, ref, o).Record, open)
}

func runningUpdate(s *scene) {
	ref := refOf("updating")
	open := s.opened(ref, 2*time.Hour)
	open.Update = &dedup.UpdateClaim{Holder: holder, LeaseUntil: open.OpenedAt.Add(40 * time.Minute), Fingerprint: minor}
	open = s.swap(s.one, ref, open.Version, open, "")
	o := offerOf(another, ref)
	o.TTL = 2 * time.Hour
	s.data.Forward(30 * time.Minute)
	s.same("while the update's lease runs", s.lost(s.two, ref, o).Record, open)
	s.data.Forward(15 * time.Minute)
	if found := s.lost(s.two, ref, o); found.Record.Version != open.Version+1 || found.Record.Update == nil {
		s.Fatalf("after its lease: %+v", found.Record)
	}
}
