package storetest

import (
	"time"

	"oneticket/dedup"
)

func (s *scene) renew(store dedup.Store, ref dedup.Ref, holder string, lease time.Duration, want bool) {
	s.Helper()
	if renewed, err := store.Renew(s.ctx, ref, holder, lease); renewed != want || err != nil {
		s.Fatalf("renewal by %s: %v, %v; want %v", holder, renewed, err, want)
	}
}

func renewal(s *scene) {
	ref := refOf("renewal")
	found := s.won(s.one, ref, offerOf(holder, ref))
	s.data.Forward(time.Minute)
	s.renew(s.two, ref, holder, time.Hour, true)

	after := s.get(ref)
	if lease := after.Record.LeaseUntil; lease.After(after.Now.Add(time.Hour)) || lease.Before(found.Now.Add(time.Minute+time.Hour)) {
		s.Fatalf("the lease ends at %v, renewed for an hour before %v", lease, after.Now)
	}
	want := found.Record
	want.LeaseUntil = after.Record.LeaseUntil
	s.same("the record", after.Record, want)

	s.data.Forward(30 * time.Minute) // beyond the first lease
	s.won(s.one, ref, offerOf(holder, ref))
	s.swap(s.one, ref, found.Record.Version, openOf(found, time.Hour), "")
}

func renewalRefused(s *scene) {
	ref := refOf("renewal")
	s.renew(s.one, ref, holder, time.Hour, false) // nothing is there
	found := s.won(s.one, ref, offerOf(holder, ref))
	s.renew(s.two, ref, another, time.Hour, false)
	s.data.Forward(71 * time.Second)
	s.renew(s.one, ref, holder, time.Hour, false)
	s.same("the record", s.get(ref).Record, found.Record)

	open := openOf(found, time.Hour)
	open.Holder, open.LeaseUntil = holder, found.Now.Add(time.Hour) // not Claimed any more
	open = s.swap(s.one, ref, found.Record.Version, open, "")
	s.renew(s.one, ref, holder, time.Hour, false)
	s.same("the open record", s.get(ref).Record, open)
}

func updateRenewal(s *scene) {
	ref := refOf("update")
	open := s.opened(ref, 10*time.Hour)
	open.Update = &dedup.UpdateClaim{Holder: holder, LeaseUntil: open.OpenedAt.Add(time.Minute), Fingerprint: minor}
	open = s.swap(s.one, ref, open.Version, open, "")
	s.renew(s.two, ref, another, time.Hour, false)
	s.renew(s.two, ref, holder, time.Hour, true)
	after := s.get(ref).Record
	if !after.Update.LeaseUntil.After(open.OpenedAt.Add(59 * time.Minute)) {
		s.Fatalf("the update's lease ends at %v", after.Update.LeaseUntil)
	}
	after.Update.LeaseUntil = open.Update.LeaseUntil
	s.same("the rest", after, open)
	s.data.Forward(2 * time.Hour)
	s.renew(s.two, ref, holder, time.Hour, false)
}

func markSent(s *scene) {
	ref := refOf("sent")
	mark := func(holder string) {
		s.Helper()
		if err := s.two.MarkSent(s.ctx, ref, holder); err != nil {
			s.Fatal(err)
		}
	}
	mark(holder)
	s.same("nothing is there", s.get(ref).Record, dedup.Record{})
	found := s.won(s.one, ref, offerOf(holder, ref))
	mark(another)
	s.same("marked by another", s.get(ref).Record, found.Record)
	mark(holder)
	want := found.Record
	want.Sent = true
	s.same("marked", s.get(ref).Record, want)

	open := s.swap(s.one, ref, found.Record.Version, openOf(found, time.Hour), "")
	mark(holder)
	s.same("marked too late", s.get(ref).Record, open)
}
