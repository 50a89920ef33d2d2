package storetest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"oneticket/dedup"
)

const (
	racers = 32
	races  = 12
)

func raceForOneKey(s *scene) {
	for i := range races {
		ref := refOf(fmt.Sprintf("race-%d", i))
		winner := s.race(ref)
		s.same("what is there after the race", s.get(ref).Record, winner)
		if winner.Version != 1 || winner.Episode != 1 {
			s.Fatalf("the winner has version %d and episode %d, want 1 and 1", winner.Version, winner.Episode)
		}
	}
}

func raceForAnExpiredRecord(s *scene) {
	for i := range races {
		ref := refOf(fmt.Sprintf("race-%d", i))
		open := s.opened(ref, 10*time.Minute)
		s.data.Forward(11 * time.Minute)
		winner := s.race(ref)
		if winner.Version != open.Version+1 || winner.Episode != open.Episode+1 {
			s.Fatalf("the winner has version %d and episode %d after %d and %d", winner.Version, winner.Episode, open.Version, open.Episode)
		}
	}
}

// race lets all racers claim the ref at once, half of them from each client.
func (s *scene) race(ref dedup.Ref) dedup.Record {
	s.Helper()
	found, errs := atOnce(racers, func(i int) (dedup.Found, error) {
		store := []dedup.Store{s.one, s.two}[i%2]
		return store.Claim(s.ctx, ref, offerOf(fmt.Sprintf("racer-%d", i), ref))
	})
	var winners []dedup.Record
	for i, f := range found {
		if errs[i] != nil {
			s.Fatalf("racer %d: %v", i, errs[i])
		}
		if f.Won {
			winners = append(winners, f.Record)
		}
	}
	if len(winners) != 1 {
		s.Fatalf("%d of %d claims won: %+v", len(winners), racers, winners)
	}
	for _, f := range found {
		if f.Record.Holder != winners[0].Holder {
			s.Fatalf("a claim saw %+v, but the winner is %s", f.Record, winners[0].Holder)
		}
	}
	return winners[0]
}

// atOnce calls f for 0 to n-1, each in a goroutine of its own, and starts
// them together.
func atOnce[T any](n int, f func(int) (T, error)) ([]T, []error) {
	results, errs := make([]T, n), make([]error, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			results[i], errs[i] = f(i)
		})
	}
	close(start)
	all.Wait()
	return results, errs
}

func closeAndTicketAtOnce(s *scene) {
	for i := range races {
		ref, id := refOf(fmt.Sprintf("race-%d", i)), fmt.Sprintf("INC-%d", i)
		learned, errs := atOnce(2, func(side int) (bool, error) { return s.side(s.ctx, side, id, ref) })
		if errs[0] != nil || errs[1] != nil {
			s.Fatalf("errors %v", errs)
		}
		if learned[0] == learned[1] {
			s.Fatalf("the ticket learned of its close: %v; the close learned of its ticket: %v; want one of them", learned[0], learned[1])
		}
	}
}

func (s *scene) side(ctx context.Context, side int, id string, ref dedup.Ref) (learned bool, err error) {
	if side == 0 {
		return s.one.Ticket(ctx, "servicenow", id, ref, time.Hour)
	}
	_, held, err := s.two.KeepClose(ctx, "servicenow", id, time.Hour)
	return held, err
}
