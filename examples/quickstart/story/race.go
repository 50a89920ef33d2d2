package main

import (
	"context"
	"time"
)

// The race: so many clients, and a ticket system that is slow enough for all
// of them to come while the first create is under way.
const (
	racers    = 50
	raceDelay = 500 * time.Millisecond
)

// playRace: whoever comes second gets the first one's ticket.
func playRace(ctx context.Context, s *stage) (row, error) {
	s.out.say("%d clients send the same create at one instant; the ticket system takes %v for it", racers, raceDelay)
	if err := s.tickets.setDelay(ctx, raceDelay); err != nil {
		return row{}, err
	}
	m, err := s.measure(ctx, s.enforced(), func(a automation) ([]answer, error) {
		return a.atOnce(ctx, faults("race", 1)[0], racers)
	})
	if err != nil {
		return row{}, err
	}
	if err := s.tickets.setDelay(ctx, 0); err != nil {
		return row{}, err
	}
	return m.row(), m.oneTicketEach()
}
