package storetest

import (
	"context"
	"errors"
	"time"

	"oneticket/dedup"
)

// A step is one call that can be repeated.
type step struct {
	op    string
	ready func(*scene, dedup.Ref) dedup.Found // what is there before
	call  func(*scene, dedup.Store, dedup.Ref, dedup.Found) error
}

var steps = []step{
	{Claim, nothing, func(s *scene, store dedup.Store, ref dedup.Ref, _ dedup.Found) error {
		found, err := store.Claim(s.ctx, ref, offerOf(holder, ref))
		if err == nil && !found.Won {
			s.Fatalf("the claim lost to itself: %+v", found.Record)
		}
		return err
	}},
	{Swap, claimed, func(s *scene, store dedup.Store, ref dedup.Ref, was dedup.Found) error {
		_, err := store.Swap(s.ctx, ref, was.Record.Version, openOf(was, time.Hour), "nonce")
		return err
	}},
	{Renew, claimed, func(s *scene, store dedup.Store, ref dedup.Ref, _ dedup.Found) error {
		renewed, err := store.Renew(s.ctx, ref, holder, time.Hour)
		if err == nil && !renewed {
			s.Fatal("the holder was refused")
		}
		return err
	}},
	{MarkSent, claimed, func(s *scene, store dedup.Store, ref dedup.Ref, _ dedup.Found) error {
		return store.MarkSent(s.ctx, ref, holder)
	}},
	{Ticket, claimed, func(s *scene, store dedup.Store, ref dedup.Ref, _ dedup.Found) error {
		_, err := store.Ticket(s.ctx, snow, string(ref.Key), ref, time.Hour)
		return err
	}},
	{KeepClose, nothing, func(s *scene, store dedup.Store, ref dedup.Ref, _ dedup.Found) error {
		_, _, err := store.KeepClose(s.ctx, snow, string(ref.Key), time.Hour)
		return err
	}},
	{Delete, claimed, func(s *scene, store dedup.Store, ref dedup.Ref, _ dedup.Found) error {
		return store.Delete(s.ctx, ref)
	}},
}

func nothing(s *scene, ref dedup.Ref) dedup.Found { return s.get(ref) }

func claimed(s *scene, ref dedup.Ref) dedup.Found { return s.won(s.one, ref, offerOf(holder, ref)) }

func repeatedAfterFailure(s *scene) {
	for _, st := range steps {
		for when, faulty := range map[string]*Faulty{
			"before": {Store: s.one, Before: Once(st.op)},
			"after":  {Store: s.one, After: Once(st.op)},
		} {
			s.converges(st, when, faulty)
		}
	}
}

// converges makes one call that fails and its repetition, and the same call
// once without a failure beside it, and compares what they leave.
func (s *scene) converges(st step, when string, faulty *Faulty) {
	s.Helper()
	ref, beside := refOf(st.op+"-"+when), refOf(st.op+"-"+when+"-beside")
	was, wasBeside := st.ready(s, ref), st.ready(s, beside)
	if err := st.call(s, faulty, ref, was); !errors.Is(err, ErrLost) {
		s.Fatalf("%s failing %s: %v", st.op, when, err)
	}
	if now := s.get(ref).Record; when == "before" {
		s.same(st.op+" that failed before", now, was.Record)
	}
	if err := st.call(s, faulty, ref, was); err != nil {
		s.Fatalf("%s repeated after failing %s: %v", st.op, when, err)
	}
	if err := st.call(s, s.one, beside, wasBeside); err != nil {
		s.Fatal(err)
	}
	s.sameOutcome(st.op+" after failing "+when, ref, beside)
}

// sameOutcome compares what does not depend on the moment or on the key.
func (s *scene) sameOutcome(what string, a, b dedup.Ref) {
	s.Helper()
	outcome := func(ref dedup.Ref) [7]any {
		r := s.get(ref).Record
		closed, err := s.one.Ticket(s.ctx, snow, string(ref.Key), ref, time.Hour)
		if err != nil {
			s.Fatal(err)
		}
		return [7]any{r.State, r.Version, r.Episode, r.Sends, r.Holder, r.Sent, closed}
	}
	if got, want := outcome(a), outcome(b); got != want {
		s.Fatalf("%s: %v, want %v", what, got, want)
	}
}

func contextOver(s *scene) {
	ref := refOf("over")
	found := s.won(s.one, ref, offerOf(holder, ref))
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	for op, call := range everyCall(ctx, s.one, ref, found) {
		if err := call(); err == nil || errors.Is(err, dedup.ErrConflict) {
			s.Errorf("%s with a context that is over: %v", op, err)
		}
	}
	s.same("the record", s.get(ref).Record, found.Record)
}

func everyCall(ctx context.Context, store dedup.Store, ref dedup.Ref, found dedup.Found) map[string]func() error {
	fresh := refOf("everything-else")
	return map[string]func() error{
		Claim:     func() error { _, err := store.Claim(ctx, fresh, offerOf(another, fresh)); return err },
		Swap:      func() error { _, err := store.Swap(ctx, ref, found.Record.Version, found.Record, "n"); return err },
		Renew:     func() error { _, err := store.Renew(ctx, ref, holder, time.Hour); return err },
		MarkSent:  func() error { return store.MarkSent(ctx, ref, holder) },
		Ticket:    func() error { _, err := store.Ticket(ctx, snow, "INC9", ref, time.Hour); return err },
		KeepClose: func() error { _, _, err := store.KeepClose(ctx, snow, "INC8", time.Hour); return err },
		Get:       func() error { _, err := store.Get(ctx, ref); return err },
		List:      func() error { return store.List(ctx, "", func(dedup.Ref, dedup.Record) bool { return true }) },
		Delete:    func() error { return store.Delete(ctx, ref) },
	}
}

// hung is when a call that should have ended counts as never ending.
const hung = 30 * time.Second

func stalled(s *scene) {
	if s.data.Stall == nil {
		s.Log("this store cannot be kept from answering")
		return
	}
	ref := refOf("stalled")
	found := s.won(s.one, ref, offerOf(holder, ref))
	release := s.data.Stall(s.TB)
	defer release()
	// A store may still read while it cannot write.
	for _, op := range []string{Claim, Swap, Renew, MarkSent, Ticket, KeepClose, Delete} {
		s.endsInTime(op, ref, found)
	}
}

// endsInTime makes the call with a short deadline while the store is stalled.
func (s *scene) endsInTime(op string, ref dedup.Ref, found dedup.Found) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, 50*time.Millisecond)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- everyCall(ctx, s.one, ref, found)[op]() }()
	select {
	case err := <-ended:
		if err == nil || errors.Is(err, dedup.ErrConflict) {
			s.Fatalf("%s of a store that does not answer: %v", op, err)
		}
	case <-time.After(hung):
		s.Fatalf("%s hangs", op)
	}
}
