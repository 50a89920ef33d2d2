package storetest

import (
	"errors"
	"time"

	"oneticket/dedup"
)

func refusedCreate(s *scene) {
	ref := refOf("refused")
	found := s.won(s.one, ref, offerOf(holder, ref))
	s.same("its prior", *found.Record.Prior, dedup.Record{V: dedup.Format, State: dedup.None})

	stub := *found.Record.Prior
	stub.KeepUntil = found.Record.KeepUntil
	stub = s.swap(s.one, ref, found.Record.Version, stub, "")
	if stub.Version != 2 || stub.Episode != 0 || stub.State != dedup.None {
		s.Fatalf("the stub is %+v", stub)
	}
	again := s.won(s.two, ref, offerOf(another, ref))
	if again.Record.Version != 3 || again.Record.Episode != 1 {
		s.Fatalf("version %d, episode %d; want 3 and 1", again.Record.Version, again.Record.Episode)
	}
	s.same("its prior", *again.Record.Prior, stub)
}

func refusedNextEpisode(s *scene) {
	ref := refOf("refused-next")
	open := s.opened(ref, 10*time.Minute)
	s.data.Forward(11 * time.Minute)
	found := s.won(s.one, ref, offerOf(another, ref))

	// A claim that becomes doubtful first keeps what a refusal restores.
	doubtful := found.Record
	doubtful.State = dedup.Doubtful
	doubtful = s.swap(s.one, ref, doubtful.Version, doubtful, "")
	s.same("the prior of a doubtful record", *s.get(ref).Record.Prior, open)

	restored := s.swap(s.one, ref, doubtful.Version, *doubtful.Prior, "")
	want := open
	want.Version = doubtful.Version + 1
	s.same("what was restored", restored, want)
	if again := s.won(s.two, ref, offerOf(holder, ref)); again.Record.Episode != open.Episode+1 {
		s.Fatalf("episode %d after a restored %d", again.Record.Episode, open.Episode)
	}
}

func lateHolder(s *scene) {
	ref := refOf("late")
	o := offerOf(holder, ref)
	found := s.won(s.one, ref, o)
	s.data.Forward(o.Lease + time.Second)

	taken := found.Record
	taken.Holder, taken.LeaseUntil = another, found.Now.Add(time.Hour)
	taken = s.swap(s.two, ref, taken.Version, taken, "taken over")

	s.conflicts(s.one, ref, found.Record.Version, openOf(found, time.Hour), "too late")
	if renewed, err := s.one.Renew(s.ctx, ref, holder, time.Hour); renewed || err != nil {
		s.Fatalf("the late holder's renewal: %v, %v", renewed, err)
	}
	s.same("the record", s.get(ref).Record, taken)
}

func ownSwapRepeated(s *scene) {
	for name, seen := range map[string]int64{"insert": 0, "update": 1} {
		ref := refOf("own-" + name)
		next := dedup.Record{State: dedup.Closed, Episode: 1, Token: name, FreeAt: s.get(ref).Now.Add(time.Hour)}
		if seen > 0 {
			next = openOf(s.won(s.one, ref, offerOf(holder, ref)), time.Hour)
		}
		first := s.swap(s.one, ref, seen, next, "nonce")
		again := s.swap(s.two, ref, seen, next, "nonce")
		s.same(name+" repeated", again, first)
		s.same(name+", as it is", s.get(ref).Record, first)
		if first.Version != seen+1 {
			s.Fatalf("%s: version %d, want %d", name, first.Version, seen+1)
		}
		s.conflicts(s.two, ref, seen, next, "another nonce")
		s.conflicts(s.two, ref, seen, next, "")
	}
}

func ownSwapWrittenOver(s *scene) {
	for name, over := range map[string]func(ref dedup.Ref, rec dedup.Record){
		"by a swap":  func(ref dedup.Ref, rec dedup.Record) { s.swap(s.two, ref, rec.Version, rec, "theirs") },
		"by a claim": func(ref dedup.Ref, rec dedup.Record) { s.won(s.two, ref, offerOf(another, ref)) },
		"by a delete": func(ref dedup.Ref, _ dedup.Record) {
			if err := s.two.Delete(s.ctx, ref); err != nil {
				s.Fatal(err)
			}
		},
	} {
		ref := refOf("over-" + name)
		found := s.won(s.one, ref, offerOf(holder, ref))
		next := found.Record
		next.State, next.FreeAt = dedup.Closed, time.Time{}
		written := s.swap(s.one, ref, found.Record.Version, next, "mine")
		over(ref, written)
		s.conflicts(s.one, ref, found.Record.Version, next, "mine")
	}
}

func swapOfAnotherVersion(s *scene) {
	ref := refOf("version")
	next := dedup.Record{State: dedup.Closed, Episode: 1}
	s.conflicts(s.one, ref, 1, next, "nothing is there")
	written := s.swap(s.one, ref, 0, next, "")
	for _, seen := range []int64{0, written.Version - 1, written.Version + 1, 1 << 40} {
		s.conflicts(s.one, ref, seen, next, "wrong")
	}
}

func competingWrite(s *scene) {
	ref := refOf("competing")
	open := s.opened(ref, time.Hour)
	theirs := open
	theirs.Fingerprint = minor
	hooked := &Faulty{Store: s.one, Before: func(op string) error {
		if op == Swap {
			theirs = s.swap(s.two, ref, open.Version, theirs, "theirs")
		}
		return nil
	}}
	mine := open
	mine.State = dedup.Closed
	if _, err := hooked.Swap(s.ctx, ref, open.Version, mine, "mine"); !errors.Is(err, dedup.ErrConflict) {
		s.Fatalf("the swap over a competing write: %v, want a conflict", err)
	}
	s.same("the record", s.get(ref).Record, theirs)
}

func deleted(s *scene) {
	ref := refOf("deleted")
	if err := s.one.Delete(s.ctx, ref); err != nil {
		s.Fatalf("deleting nothing: %v", err)
	}
	s.same("after deleting nothing", s.get(ref).Record, dedup.Record{})

	open := s.opened(ref, time.Hour)
	if err := s.one.Delete(s.ctx, ref); err != nil {
		s.Fatal(err)
	}
	stub := dedup.Record{
		V: dedup.Format, State: dedup.None, Version: open.Version + 1,
		Episode: open.Episode, KeepUntil: open.KeepUntil,
	}
	s.same("the stub", s.get(ref).Record, stub)
	if err := s.two.Delete(s.ctx, ref); err != nil {
		s.Fatal(err)
	}
	s.same("the stub, deleted again", s.get(ref).Record, stub)
	s.conflicts(s.two, ref, open.Version, open, "")
	found := s.won(s.two, ref, offerOf(another, ref))
	if found.Record.Episode != open.Episode+1 || found.Record.Version != stub.Version+1 {
		s.Fatalf("after it: %+v", found.Record)
	}
	s.same("its prior", *found.Record.Prior, stub)
}
