package main

import (
	"context"
	"slices"
	"time"
)

// A result is what one contestant did with one load.
type result struct {
	took  samples
	turns time.Duration // how long it was sent, in all
}

// measure gives every contestant its turns, and returns results by contestant
// and load, in their order.
func (s *stage) measure(ctx context.Context, p plan) ([][]result, error) {
	openFaults = int64(p.faults)
	results := make([][]result, len(s.contestants))
	senders := make([]*sender, len(s.contestants))
	for i, c := range s.contestants {
		results[i], senders[i] = make([]result, len(loads)), newSender(p.clients)
		if err := senders[i].warmUp(ctx, c, p); err != nil {
			return nil, err
		}
	}
	for round := range p.rounds {
		s.say("turn %d of %d", round+1, p.rounds)
		for l := range loads {
			for i := range s.contestants {
				turn := (i + round) % len(s.contestants) // who is first changes
				took, err := senders[turn].turn(ctx, s.contestants[turn], loads[l], p.clients, p.turn)
				if err != nil {
					return nil, err
				}
				all := &results[turn][l].took
				*all = append(*all, took...)
				results[turn][l].turns += p.turn
			}
		}
	}
	for i := range results {
		for l := range results[i] {
			slices.Sort(results[i][l].took)
		}
	}
	return results, nil
}

// warmUp opens the faults that re-fire, and every connection.
func (s *sender) warmUp(ctx context.Context, c contestant, p plan) error {
	first := loads[0]
	first.replays = false
	for range p.faults {
		if err := s.send(ctx, c, first); err != nil {
			return err
		}
	}
	for _, l := range loads {
		if _, err := s.turn(ctx, c, l, p.clients, p.turn/4); err != nil {
			return err
		}
	}
	return nil
}

// pace sends re-fires at a rate that leaves the machine time: what a request
// takes then is not what it waits for others.
func (s *sender) pace(ctx context.Context, c contestant, p plan) error {
	tick := time.NewTicker(time.Second / time.Duration(p.rate))
	defer tick.Stop()
	for range int(p.paced.Seconds() * float64(p.rate)) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if err := s.send(ctx, c, loads[0]); err != nil {
			return err
		}
	}
	return nil
}
